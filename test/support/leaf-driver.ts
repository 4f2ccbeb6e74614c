/** Evaluates single positions through a pool, as a search would: for tests. */
import assert from 'node:assert/strict';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, type Move, Position, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/rules/index.js';
import { decodePrior, type LeafQueue } from '#sardonyx/networks/leaves/index.js';

export interface TestLeaf {
  /** The start position when left out. */
  readonly fen?: string;
  /** Moves from `fen` to the root of the search. */
  readonly gameMoves?: string;
  /** Moves from the root to the leaf. */
  readonly path?: string;
  readonly twoFoldDraws?: boolean;
  readonly skipsTablebases?: boolean;
  readonly keyHistory?: number;
}

export interface LeafAnswer {
  readonly kind: number;
  readonly flags: number;
  readonly valueWl: number;
  readonly valueD: number;
  readonly movesLeft: number;
  readonly moves: readonly number[];
  readonly codes: readonly number[];
  readonly priors: readonly number[];
}

/** All leaves are in flight at once, each from its own row of the root table. */
export async function evaluateLeaves(queue: LeafQueue, leaves: readonly TestLeaf[]): Promise<LeafAnswer[]> {
  const slots = leaves.map((leaf, row) => submitLeaf(queue, leaf, row));
  queue.flush();
  await waitUntilDone(queue, slots);
  return slots.map((slot) => takeAnswer(queue, slot));
}

export function submitLeaf(queue: LeafQueue, leaf: TestLeaf, row: number): number {
  const {
    fen = START_FEN,
    gameMoves = '',
    path = '',
    twoFoldDraws = true,
    skipsTablebases = false,
    keyHistory = 0,
  } = leaf;
  const position = unwrap(parseFen(fen));
  const play = (text: string): number[] =>
    text
      .split(' ')
      .filter((word) => word !== '')
      .map((word) => {
        const move = unwrap(parseUciMove(position, word));
        position.makeMove(move);
        return move;
      });
  queue.roots.write(row, { fen, moves: play(gameMoves), twoFoldDraws, skipsTablebases, keyHistory });
  const moves = play(path);
  assert.ok(queue.findRoom() > 0, 'a free slot');
  return queue.send(row, moves, moves.length);
}

/** Lets the event loop run, because a pool reports failures by messages. */
export async function waitUntilDone(queue: LeafQueue, slots: readonly number[]): Promise<void> {
  for (const slot of slots) {
    while (!queue.isDone(slot)) {
      queue.waitForEvent(Atomics.load(queue.event, 0), 5);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }
}

export function takeAnswer(queue: LeafQueue, slot: number): LeafAnswer {
  const first = slot * 256;
  const count = queue.columns.edgeCount[slot];
  const codes = [...queue.columns.edgePriors.subarray(first, first + count)];
  const answer = {
    kind: queue.columns.kind[slot],
    flags: queue.columns.flags[slot],
    valueWl: queue.columns.valueWl[slot],
    valueD: queue.columns.valueD[slot],
    movesLeft: queue.columns.movesLeft[slot],
    moves: [...queue.columns.edgeMoves.subarray(first, first + count)],
    codes,
    priors: codes.map(decodePrior),
  };
  queue.release(slot);
  return answer;
}

/** Paths from the start position that are not over, 1 to 80 plies long. */
export function createRandomLeaves(seed: number, count: number): TestLeaf[] {
  const prng = createPrng(seed);
  const moves = new Uint16Array(256);
  const leaves: TestLeaf[] = [];
  while (leaves.length < count) {
    const position = new Position();
    const path: string[] = [];
    for (let plies = 1 + prng.nextBelow(80); plies > 0; plies--) {
      const moveCount = position.generateLegalMoves(moves);
      if (moveCount === 0) break;
      const move = moves[prng.nextBelow(moveCount)] as Move;
      path.push(formatUciMove(move, false));
      position.makeMove(move);
    }
    leaves.push({ path: path.join(' ') });
  }
  return leaves;
}
