/** Plays one self-play game: for each move it searches, may resign, chooses a move, records the search and plays the move. */

import type { Prng } from '../../base/util/index.js';
import type { Move } from '../../chess/rules/index.js';
import type { Tablebases } from '../../chess/syzygy/index.js';
import { computeTemperature, type SearchInfo, type SearchParams } from '../../search/index.js';
import type { Opening } from '../openings/index.js';
import {
  computeCentipawns,
  createDraw,
  findEndByLaws,
  findTablebaseEnd,
  Game,
  type GameEnd,
  type GameSearch,
  type PlayedMove,
} from '../play/index.js';
import { prunePolicyTarget, weighBySurprise } from './policy-targets.js';
import { createSearchRecord, type SearchRecord } from './search-record.js';
import { type MoveLimits, ResignWatch, type SelfPlaySettings } from './self-play-settings.js';

export interface SelfPlaySide {
  readonly search: GameSearch;
  readonly limits: MoveLimits;
  readonly params: SearchParams;
  /** Of the quick searches of the playout cap, which have no noise. */
  readonly quietParams: SearchParams;
  readonly policyTemperature: number;
}

export interface SelfPlayGame {
  readonly opening: Opening;
  readonly played: readonly PlayedMove[];
  readonly end: GameEnd;
  /** In the order of their plies; surprising positions have several. */
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
  let end = findEndByLaws(game.position);
  for (const { search } of board.sides) search.newGame();

  while (end === null) {
    const { position } = game;
    if (position.gamePly >= settings.maxPlies) {
      end = createDraw('max-plies');
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
      break;
    }
    const move = refuseRareMoves(board, game, side, drawn, root.moves);
    if (isFull) {
      const target = settings.prunesPolicyTarget ? prunePolicyTarget(root, side.params) : root;
      const record = createSearchRecord(game.uciMoves.length, target, move, side.policyTemperature);
      if (record !== null) records.push(record);
    }
    board.onThought({ isBlack: position.sideToMove === 1, info, move: move as Move });
    game.play({
      move: move as Move,
      score: computeCentipawns(root.wl),
      depth: info?.depth ?? 0,
      nodes: info?.nodes ?? 0,
      timeMs: info?.timeMs ?? 0,
    });
    end = findEndByLaws(game.position) ?? findTablebaseEnd(board.tables, game.position);
  }
  const falsePositiveThreshold = ignoresResignation ? watch.getFalsePositiveThreshold(end.result) : null;
  return {
    opening: board.opening,
    played: game.played,
    end,
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
  const { search, limits } = side;
  search.configure(isFull ? side.params : side.quietParams);
  search.setPosition(game, settings.reusesTree);
  if (!isFull) return search.run({ nodes: settings.playoutCap.fastVisits });
  return search.run({
    ...(limits.visits === null ? {} : { nodes: limits.visits }),
    ...(limits.playouts === null ? {} : { playouts: limits.playouts }),
    ...(limits.movetimeMs === null ? {} : { budgetMs: limits.movetimeMs }),
  });
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
    if (findEndByLaws(game.position) === null) {
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
