/** Plays one self-play game: for each move it searches, may resign, chooses a move, records the search and plays the move. */

import type { Prng } from '../../base/util/index.js';
import type { Move } from '../../chess/rules/index.js';
import type { Tablebases } from '../../chess/syzygy/index.js';
import {
  computeExploration,
  computeTemperature,
  getPuctParams,
  type NodeValue,
  type RootSummary,
  type SearchInfo,
  type SearchParams,
} from '../../search/index.js';
import type { Opening } from '../openings/index.js';
import {
  computeCentipawns,
  createDraw,
  findTablebaseEnd,
  Game,
  type GameEnd,
  type GameSearch,
  type PlayedMove,
} from '../play/index.js';
import { type MoveLimits, ResignWatch, type SelfPlaySettings } from './self-play-settings.js';

// One search of a self-play game, kept small until the game is over and its records are written.

export interface SearchRecord {
  /** Plies after the opening's position when the search began, book moves included. */
  readonly ply: number;
  /** All legal moves, their visits, and the network's policy without temperature (not normalised). */
  readonly moves: Uint16Array;
  readonly visits: Uint32Array;
  readonly priors: Float32Array;
  readonly rootVisits: number;
  readonly best: number;
  readonly played: number;
  readonly isBestProven: boolean;
  /** In the mover's view. */
  readonly root: NodeValue;
  readonly bestValue: NodeValue;
  readonly playedValue: NodeValue;
  readonly own: NodeValue;
}

/**
 * @param policyTemperature the temperature of the priors, which is undone (lc0: V6TrainingDataArray::Add)
 * @returns null when the search gives no policy target: there are several moves, and none has a visit
 */
export function createSearchRecord(
  ply: number,
  summary: RootSummary,
  played: number,
  policyTemperature: number,
): SearchRecord | null {
  const { moves } = summary;
  const total = moves.reduce((sum, { visits }) => sum + visits, 0);
  if (total === 0 && moves.length > 1) return null;
  const best = moves[summary.best];
  const playedMove = moves.find(({ move }) => move === played) ?? best;
  return {
    ply,
    moves: Uint16Array.from(moves, ({ move }) => move),
    visits: Uint32Array.from(moves, ({ visits }) => visits),
    priors: Float32Array.from(moves, ({ prior }) => prior ** policyTemperature),
    rootVisits: summary.visits,
    best: best.move,
    played,
    // A proven draw or loss is proven best only when all other moves are proven too.
    isBestProven: best.isProven && (best.wl >= 1 || moves.every(({ isProven }) => isProven)),
    root: pickValues(summary),
    bestValue: pickValues(best),
    playedValue: pickValues(playedMove),
    own: summary.own,
  };
}

function pickValues({ wl, d, m }: NodeValue): NodeValue {
  return { wl, d, m };
}

// What the records of self-play teach the policy, after KataGo (D. Wu, "Accelerating Self-Play Learning in Go", 3.2, and
// docs/KataGoMethods.md, "Policy Surprise Weighting").

/**
 * Removes visits that only noise or forced playouts explain: from every move but the most visited one, as long as PUCT with the
 * network's own priors would still prefer the most visited one. A move that is left with one visit loses it too.
 * @param summary with the noise out of the priors
 * @returns the summary with fewer visits of moves; under sequential halving, which does not follow PUCT, the same
 */
export function prunePolicyTarget(summary: RootSummary, params: SearchParams): RootSummary {
  const { moves } = summary;
  if (params.sequentialHalving) return summary;
  const most = moves.reduce((best, move) => (move.visits > best.visits ? move : best));
  const exploration = computeExploration(summary.visits, getPuctParams(params, true));
  const limit = most.wl + (exploration * most.prior) / (1 + most.visits);
  const prune = (move: (typeof moves)[number]): number => {
    if (move === most || move.visits === 0 || move.wl >= limit) return move.visits;
    const fewest = Math.max(0, Math.ceil((exploration * move.prior) / (limit - move.wl) - 1));
    if (fewest >= move.visits) return move.visits;
    return fewest <= 1 ? 0 : fewest;
  };
  return { ...summary, moves: moves.map((move) => ({ ...move, visits: prune(move) })) };
}

