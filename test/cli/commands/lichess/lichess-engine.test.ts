/** The provider against a stub of lichess's registry and broker, as the documents of its API describe them. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { after, afterEach, before, beforeEach, test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { parseLichessWork } from '#sardonyx/cli/commands/lichess/lichess-work.js';
import { repositoryRoot } from '../../../support/shared-folder.js';

const START = 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1';
const WORK = { sessionId: 'a', threads: 1, hash: 16, multiPv: 1, variant: 'chess', initialFen: START, moves: [] };

interface Answer {
  readonly lines: string[];
  /** The provider has ended its request. */
  isComplete: boolean;
}

let server: Server;
let address = '';
let engines: { id: string; name: string }[] = [];
let queue: object[] = [];
/** Closes the connection of a request after so many lines. */
let mostLines = Number.POSITIVE_INFINITY;
let registrations: { readonly path: string; readonly body: Record<string, unknown>; readonly token: string }[] = [];
let answers = new Map<string, Answer>();
let pendingPolls: (() => void)[] = [];
let child: ChildProcess | null = null;
let printed = '';

function readBody(request: IncomingMessage): Promise<string> {
  return new Promise((resolve) => {
    let text = '';
    request.on('data', (chunk: Buffer) => {
      text += chunk.toString();
    });
    request.on('end', () => resolve(text));
  });
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const path = request.url ?? '';
  const id = /^\/api\/external-engine\/work\/(.+)$/.exec(path)?.[1];
  if (id !== undefined) {
    collect(id, request, response);
  } else if (path === '/api/external-engine/work') {
    const { providerSecret } = JSON.parse(await readBody(request)) as { providerSecret: string };
    assert.equal(providerSecret, registrations.at(-1)?.body.providerSecret);
    hold(response);
  } else {
    const token = request.headers.authorization ?? '';
    if (token !== 'Bearer good') return void response.writeHead(401).end('{"error":"No such token"}');
    if (request.method === 'GET') return void response.end(JSON.stringify(engines));
    registrations.push({ path: `${request.method} ${path}`, body: JSON.parse(await readBody(request)), token });
    response.end('{}');
  }
}

/** A poll: answered at once when there is work, else when some comes, or with 204. */
function hold(response: ServerResponse): void {
  const leave = (): void => {
    clearTimeout(timeout);
    pendingPolls = pendingPolls.filter((pending) => pending !== reply);
  };
  const reply = (): void => {
    leave();
    const work = queue.shift();
    if (work === undefined) response.writeHead(204).end();
    else response.end(JSON.stringify(work));
  };
  const timeout = setTimeout(reply, queue.length > 0 ? 0 : 1000);
  if (queue.length === 0) pendingPolls.push(reply);
  // Who has gone takes no work: the provider of the test before would take that of the next one.
  response.once('close', leave);
}

function give(id: string, work: object): void {
  queue.push({ id, work: { ...WORK, ...work }, engine: {} });
  for (const reply of pendingPolls.splice(0)) reply();
}

function collect(id: string, request: IncomingMessage, response: ServerResponse): void {
  const entry: Answer = { lines: [], isComplete: false };
  answers.set(id, entry);
  let rest = '';
  request.on('data', (chunk: Buffer) => {
    const lines = (rest + chunk.toString()).split('\n');
    rest = lines.pop() ?? '';
    entry.lines.push(...lines);
    if (entry.lines.length >= mostLines) request.socket.destroy();
  });
  request.on('end', () => {
    entry.isComplete = true;
    response.end();
  });
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 25));
}

function start(token = 'good', ...flags: string[]): ChildProcess {
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  const args = ['lichess-engine', '--backend=hash', `--lichess=${address}`, `--broker=${address}`, ...flags];
  const env = { ...process.env, LICHESS_API_TOKEN: token };
  const started = spawn(process.execPath, [program, ...args], { env });
  started.stdout?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  started.stderr?.on('data', (chunk: Buffer) => {
    printed += chunk.toString();
  });
  child = started;
  return started;
}

function finish(started: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => started.once('exit', (status) => resolve(status)));
}

before(async () => {
  server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  engines = [];
  queue = [];
  registrations = [];
  pendingPolls = [];
  answers = new Map();
  mostLines = Number.POSITIVE_INFINITY;
  printed = '';
});
afterEach(() => child?.kill('SIGKILL'));

