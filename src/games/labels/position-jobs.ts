/**
 * Which positions of existing games are labelled: plies of the games, and positions that our search visits from them. Sources are
 * read in order, and everything random follows from the seed and a source's number. No position is labelled twice. `PositionSet`
 * keeps millions of 64-bit keys.
 */

import { createPrng, failure, mixSeeds, type Prng, type Result, success, unwrap } from '../../base/util/index.js';
import { computeOutcome, formatFen, type Position, parseFen, parseUciMove } from '../../chess/rules/index.js';
import type { LabelNetwork, Root } from './label-network.js';
import { fillOrder, type LabelledGameRecord, type LabelOrder } from './label-record.js';
import type { LabelJob } from './label-run.js';
import type { PositionSettings } from './label-settings.js';
import type { SourceGame } from './label-sources.js';
import { PositionSet } from './position-set.js';

/** Plies before a leaf that its line holds, for the encodings that show a history. */
const HISTORY_PLIES = 7;

export interface PositionJobs {
  readonly sources: AsyncIterable<SourceGame>;
  readonly settings: PositionSettings;
  /** Needed for leaves; with it every label gets its surprise. */
  readonly network: LabelNetwork | null;
  /** Lines that earlier runs have written. */
  readonly earlier: AsyncIterable<LabelledGameRecord>;
  /** Sources that earlier runs have finished. */
  readonly finished: number;
  /** Number of sources in all. */
  readonly games: number;
  onWarning(text: string): void;
}

export async function* createPositionJobs(jobs: PositionJobs): AsyncGenerator<LabelJob> {
  const { settings, network } = jobs;
  const labelled = new PositionSet();
  for await (const record of jobs.earlier) addScored(record, labelled);
  const roots = new PositionSet();
  for await (const source of jobs.sources) {
    if (source.number >= jobs.games) return;
    const prng = createPrng(mixSeeds(settings.seed, source.number));
    const chosen = choosePlies(source, settings, prng, roots);
    if (!chosen.ok) {
      if (source.number >= jobs.finished) jobs.onWarning(`${source.origin} skipped: ${chosen.error}`);
      continue;
    }
    if (source.number < jobs.finished || chosen.value.length === 0) continue;
    const orders: LabelOrder[] = [];
    const { fen, moves, result } = source;
    if (settings.labelsRoots) {
      const scoredPlies = chosen.value.filter(({ position }) => labelled.add(position)).map(({ ply }) => ply);
      if (scoredPlies.length > 0) orders.push({ fen, moves, result, scoredPlies });
    }
    if (settings.leaves > 0 && network !== null) {
      const positions = chosen.value.map(({ ply }): Root => ({ fen, moves: moves.slice(0, ply) }));
      const visited = await network.listVisited(positions, settings.leafNodes);
      for (const [i, root] of positions.entries()) {
        orders.push(...orderLeaves(root, visited[i], settings.leaves, prng, labelled));
      }
    }
    if (orders.length > 0) yield createJob(source, orders, settings, network);
  }
}

function createJob(
  { number, origin }: SourceGame,
  orders: readonly LabelOrder[],
  { nodes }: PositionSettings,
  network: LabelNetwork | null,
): LabelJob {
  return {
    task: `labelling ${origin}`,
    label: async (engine) => {
      await engine.newGame();
      const records: LabelledGameRecord[] = [];
      for (const order of orders) records.push(await fillOrder(engine, order, nodes));
      const last = records.length - 1;
      records[last] = { ...records[last], next: number + 1 };
      return network === null ? records : network.addSurprise(records);
    },
  };
}

interface ChosenPly {
  readonly ply: number;
  readonly position: Position;
}

/** Fails when a move of the source is illegal. */
function choosePlies(
  source: SourceGame,
  settings: PositionSettings,
  prng: Prng,
  roots: PositionSet,
): Result<ChosenPly[]> {
  const parsed = parseFen(source.fen);
  if (!parsed.ok) return parsed;
  const position = parsed.value;
  const chosen: ChosenPly[] = [];
  const plies = source.isPosition ? 1 : source.moves.length;
  for (let ply = 0; ply < plies; ply++) {
    const isDrawn = prng.nextFloat() < settings.sample;
    const isTurn = !settings.playerToMove || source.playerSide === null || source.playerSide === position.sideToMove;
    if (
      isDrawn &&
      isTurn &&
      (source.isPosition || ply >= settings.skipPlies) &&
      computeOutcome(position) === 'ongoing'
    ) {
      chosen.push({ ply, position: position.clone() });
    }
    if (source.isPosition) break;
    const move = parseUciMove(position, source.moves[ply]);
    if (!move.ok) return failure(`ply ${ply}: ${move.error}`);
    position.makeMove(move.value);
  }
  return success(chosen.filter((one) => roots.add(one.position)));
}

/** One line a leaf, beginning a few plies before it. A leaf that is labelled already is skipped for the next one drawn. */
function orderLeaves(
  root: Root,
  paths: readonly (readonly string[])[],
  count: number,
  prng: Prng,
  labelled: PositionSet,
): LabelOrder[] {
  const orders: LabelOrder[] = [];
  for (const path of shuffle(paths, prng)) {
    if (orders.length === count) break;
    const moves = [...root.moves, ...path];
    const first = Math.max(0, moves.length - HISTORY_PLIES);
    const position = unwrap(parseFen(root.fen));
    let fen = root.fen;
    for (const [ply, move] of moves.entries()) {
      if (ply === first) fen = formatFen(position);
      position.makeMove(unwrap(parseUciMove(position, move)));
    }
    if (computeOutcome(position) !== 'ongoing' || !labelled.add(position)) continue;
    const line = moves.slice(first);
    orders.push({ fen, moves: line, result: '*', scoredPlies: [line.length] });
  }
  return orders;
}

/** The entries in random order. */
function shuffle<T>(entries: readonly T[], prng: Prng): T[] {
  const rest = [...entries];
  const drawn: T[] = [];
  while (rest.length > 0) {
    const at = prng.nextBelow(rest.length);
    drawn.push(rest[at]);
    rest[at] = rest[rest.length - 1];
    rest.pop();
  }
  return drawn;
}

function addScored({ fen, plies }: LabelledGameRecord, labelled: PositionSet): void {
  const position = unwrap(parseFen(fen));
  for (const [played, scores] of plies) {
    if (scores.length > 0) labelled.add(position);
    position.makeMove(unwrap(parseUciMove(position, played)));
  }
}
