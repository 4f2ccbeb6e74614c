/** The flags of `sardonyx label`, and the settings of a run that they mean, which are compared when a run is resumed. */
import { availableParallelism } from 'node:os';
import { unwrap } from '../../base/util/index.js';
import {
  type LabelSettings,
  PLAYER_RESULTS,
  type PlayerResult,
  type PositionSettings,
  parseStartSource,
  type SourceFile,
  type SourceFilter,
} from '../../games/labels/index.js';
import { inGroup, limit, number, onOff, requiredText, text, type ValuesOf, whole, words } from '../declare-command.js';

const EXISTING = 'Positions of existing files (--from):';

// biome-ignore format: a row a flag
export const LABEL_FLAGS = {
  engine: requiredText('UCI engine that plays and scores: a program, or "cmd=PROGRAM args=… option.NAME=VALUE"'),
  nodes: whole({ min: 1, default: 4000 }, 'Nodes the engine searches in each position'),
  multipv: whole({ min: 1, default: 5 }, 'Moves the engine scores in each position'),
  games: limit('Number of games; with --from, of games or positions to read', { default: null }),
  seed: whole({ min: 0, default: 1 }, 'Seed of everything that is random'),
  concurrency: whole({ min: 1, default: availableParallelism() }, 'Engine processes that run at the same time'),
  ...inGroup('Games that the engine plays (without --from):', {
    book: words('Where games start, as PATH:WEIGHT:RANDOM-PLIES (a number or a range); may be given several times; "startpos" and "endgames" are built in', { default: ['startpos:1:1-9'] }),
    wander: text('Share of the plies at which one of the scored moves is drawn; each game draws its share from this range', { default: '0.2-0.7' }),
    blunder: text('Share of the plies at which any legal move is drawn', { default: '0-0.1' }),
    temperature: number({ min: 0, isMinExcluded: true, default: 150 }, 'Temperature of the moves drawn by --wander, in centipawns'),
    'resign-score': number({ min: 0, default: 900 }, 'End a game when one side is ahead by this many centipawns for --resign-plies'),
    'resign-plies': whole({ min: 1, default: 5 }, 'Plies in a row for --resign-score'),
    'play-out': number({ min: 0, max: 1, default: 0.25 }, 'Share of the games that --resign-score does not end'),
    'max-plies': whole({ min: 1, default: 260 }, 'Plies after which a game ends'),
  }, { notWith: ['from'] }),
  ...inGroup(EXISTING, {
    from: words('Label the positions of these files instead of playing: games (.pgn, .jsonl) or positions (.epd, .fen), plain, .gz, .zst, .bz2 or .zip; no position is labelled twice'),
  }),
  ...inGroup(EXISTING, {
    player: text('Only games of this player (PGN tags White and Black)'),
    results: text('only games with these results of the player, in this order, such as "lost,drawn"', { default: '', goesWith: ['player'] }),
    'player-to-move': onOff('only positions in which it is the turn of the player', false, { goesWith: ['player'] }),
    sample: number({ min: 0, isMinExcluded: true, max: 1, default: 1 }, 'Share of the plies'),
    'skip-plies': whole({ min: 0, default: 0 }, 'Plies at the start of each game to pass over'),
  }, { goesWith: ['from'] }),
  ...inGroup('Our network:', {
    weights: text('Network whose evaluation without search is compared with each label; the difference is written as "surprise"'),
    backend: text('backend of the network', { goesWith: ['weights'] }),
    leaves: whole({ min: 0, default: 0, goesWith: ['from', 'weights'] }, 'for each ply, label this many random positions of a search that starts there'),
    'leaf-nodes': whole({ min: 2, default: 100, goesWith: ['leaves'] }, 'nodes of that search'),
    roots: onOff('label the plies too; --no-roots labels the leaves only', true, { goesWith: ['leaves'] }),
  }),
  out: requiredText('Folder to write to; an existing run there is continued'),
  prefix: text('First part of the names of the files', { default: 'labels' }),
  'plies-per-file': whole({ min: 1, default: 100_000 }, 'Plies in each file; the default makes files of about 2 MB'),
  json: onOff('Print the summary as JSON'),
};

export type LabelArguments = ValuesOf<typeof LABEL_FLAGS>;

function parseRange(flag: string, text: string): readonly [number, number] {
  const match = /^(\d+(?:\.\d+)?|\.\d+)(?:-(\d+(?:\.\d+)?|\.\d+))?$/.exec(text.trim());
  const least = Number(match?.[1]);
  const most = Number(match?.[2] ?? match?.[1]);
  if (match === null || least > most || most > 1)
    throw new Error(`--${flag} needs a share or a range such as 0.1-0.5, not "${text}"`);
  return [least, most];
}

/** @param weights first digits of the hash of the network's file */
export function createLabelSettings(args: LabelArguments, weights: string | undefined): LabelSettings {
  return {
    seed: args.seed,
    nodes: args.nodes,
    multiPv: args.multipv,
    wander: parseRange('wander', args.wander),
    blunder: parseRange('blunder', args.blunder),
    temperatureCp: args.temperature,
    resignCp: args['resign-score'],
    resignPlies: args['resign-plies'],
    playOut: args['play-out'],
    maxPlies: args['max-plies'],
    sources: args.book.map((text) => unwrap(parseStartSource(text))),
    ...(weights === undefined ? {} : { weights }),
  };
}

/** @param weights first digits of the hash of the network's file */
export function createPositionSettings(
  args: LabelArguments,
  filter: SourceFilter,
  from: readonly SourceFile[],
  weights: string | undefined,
): PositionSettings {
  if (!args.roots && args.leaves === 0) throw new Error('--no-roots needs --leaves, otherwise nothing is labelled');
  return {
    ...filter,
    seed: args.seed,
    nodes: args.nodes,
    multiPv: args.multipv,
    from,
    sample: args.sample,
    skipPlies: args['skip-plies'],
    playerToMove: args['player-to-move'],
    labelsRoots: args.roots,
    leaves: args.leaves,
    leafNodes: args['leaf-nodes'],
    ...(weights === undefined ? {} : { weights }),
  };
}

export function parseResults(text: string): PlayerResult[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  const unknown = words.find((word) => !PLAYER_RESULTS.includes(word as PlayerResult));
  if (unknown !== undefined) throw new Error(`--results is a list of ${PLAYER_RESULTS.join(', ')}, not "${unknown}"`);
  return [...new Set(words)] as PlayerResult[];
}