/**
 * Repeats surprising records and leaves out others, so that a game keeps its number of records on average: each has the
 * weight 1 − share + share · n · KL / ΣKL, n being the number of records, and KL the divergence of its target from its prior.
 * @param random draws the fractions of weights
 */
export function weighBySurprise(records: readonly SearchRecord[], share: number, random: Prng): SearchRecord[] {
  const surprises = records.map(computeSurprise);
  const total = surprises.reduce((sum, surprise) => sum + surprise, 0);
  if (!(total > 0)) return [...records];
  return records.flatMap((record, i) => {
    const weight = 1 - share + (share * records.length * surprises[i]) / total;
    const copies = Math.floor(weight) + Number(random.nextFloat() < weight % 1);
    return new Array<SearchRecord>(copies).fill(record);
  });
}

/** KL divergence of the visits' shares from the normalised priors, in nats. */
function computeSurprise({ visits, priors }: SearchRecord): number {
  const allVisits = visits.reduce((sum, n) => sum + n, 0);
  const allPriors = priors.reduce((sum, p) => sum + p, 0);
  let surprise = 0;
  for (let i = 0; i < visits.length; i++) {
    if (visits[i] === 0) continue;
    const target = visits[i] / allVisits;
    surprise += target * Math.log(target / Math.max(priors[i] / allPriors, 1e-8));
  }
  return Math.max(0, surprise);
}

export interface SelfPlaySide {
  readonly search: GameSearch;
  readonly limits: MoveLimits;
  readonly params: SearchParams;
  readonly policyTemperature: number;
}

export interface SelfPlayGame {
  readonly opening: Opening;
  readonly played: readonly PlayedMove[];
  readonly end: GameEnd;
  /** Whether the game ended by resignation, tablebases or length, and not by the rules. */
  readonly isAdjudicated: boolean;
  readonly records: readonly SearchRecord[];
  /** Playouts of all searches, without visits that a tree kept from the last move. */
  readonly playouts: number;
  /** If the game ignored resignation: the threshold above which a side would have resigned wrongly; else null. */
  readonly falsePositiveThreshold: number | null;
}

export interface SearchedMove {
  readonly isBlack: boolean;
  readonly info: SearchInfo | null;
  readonly move: Move;
}

export interface SelfPlayBoard {
  /** White's and Black's; the same object when they share a tree. */
  readonly sides: readonly [white: SelfPlaySide, black: SelfPlaySide];
  readonly settings: SelfPlaySettings;
  readonly tables: Tablebases | null;
  readonly opening: Opening;
  readonly random: Prng;
  /** Called with positions that were refused for too few visits. */
  readonly onDiscard: (opening: Opening) => void;
  /** Called with each search and the move that it led to. */
  readonly onThought: (thought: SearchedMove) => void;
}

