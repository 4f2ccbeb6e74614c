/** A game whose positions are evaluated by a real pool of evaluators, one at a time: slow, for the reference search. */
import {
  CHECKMATE,
  EVALUATED,
  type LeafQueue,
  MAX_EDGES,
  TABLEBASE,
  TWO_FOLD,
} from '#sardonyx/networks/leaves/index.js';
import type { LeafAnswer, LeafKind } from './hash-game.js';

export class PoolGame {
  private readonly queue: LeafQueue;
  private readonly fen: string;
  private readonly row: number;
  private root: string | null = null;

  constructor(queue: LeafQueue, fen: string, row: number) {
    this.queue = queue;
    this.fen = fen;
    this.row = row;
  }

  evaluate(moves: ArrayLike<number>, depth: number): LeafAnswer {
    const { queue } = this;
    const all = Array.from(moves);
    const played = all.slice(0, all.length - depth);
    if (this.root !== played.join(' ')) {
      this.root = played.join(' ');
      queue.roots.write(this.row, { fen: this.fen, moves: played, twoFoldDraws: true });
    }
    const slot = queue.send(this.row, all.slice(played.length), depth);
    queue.flush();
    while (!queue.isDone(slot)) queue.waitForEvent(Atomics.load(queue.event, 0), 1);
    const from = slot * MAX_EDGES;
    const to = from + queue.columns.edgeCount[slot];
    const answer: LeafAnswer = {
      kind: nameKind(queue.columns.kind[slot]),
      wl: queue.columns.valueWl[slot],
      d: queue.columns.valueD[slot],
      m: queue.columns.movesLeft[slot],
      moves: Array.from(queue.columns.edgeMoves.subarray(from, to)),
      priorCodes: Array.from(queue.columns.edgePriors.subarray(from, to)),
    };
    queue.release(slot);
    return answer;
  }
}

function nameKind(kind: number): LeafKind {
  if (kind === EVALUATED) return 'evaluated';
  if (kind === CHECKMATE) return 'checkmate';
  if (kind === TWO_FOLD) return 'twoFold';
  return kind === TABLEBASE ? 'tablebase' : 'draw';
}
