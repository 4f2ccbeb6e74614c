import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { createPrng } from '#sardonyx/base/util/index.js';
import { START_FEN } from '#sardonyx/chess/rules/index.js';
import { LeafQueue } from '#sardonyx/networks/leaves/index.js';
import { EvaluatorPool } from '#sardonyx/networks/nn/index.js';
import {
  defaultSearchParams,
  type FromSearch,
  type PositionMessage,
  SearchClient,
  type SearchInfo,
  type SearchLimits,
  type SearchParams,
  TreeSearch,
} from '#sardonyx/search/index.js';
import { PoolGame } from '../../support/pool-game.js';
import { type ReferenceNode, ReferenceSearch } from '../../support/reference-search.js';
import { verifyTree } from '../../support/verify-tree.js';

const POSITION: PositionMessage = {
  rootFen: START_FEN,
  chess960: false,
  moves: [],
  blackToMove: false,
  gamePly: 0,
  pliesSinceRepetition: Number.POSITIVE_INFINITY,
};
/** Mate in 1: a1a8. */
const MATE_FEN = '6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1';
const STALEMATE_FEN = '7k/5Q2/6K1/8/8/8/8/8 b - - 0 1';

type Of<Type> = Extract<FromSearch, { type: Type }>;

class Conversation {
  readonly thread: SearchClient;
  readonly messages: FromSearch[] = [];
  private id = 0;
  private params = defaultSearchParams;
  private waiting: { type: string; resolve: (message: FromSearch) => void }[] = [];

  constructor() {
    this.thread = new SearchClient({
      onMessage: (message) => {
        this.messages.push(message);
        const met = this.waiting.filter(({ type }) => type === message.type);
        this.waiting = this.waiting.filter(({ type }) => type !== message.type);
        for (const { resolve } of met) resolve(message);
      },
      onFailure: (error) => {
        throw error;
      },
    });
  }

  next<Type extends FromSearch['type']>(type: Type): Promise<Of<Type>> {
    return new Promise((resolve) => {
      this.waiting.push({ type, resolve: resolve as (message: FromSearch) => void });
    });
  }

  async attach(pool: EvaluatorPool, params: Partial<SearchParams> = {}): Promise<void> {
    const ready = this.next('ready');
    this.thread.attach(pool.handle);
    await ready;
    this.params = { ...defaultSearchParams, ...params };
  }

  go(limits: Partial<SearchLimits>, position: Partial<PositionMessage> = {}): Promise<Of<'bestMove'>> {
    this.messages.length = 0;
    const answer = this.next('bestMove');
    const startedAtMs = performance.timeOrigin + performance.now();
    this.thread.post({
      type: 'go',
      id: ++this.id,
      params: this.params,
      position: { ...POSITION, ...position },
      limits: { startedAtMs, ...limits },
    });
    return answer;
  }

  get lastInfo(): SearchInfo {
    const infos = this.messages.filter((message) => message.type === 'info');
    const last = infos.at(-1);
    assert.ok(last !== undefined, 'an info message');
    return last.info;
  }
}

let pool: EvaluatorPool;
let talk: Conversation;

before(async () => {
  pool = await EvaluatorPool.create({ backend: 'hash', threads: 2, minibatch: 8 });
  talk = new Conversation();
  await talk.attach(pool, { smartPruningFactor: 0 });
});

after(async () => {
  await talk.thread.dispose();
  await pool.dispose();
});

test('go nodes 1 answers with an info line and a move', async () => {
  const { move, ponder } = await talk.go({ nodes: 1 });
  assert.notEqual(move, 0);
  assert.equal(ponder, 0);
  assert.equal(talk.lastInfo.nodes, 1);
  assert.deepEqual(talk.lastInfo.lines[0].pv, [move]);
});

test('a search reuses its tree on the next move, and a new game does not', async () => {
  const { move, ponder } = await talk.go({ nodes: 3000 });
  await talk.go({ playouts: 1 }, { moves: [move, ponder], gamePly: 2 });
  assert.ok(talk.lastInfo.nodes > 5, `${talk.lastInfo.nodes} nodes`);
  talk.thread.post({ type: 'newGame' });
  await talk.go({ playouts: 1 });
  assert.equal(talk.lastInfo.nodes, 1);
});

test('the same search twice gives the same info, whatever the two evaluators do', async () => {
  const results: string[] = [];
  for (let round = 0; round < 3; round++) {
    talk.thread.post({ type: 'newGame' });
    const answer = await talk.go({ nodes: 5000 });
    const { lines, nodes, depth, seldepth } = talk.lastInfo;
    results.push(JSON.stringify({ move: answer.move, lines, nodes, depth, seldepth }));
  }
  assert.equal(results[1], results[0]);
  assert.equal(results[2], results[0]);
});

test('go infinite answers only after stop', async () => {
  for (let i = 0; i < 3; i++) {
    const report = talk.next('info');
    const answer = talk.go({ infinite: true });
    await report;
    assert.ok(!talk.messages.some(({ type }) => type === 'bestMove'));
    talk.thread.stop();
    assert.notEqual((await answer).move, 0);
  }
});

test('a stop that comes before the search has begun still gives a move', async () => {
  const answer = talk.go({ infinite: true });
  talk.thread.stop();
  assert.notEqual((await answer).move, 0);
});

test('a late stop does not hit the next search', async () => {
  await talk.go({ nodes: 10 });
  talk.thread.stop();
  const { id } = await talk.go({ nodes: 500 });
  assert.equal(talk.lastInfo.nodes >= 500, true);
  assert.ok(id > 0);
});

