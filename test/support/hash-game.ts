/**
 * A made-up game for tests of the search: a position is the list of moves that leads to it, and everything about it
 * (moves, priors, value, whether the game is over) is drawn from a hash of that list. It has mates, draws, tablebase
 * hits and repetitions at rates that a test can choose, and no board.
 */
import { encodePrior } from '#sardonyx/networks/leaves/index.js';

export type LeafKind = 'evaluated' | 'checkmate' | 'draw' | 'twoFold' | 'tablebase';

export interface HashGameOptions {
  readonly seed: number;
  readonly minMoves: number;
  readonly maxMoves: number;
  /** Probabilities of each kind of position; the rest has moves. */
  readonly mates: number;
  readonly draws: number;
  readonly tablebase: number;
  /** Positions that repeat one some plies earlier: a draw while that one lies in the search tree. */
  readonly repetitions: number;
  /** Plies after which every game is over; Infinity = never. */
  readonly longestGame: number;
  /** The order of each side's moves does not matter: A B C leads to the position of C B A. */
  readonly transposes: boolean;
  /** Pulls values towards ±1. */
  readonly decisive: boolean;
}

export const defaultHashGame: HashGameOptions = {
  seed: 1,
  minMoves: 1,
  maxMoves: 40,
  mates: 0,
  draws: 0,
  tablebase: 0,
  repetitions: 0,
  longestGame: Number.POSITIVE_INFINITY,
  transposes: false,
  decisive: false,
};

/** What an evaluator would write into a slot; values in the view of the player to move. */
export interface LeafAnswer {
  readonly kind: LeafKind;
  readonly wl: number;
  readonly d: number;
  readonly m: number;
  /** Sorted by prior code, descending. */
  readonly moves: readonly number[];
  readonly priorCodes: readonly number[];
  /** Which position it is. */
  readonly key?: number;
}

export class HashGame {
  private readonly options: HashGameOptions;

  constructor(options: Partial<HashGameOptions> = {}) {
    this.options = { ...defaultHashGame, ...options };
  }

  /**
   * @param moves from the start of the game
   * @param depth how many of them lie below the root of the search
   */
  evaluate(moves: ArrayLike<number>, depth: number): LeafAnswer {
    const { options } = this;
    let hash = Math.imul(options.seed, 0x9e3779b1) ^ 0x5bd1e995;
    for (let i = 0; i < moves.length; i++) {
      hash = options.transposes ? (hash + mix(2 * moves[i] + (i & 1))) | 0 : mix(hash ^ (moves[i] + 1));
    }
    if (options.transposes) hash = mix(hash);
    const draw = (index: number): number => (mix(hash + Math.imul(index + 1, 0x85ebca6b)) >>> 0) / 4294967296;

    const fate = draw(0);
    const { mates, draws, tablebase, repetitions } = options;
    const isOver = moves.length >= options.longestGame;
    if (depth > 0 || isOver) {
      const none = { moves: [], priorCodes: [], m: 0, key: hash };
      if (fate < mates) return { kind: 'checkmate', wl: -1, d: 0, ...none };
      if (isOver || fate < mates + draws) return { kind: 'draw', wl: 0, d: 1, ...none };
      if (fate < mates + draws + tablebase) {
        const result = Math.floor(draw(1) * 3) - 1;
        return { kind: 'tablebase', wl: result, d: result === 0 ? 1 : 0, ...none };
      }
      const cycle = 4 + 2 * Math.floor(draw(2) * 3);
      if (fate < mates + draws + tablebase + repetitions && depth >= cycle) {
        return { kind: 'twoFold', wl: 0, d: 1, ...none, m: cycle };
      }
    }

    const { minMoves, maxMoves } = options;
    const count = minMoves + Math.floor(draw(3) * (maxMoves - minMoves + 1));
    const logits = Array.from({ length: count }, (_, i) => 4 * draw(10 + i));
    const total = logits.reduce((sum, logit) => sum + Math.exp(logit), 0);
    const edges = logits.map((logit, i) => ({ move: i + 1, code: encodePrior(Math.exp(logit) / total) }));
    edges.sort((a, b) => b.code - a.code || a.move - b.move);
    const raw = 2 * draw(4) - 1;
    const wl = Math.fround(options.decisive ? Math.sign(raw) * Math.abs(raw) ** 0.1 : 0.6 * raw);
    return {
      kind: 'evaluated',
      wl,
      d: Math.fround((1 - Math.abs(wl)) * draw(5)),
      m: Math.fround(120 * draw(6)),
      moves: edges.map(({ move }) => move),
      priorCodes: edges.map(({ code }) => code),
      key: hash,
    };
  }
}

function mix(value: number): number {
  let z = value | 0;
  z = Math.imul(z ^ (z >>> 16), 0x21f0aaad);
  z = Math.imul(z ^ (z >>> 15), 0x735a2d97);
  return (z ^ (z >>> 15)) | 0;
}
