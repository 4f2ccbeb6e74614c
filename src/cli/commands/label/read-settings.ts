/** The settings of a labelling run from its flags. They are compared when a run is resumed. */
import {
  type LabelSettings,
  type PositionSettings,
  parseStartSource,
  type SourceFile,
  type SourceFilter,
} from '../../../selfplay/index.js';
import { failure, type Result, success } from '../../../util/index.js';
import type { LabelArguments } from './label-flags.js';

function parseRange(flag: string, text: string): Result<readonly [number, number]> {
  const match = /^(\d+(?:\.\d+)?|\.\d+)(?:-(\d+(?:\.\d+)?|\.\d+))?$/.exec(text.trim());
  const least = Number(match?.[1]);
  const most = Number(match?.[2] ?? match?.[1]);
  if (match === null || least > most || most > 1)
    return failure(`--${flag} needs a share or a range such as 0.1-0.5, not "${text}"`);
  return success([least, most]);
}

/** @param weights first digits of the hash of the network's file */
export function createLabelSettings(args: LabelArguments, weights: string | undefined): Result<LabelSettings> {
  const wander = parseRange('wander', args.wander);
  if (!wander.ok) return wander;
  const blunder = parseRange('blunder', args.blunder);
  if (!blunder.ok) return blunder;
  const sources: LabelSettings['sources'][number][] = [];
  for (const text of args.book) {
    const source = parseStartSource(text);
    if (!source.ok) return source;
    sources.push(source.value);
  }
  return success({
    seed: args.seed,
    nodes: args.nodes,
    multiPv: args.multipv,
    wander: wander.value,
    blunder: blunder.value,
    temperatureCp: args.temperature,
    resignCp: args['resign-score'],
    resignPlies: args['resign-plies'],
    playOut: args['play-out'],
    maxPlies: args['max-plies'],
    sources,
    ...(weights === undefined ? {} : { weights }),
  });
}

export function createSourceFilter(args: LabelArguments): SourceFilter {
  return { player: args.player ?? null, results: args.results };
}

/** @param weights first digits of the hash of the network's file */
export function createPositionSettings(
  args: LabelArguments,
  from: readonly SourceFile[],
  weights: string | undefined,
): Result<PositionSettings> {
  if (args['player-to-move'] && args.player === undefined) return failure('--player-to-move needs --player');
  if (args.leaves > 0 && args.weights === undefined)
    return failure('--leaves needs --weights: the network that searches');
  if (!args.roots && args.leaves === 0) return failure('--no-roots needs --leaves, otherwise nothing is labelled');
  return success({
    ...createSourceFilter(args),
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
  });
}