test('a mate is found and shown; a finished game has no move', async () => {
  await talk.go({ nodes: 3000 }, { rootFen: MATE_FEN });
  assert.equal(talk.lastInfo.lines[0].mate, 1);
  assert.equal((await talk.go({ nodes: 200 }, { rootFen: STALEMATE_FEN, blackToMove: true })).move, 0);
});

test('a broken position gives an error and an answer, and the thread lives on', async () => {
  await talk.go({ nodes: 10 }, { rootFen: 'x'.repeat(1000) });
  assert.ok(talk.messages.some(({ type }) => type === 'error'));
  assert.notEqual((await talk.go({ nodes: 50 })).move, 0);
});

test('one leaf at a time, real positions are visited as in the reference search', async () => {
  const single = await EvaluatorPool.create({ backend: 'hash', threads: 1, minibatch: 1 });
  try {
    const fens = [START_FEN, MATE_FEN, '8/8/8/8/8/2k5/2p5/2K5 w - - 60 80', 'k7/8/1K6/8/8/8/8/7R w - - 0 1'];
    const params = { ...defaultSearchParams, smartPruningFactor: 0 };
    const queue = new LeafQueue(single.handle);
    for (const [index, fen] of fens.entries()) {
      const search = createSearch(queue, 2 * index + 1, params, 1, 1);
      const reference = new ReferenceSearch(new PoolGame(queue, fen, 2 * index), params, single.handle.hasMovesLeft);
      let { blackToMove } = { blackToMove: fen.includes(' b ') };
      const moves: number[] = [];
      for (let ply = 0; ply < 4; ply++) {
        search.search.setPosition({ ...POSITION, rootFen: fen, moves: [...moves], blackToMove, gamePly: ply });
        const nodes = search.search.tree.rootVisits + 150;
        const move = run(search.search, queue, { nodes });
        reference.run(nodes, blackToMove);
        const visits = new Map(search.rows().map((row) => [row.move, row.visits]));
        for (const child of reference.root.children as ReferenceNode[]) {
          assert.equal(visits.get(child.move) ?? 0, child.visits, `move ${child.move} of ${fen} at ply ${ply}`);
        }
        if (move === 0) break;
        reference.play(move);
        moves.push(move);
        blackToMove = !blackToMove;
      }
    }
  } finally {
    await single.dispose();
  }
});

test('many searches share one queue, each as if it were alone', async () => {
  const shared = await EvaluatorPool.create({ backend: 'hash', threads: 2, minibatch: 8 });
  const queue = new LeafQueue(shared.handle);
  const params = { ...defaultSearchParams, smartPruningFactor: 0 };
  const alone = createSearch(queue, 500, params, 4, 2);
  alone.search.setPosition(POSITION);
  const expected = run(alone.search, queue, { nodes: 400 });
  const searches = Array.from({ length: 60 }, (_, i) => createSearch(queue, 501 + i, params, 4, 2));
  const answers = new Map<number, number>();
  for (const [index, { search }] of searches.entries()) {
    search.setPosition(POSITION);
    search.start({ nodes: 400, startedAtMs: 0 }, { ...silent, onBestMove: (move) => answers.set(index, move) });
  }
  while (answers.size < searches.length) {
    const seen = Atomics.load(queue.event, 0);
    let isIdle = true;
    for (const { search } of searches) if (search.step() === 'worked') isIdle = false;
    if (isIdle) queue.waitForEvent(seen, 10);
  }
  for (const [index, { search }] of searches.entries()) {
    assert.equal(answers.get(index), expected);
    assert.equal(search.tree.rootVisits, 400);
    assert.deepEqual(verifyTree(search.tree).faults, []);
  }
  await shared.dispose();
});

const silent = { onInfo: () => undefined, onStats: () => undefined, onWarning: () => undefined };

function createSearch(
  queue: LeafQueue,
  rootRow: number,
  params: SearchParams,
  minibatch: number,
  batchesInFlight: number,
) {
  const search = new TreeSearch(
    {
      channel: queue,
      rootRow,
      store: { maxBytes: 32 << 20, initialNodes: 500 },
      random: createPrng(rootRow),
      clock: () => performance.timeOrigin + performance.now(),
    },
    params,
    { minibatch, batchesInFlight },
  );
  return { search, queue, rows: () => readRows(search, queue) };
}

function run(search: TreeSearch, queue: LeafQueue, limits: Partial<SearchLimits>): number {
  let answer = -1;
  const onBestMove = (move: number): void => {
    answer = move;
  };
  search.start({ startedAtMs: 0, ...limits }, { ...silent, onBestMove });
  for (;;) {
    const seen = Atomics.load(queue.event, 0);
    const result = search.step();
    if (result === 'done') return answer;
    if (result !== 'worked') queue.waitForEvent(seen, 10);
  }
}

/** Root visits, by asking for the statistics of a search that does nothing. */
function readRows(search: TreeSearch, queue: LeafQueue): { move: number; visits: number }[] {
  const rows: { move: number; visits: number }[] = [];
  search.configure({ ...defaultSearchParams, smartPruningFactor: 0 }, { minibatch: 1, batchesInFlight: 1 });
  const listener = {
    ...silent,
    onStats: (all: readonly { move: number; visits: number }[]) => void rows.push(...all),
    onBestMove: () => undefined,
  };
  search.start({ nodes: 1, startedAtMs: 0, reportedStats: 'atEnd' }, listener);
  while (search.step() !== 'done') queue.waitForEvent(Atomics.load(queue.event, 0), 10);
  return rows;
}
