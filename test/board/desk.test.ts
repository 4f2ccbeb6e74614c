/** One engine, several pages: who is served when. On the hash evaluator, through the real server. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { ExplanationText, SearchState, ThoughtReply, TreeNode } from '#sardonyx/board/protocol/replies.js';
import { BoardProcess, type BoardSocket } from '../support/board-process.js';
import { repositoryRoot } from '../support/shared-folder.js';

let board: BoardProcess;
const sockets: BoardSocket[] = [];

before(async () => {
  board = await BoardProcess.start(['--backend=hash', '--threads=1', '--nps-limit=20000']);
});

after(async () => {
  for (const socket of sockets) socket.close();
  await board.stop();
});

async function connect(): Promise<BoardSocket> {
  const socket = await board.connect();
  sockets.push(socket);
  return socket;
}

const START = { fen: null, moves: [] };

function nextState(page: BoardSocket): Promise<SearchState> {
  return page.waitFor(({ type }) => type === 'search').then(({ state }) => state as SearchState);
}

test('an analysis reports lines and statistics of every move until it is stopped', async () => {
  const page = await connect();
  const first = nextState(page);
  assert.equal((await page.ask('analyse', { position: START, multiPv: 3 })).type, 'answer');
  await first;
  const state = (
    await page.waitFor((message) => {
      const { moves = [], nodes = 0 } = (message.state ?? {}) as Partial<SearchState>;
      return moves.length > 0 && nodes > 500;
    })
  ).state as SearchState;
  assert.equal(state.lines.length, 3);
  assert.equal(state.moves.length, 20);
  assert.ok(state.moves[0].visits >= state.moves[19].visits);
  const { win, draw, loss } = state.lines[0].wdl;
  assert.equal(win + draw + loss, 1000);
  assert.ok(Math.abs(state.moves.reduce((sum, { prior }) => sum + prior, 0) - 1) < 0.01);
  assert.equal((await page.ask('stop')).type, 'answer');
  const described = await page.ask('describe');
  const seen = page.received.filter(({ type }) => type === 'search').length;
  await page.ask('describe');
  assert.equal(page.received.filter(({ type }) => type === 'search').length, seen);
  assert.match(JSON.stringify(described.answer), /hash/);
});

test('a page takes the analysis of another only when its user wants it, and each is told who has the engine', async () => {
  const [one, two] = [await connect(), await connect()];
  const isHeld = ({ type }: { readonly type?: unknown }): boolean => type === 'holder';
  await one.ask('analyse', { position: START, multiPv: 1, about: 'Anna – Ben' });
  await nextState(one);
  const question = { position: { fen: null, moves: ['e2e4'] }, multiPv: 1, about: 'Carl – Dora' };
  const refused = two.waitFor(isHeld);
  await two.ask('analyse', { ...question, takes: false });
  assert.equal((await refused).about, 'Anna – Ben');
  await nextState(one);
  const taken = one.waitFor(isHeld);
  await two.ask('analyse', question);
  assert.equal((await taken).about, 'Carl – Dora');
  await nextState(two);
  const freed = one.waitFor(isHeld);
  await two.ask('stop');
  assert.equal((await freed).about, null);
  // Nobody has it: who asks gets it, whoever wants it too.
  const free = nextState(two);
  await two.ask('analyse', { ...question, takes: false });
  await free;
  const left = one.waitFor((message) => isHeld(message) && message.about === null);
  two.close();
  await left;
});

test('a search with an end interrupts an analysis, which then goes on in its tree', async () => {
  const page = await connect();
  await page.ask('analyse', { position: START, multiPv: 1 });
  await nextState(page);
  const limits = { nodes: 200 };
  const question = { position: { fen: null, moves: ['d2d4', 'd7d5'] }, limits, multiPv: 2, elo: null };
  const { answer } = await page.ask('think', question);
  const { best, state } = answer as ThoughtReply;
  assert.match(best ?? '', /^[a-h][1-8][a-h][1-8]$/);
  assert.equal(state.lines.length, 2);
  const after = await nextState(page);
  assert.ok(after.nodes > 0);
  await page.ask('stop');
});

test('a level below full strength answers with a legal move', async () => {
  const page = await connect();
  const { answer } = await page.ask('think', { position: START, limits: { moveTimeMs: 500 }, multiPv: 1, elo: 1200 });
  assert.match((answer as ThoughtReply).best ?? '', /^[a-h][1-8][a-h][1-8]$/);
});

test('hurry ends the search that it names at once, or refuses it while it waits, and no other', async () => {
  const page = await connect();
  const question = { position: START, limits: { moveTimeMs: 60_000 }, multiPv: 1, elo: null };
  const running = page.ask('think', question);
  const waiting = page.ask('think', question);
  await nextState(page);
  await page.ask('hurry', { think: 2 });
  assert.match(String((await waiting).error), /cancelled/);
  await nextState(page);
  await page.ask('hurry', { think: 1 });
  assert.equal((await running).type, 'answer');
});

test('a page may have only so many searches waiting', async () => {
  const page = await connect();
  const question = { position: START, limits: { moveTimeMs: 60_000 }, multiPv: 1, elo: null };
  const replies = Array.from({ length: 12 }, () => page.ask('think', question));
  assert.match(String((await replies[11]).error), /Too many searches/);
  // The page goes away, and with it all that it asked for.
  page.close();
  const other = await connect();
  const { type } = await other.ask('think', { ...question, limits: { nodes: 50 } });
  assert.equal(type, 'answer');
});

test('the tree of a running analysis can be looked at, and the analysis goes on', async () => {
  const page = await connect();
  await page.ask('analyse', { position: START, multiPv: 1 });
  await page.waitFor(({ type, state }) => type === 'search' && (state as SearchState).nodes > 300);
  const tree = (await page.ask('tree', { depth: 3, minVisits: 2 })).answer as TreeNode;
  assert.ok(tree.visits > 300);
  assert.ok(tree.children.length > 1 && tree.children[0].visits >= tree.children[1].visits);
  assert.ok(tree.children.reduce((sum, { visits }) => sum + visits, 0) <= tree.visits);
  assert.ok((await nextState(page)).nodes >= tree.visits);
  const refused = await page.ask('tree', { depth: 40, minVisits: 0 });
  assert.match(String(refused.error), /minVisits/);
  // Another page sees no tree of a position that is not its own.
  const other = await connect();
  assert.equal((await other.ask('tree', { depth: 3, minVisits: 2 })).answer, null);
  await page.ask('stop');
});

test('an option is changed for every page, with its range checked', async () => {
  const [one, two] = [await connect(), await connect()];
  const news = two.waitFor(({ type }) => type === 'description');
  assert.equal((await one.ask('setOption', { name: 'CPuct', value: '2.5' })).type, 'answer');
  assert.match(JSON.stringify(await news), /2\.5/);
  assert.match(String((await one.ask('setOption', { name: 'CPuct', value: '-1' })).error), /must lie between/);
  assert.match(String((await one.ask('setOption', { name: 'MultiPV', value: '2' })).error), /by itself/);
});

test('a finished game is nothing to analyse', async () => {
  const page = await connect();
  const moves = ['f2f3', 'e7e5', 'g2g4', 'd8h4'];
  const { error } = await page.ask('analyse', { position: { fen: null, moves }, multiPv: 1 });
  assert.match(String(error), /game is over/);
});

test('explanations come one after the other, and the engine answers meanwhile', async () => {
  const tiny = await BoardProcess.start([
    `--weights=${join(repositoryRoot, 'models', 'tiny-test.onnx')}`,
    '--threads=1',
  ]);
  try {
    const page = await tiny.connect();
    await page.ask('analyse', { position: START, multiPv: 1 });
    await nextState(page);
    const asked = ['e2e4', null, null, null, null].map((move) => page.ask('explain', { position: START, move }));
    assert.equal((await page.ask('describe')).type, 'answer');
    const answers = await Promise.all(asked);
    assert.match(String(answers[4].error), /Too many explanations/);
    const [first, ...others] = answers.slice(0, 4).map(({ answer }) => answer as ExplanationText);
    assert.equal(first.move, 'e2e4');
    assert.equal(first.squares.length, 64);
    assert.deepEqual(new Set(others.map(({ move }) => move)).size, 1);
    page.close();
  } finally {
    await tiny.stop();
  }
});