/** @returns null when the signal came before the end */
export async function playSelfPlayGame(board: SelfPlayBoard, signal: AbortSignal): Promise<SelfPlayGame | null> {
  const { settings, random } = board;
  const game = new Game(board.opening, settings.chess960);
  const ignoresResignation = random.nextFloat() * 100 < settings.resign.playthrough;
  const watch = new ResignWatch(settings.resign, !ignoresResignation);
  const records: SearchRecord[] = [];
  let playouts = 0;
  let end = game.getEnd();
  let isAdjudicated = false;
  for (const { search } of board.sides) search.newGame();

  while (end === null) {
    const { position } = game;
    if (position.gamePly >= settings.maxPlies) {
      end = createDraw('max-plies');
      isAdjudicated = true;
      break;
    }
    const side = board.sides[position.sideToMove];
    const isFull = random.nextFloat() < settings.playoutCap.fullShare;
    const { move: drawn, root, info } = await think(side, game, settings, isFull);
    if (signal.aborted) return null;
    playouts += info?.gathering.playouts ?? 0;
    const best = root.moves[root.best];
    const resigned = watch.look(position.sideToMove, (position.gamePly >> 1) + 1, best.wl, best.d);
    if (resigned !== null) {
      end = { result: resigned, reason: 'resignation' };
      isAdjudicated = true;
      break;
    }
    const move = refuseRareMoves(board, game, side, drawn, root.moves);
    if (isFull) {
      const target = settings.prunesPolicyTarget ? prunePolicyTarget(root, side.params) : root;
      const record = createSearchRecord(game.uciMoves.length, target, move, side.policyTemperature);
      if (record !== null) records.push(record);
    }
    board.onThought({ isBlack: position.sideToMove === 1, info, move: move as Move });
    const score = computeCentipawns(root.wl);
    game.play({
      move: move as Move,
      score,
      depth: info?.depth ?? 0,
      nodes: info?.nodes ?? 0,
      timeMs: info?.timeMs ?? 0,
    });
    end = game.getEnd() ?? findTablebaseEnd(board.tables, game.position);
    isAdjudicated = end?.reason === 'tablebase';
  }
  const falsePositiveThreshold = ignoresResignation ? watch.getFalsePositiveThreshold(end.result) : null;
  return {
    opening: board.opening,
    played: game.played,
    end,
    isAdjudicated,
    records: settings.policySurprise > 0 ? weighBySurprise(records, settings.policySurprise, random) : records,
    playouts,
    falsePositiveThreshold,
  };
}

async function think(
  side: SelfPlaySide,
  game: Game,
  settings: SelfPlaySettings,
  isFull: boolean,
): ReturnType<GameSearch['run']> {
  const { search, limits, params } = side;
  search.configure(isFull ? params : withoutNoise(params));
  search.setPosition(game, settings.reusesTree);
  if (!isFull) return search.run({ nodes: settings.playoutCap.fastVisits });
  return search.run({
    ...(limits.visits === null ? {} : { nodes: limits.visits }),
    ...(limits.playouts === null ? {} : { playouts: limits.playouts }),
    ...(limits.movetimeMs === null ? {} : { budgetMs: limits.movetimeMs }),
  });
}

const quietParams = new WeakMap<SearchParams, SearchParams>();

function withoutNoise(params: SearchParams): SearchParams {
  let quiet = quietParams.get(params);
  if (quiet === undefined) {
    quiet = { ...params, dirichletNoiseEpsilon: 0, gumbelNoiseScale: 0, forcedPlayouts: 0 };
    quietParams.set(params, quiet);
  }
  return quiet;
}

/**
 * Chooses at random again until the move has enough visits or is the most visited one. Each refused position may start another
 * game. Without temperature the choice is not random, so the move is kept: a mate may have been found in few visits.
 */
function refuseRareMoves(
  board: SelfPlayBoard,
  game: Game,
  side: SelfPlaySide,
  drawn: number,
  moves: readonly { readonly move: number; readonly visits: number }[],
): number {
  if (computeTemperature(side.params, game.position.gamePly) === 0) return drawn;
  const least = board.settings.minimumAllowedVisits;
  const most = Math.max(...moves.map(({ visits }) => visits));
  for (let move = drawn; ; move = side.search.redraw()) {
    const visits = moves.find((row) => row.move === move)?.visits ?? 0;
    if (visits >= least || visits === most) return move;
    game.position.makeMove(move as Move);
    if (game.getEnd() === null) {
      const line = [...board.opening.moves, ...game.played.map((ply) => ply.move), move as Move];
      board.onDiscard({ fen: board.opening.fen, moves: line, origin: `${board.opening.origin}, refused move` });
    }
    game.position.unmakeMove();
  }
}

/**
 * The part of the opening that this game follows. At each move the game leaves it with probability max(p, 1/n), where n is the
 * number of remaining moves (lc0: --opening-stop-prob).
 */
export function shortenOpening(opening: Opening, stopProbability: number, random: Prng): Opening {
  if (stopProbability <= 0) return opening;
  const { length } = opening.moves;
  for (let ply = 0; ply < length; ply++) {
    const exits = length - ply + 1;
    if (random.nextFloat() < Math.max(stopProbability, 1 / exits))
      return { ...opening, moves: opening.moves.slice(0, ply) };
  }
  return opening;
}
