/**
 * `new Worker('sardonyx.js', { type: 'module' })`: the engine as a Worker that speaks UCI. `postMessage` takes a line, each
 * message back is a line. If the engine cannot run in this page, one line says why, and every `go` is answered with an error.
 */
import { UciSession } from '../engine/uci/index.js';
import { createPageOptions, createPagePorts, findObstacle } from './page-network.js';

declare const SARDONYX_VERSION: string;

/**
 * Chromium may never end a Worker, nor free its memory, if it closes itself while threads that it has ended are still going away.
 * Without a delay two of ten Workers stayed; with 50 ms none did (Chromium 156 on a busy machine).
 */
const CLOSE_DELAY_MS = 250;

const writeLine = (line: string): void => postMessage(line);
const obstacle = findObstacle();
if (obstacle === null) converse();
else refuse(obstacle);

function converse(): void {
  const session = new UciSession({
    version: SARDONYX_VERSION,
    showHidden: false,
    options: createPageOptions(),
    ports: createPagePorts(),
    writeLine,
    bench: null,
    onFault: reportError,
    onEnd: () => setTimeout(() => close(), CLOSE_DELAY_MS),
  });
  addEventListener('message', ({ data }) => {
    if (typeof data === 'string') for (const line of data.split('\n')) session.receive(line);
    else writeLine('error a message must be a line of text');
  });
}

/** Answers so that a page that waits for `uciok` or a move does not wait for ever. */
function refuse(reason: string): void {
  writeLine(`info string ${reason}`);
  addEventListener('message', ({ data }) => {
    const [word] = String(data).trim().split(/\s+/);
    if (word === 'uci' || word === 'go') writeLine(`error ${reason}`);
    else if (word === 'quit') close();
  });
}