test('it registers, analyses what it is given in UCI lines, and goes on after an interrupted analysis', async () => {
  const provider = start('good', '--max-threads=2', '--max-hash=64', '--name=Sardonyx at home');
  await until(() => registrations.length > 0);
  const [{ path, body }] = registrations;
  assert.equal(path, 'POST /api/external-engine');
  assert.deepEqual([body.name, body.maxThreads, body.maxHash, body.variants], ['Sardonyx at home', 2, 64, ['chess']]);
  assert.match(String(body.providerSecret), /^[\w-]{16,1024}$/);

  give('first', { multiPv: 2, moves: ['e2e4', 'e7e5'], nodes: 500 });
  await until(() => answers.get('first')?.isComplete === true);
  const lines = answers.get('first')?.lines ?? [];
  assert.match(lines.at(-1) ?? '', /^bestmove [a-h][1-8][a-h][1-8]/);
  for (const line of lines.slice(0, -1)) {
    assert.match(line, /^info depth \d+ .*nodes \d+ .*score (cp|mate) -?\d+ .*multipv [12] .*pv /);
    assert.doesNotMatch(line, / wdl | movesleft | string /);
  }

  // The broker hangs up: nobody looks at the board any more.
  mostLines = 2;
  give('endless', { sessionId: 'b', movetime: 86_400_000 });
  await until(() => (answers.get('endless')?.lines.length ?? 0) >= 2);
  mostLines = Number.POSITIVE_INFINITY;
  give('after', { sessionId: 'b', nodes: 100 });
  await until(() => answers.get('after')?.isComplete === true);
  assert.match(answers.get('after')?.lines.at(-1) ?? '', /^bestmove /);

  // New work ends what is under way.
  give('long', { movetime: 86_400_000 });
  await until(() => (answers.get('long')?.lines.length ?? 0) > 0);
  give('castling', { initialFen: 'r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1', moves: ['e1h1'], depth: 2 });
  await until(() => answers.get('castling')?.isComplete === true);
  assert.match(answers.get('long')?.lines.at(-1) ?? '', /^bestmove /);
  assert.match(answers.get('castling')?.lines.at(-1) ?? '', /^bestmove /);
  const ended = finish(provider);
  provider.kill('SIGINT');
  // Windows ends a process without a signal.
  assert.equal(await ended, process.platform === 'win32' ? null : 130);
  assert.match(printed, /Sardonyx at home is registered/);
});

test('an engine of the same name is brought up to date, and a position that cannot be is one sentence', async () => {
  engines = [{ id: 'eng-1', name: 'Sardonyx' }];
  start();
  await until(() => registrations.length > 0);
  assert.equal(registrations[0].path, 'PUT /api/external-engine/eng-1');
  give('wrong', { moves: ['e2e5'], nodes: 10 });
  await until(() => /e2e5/.test(printed));
  give('right', { nodes: 10 });
  await until(() => answers.get('right')?.isComplete === true);
});

test('a token that lichess refuses, or none, is one sentence', async () => {
  assert.equal(await finish(start('bad')), 1);
  assert.match(printed, /^http:\S+ refuses the token \(401\); it needs the scopes engine:read and engine:write\n$/);
  printed = '';
  assert.equal(await finish(start('')), 1);
  assert.match(printed, /^Set LICHESS_API_TOKEN to a token of lichess[^\n]*\n$/);
});

test('ids that lead elsewhere, and answers without end, are one sentence', async () => {
  for (const id of ['../../account/close', '..', 'a/b', 'a?b', '']) {
    assert.equal(parseLichessWork({ id, work: WORK }).ok, false, id);
  }
  for (const value of [null, 5, 'x', { id: 'x', work: null }]) assert.equal(parseLichessWork(value).ok, false);
  engines = [{ id: '../../account/close', name: 'Sardonyx' }];
  const started = start();
  assert.equal(await finish(started), 1);
  engines = [{ id: 'x'.repeat(3 << 20), name: 'Other' }];
  assert.equal(await finish(start()), 1);
  engines = [];
});

test('work is read with care: its words become lines for the engine', () => {
  const { limit, multiPv } = unwrap(parseLichessWork({ id: 'x', work: { ...WORK, multiPv: 9, depth: 12 } }));
  assert.deepEqual([limit, multiPv], ['depth 12', 5]);
  assert.equal(unwrap(parseLichessWork({ id: 'x', work: WORK })).limit, 'infinite');
  for (const work of [
    { ...WORK, initialFen: `${START}\nquit` },
    { ...WORK, moves: ['e2e4\nquit'] },
    { ...WORK, moves: 'e2e4' },
    { ...WORK, sessionId: 3 },
    null,
  ]) {
    assert.equal(parseLichessWork({ id: 'x', work }).ok, false);
  }
});
