#!/usr/bin/env node
/**
 * A stock Firefox for Playwright, which drives it by WebDriver BiDi: starts the program that SARDONYX_FIREFOX names, and stands
 * between the two, because releases of Firefox refuse one command that Playwright sends for every page (media features).
 */
import { spawn } from 'node:child_process';
import type { AddressInfo } from 'node:net';
import { createInterface } from 'node:readline';
import { WebSocket, WebSocketServer } from 'ws';

const REFUSED = 'emulation.setMediaFeaturesOverride';
const ADDRESS = /ws:\/\/127\.0\.0\.1:\d+/;

const stdio = ['inherit', 'inherit', 'pipe'] as const;
const firefox = spawn(process.env.SARDONYX_FIREFOX ?? 'firefox', process.argv.slice(2), { stdio: [...stdio] });
const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
let address = '';

server.on('connection', (client, { url = '' }) => {
  const browser = new WebSocket(address + url, { perMessageDeflate: false });
  const unsent: string[] = [];
  browser.on('open', () => {
    for (const text of unsent.splice(0)) browser.send(text);
  });
  client.on('message', (data) => {
    const text = String(data);
    const { id, method } = JSON.parse(text) as { id: number; method: string };
    if (method === REFUSED) client.send(JSON.stringify({ type: 'success', id, result: {} }));
    else if (browser.readyState === WebSocket.OPEN) browser.send(text);
    else unsent.push(text);
  });
  browser.on('message', (data) => client.send(String(data)));
  browser.on('close', () => client.close());
  client.on('close', () => browser.close());
});

createInterface({ input: firefox.stderr as NodeJS.ReadableStream }).on('line', (line) => {
  address ||= ADDRESS.exec(line)?.[0] ?? '';
  const own = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  process.stderr.write(`${line.replace(ADDRESS, own)}\n`);
});
firefox.on('exit', (status) => process.exit(status ?? 1));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => firefox.kill(signal));
