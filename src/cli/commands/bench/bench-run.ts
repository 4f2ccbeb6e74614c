/**
 * The benchmark: fixed positions and nodes, each search from an empty tree. The signature is a hash of the visits of
 * every root move, so it changes if and only if the search or its evaluations change. For evaluators without a file,
 * everything that could depend on the machine is fixed, so one number holds everywhere.
 */
import { enginePorts } from '../../../app/index.js';
import { createSettings, listOptionSpecs, parseFlags } from '../../../app/options.js';
import { formatUciMove } from '../../../chess/index.js';
import { Analyst, type Answer, type GoRequest } from '../../../engine/index.js';
import { isFileless } from '../../../networks/index.js';
import type { OptionStore } from '../../../options/index.js';
import type { GatheringCounters } from '../../../search/index.js';
import { unwrap } from '../../../util/index.js';
import { requireWhole } from '../../declare-command.js';
import { BENCH_POSITIONS } from './bench-positions.js';

export interface BenchLimits {
  /** 0 = chosen for the evaluator. */
  readonly nodes: number;
  /** Instead of nodes; then the signature depends on the clock. 0 = none. */
  readonly moveTimeMs: number;
  readonly positions: number;
  readonly fen: string | null;
}

export interface BenchResult {
  readonly nodes: number;
  readonly seconds: number;
  readonly nps: number;
  readonly evaluations: number;
  readonly evaluationsPerSecond: number;
  /** Collisions (walks thrown away) and detours (visits that avoid a leaf in flight), in per cent of the playouts. */
  readonly collisionPercent: number;
  readonly detourPercent: number;
  readonly playoutsPerBatch: number;
  readonly signature: number;
  readonly network: string;
}

export const BENCH_DEFAULTS: BenchLimits = { nodes: 0, moveTimeMs: 0, positions: BENCH_POSITIONS.length, fen: null };

/** Positions searched first and not counted, because V8 has yet to compile the code. */
const WARM_UP_POSITIONS = 2;
const NODES_WITH_NETWORK = 800;
const NODES_FILELESS = 20000;
const FILELESS_MINIBATCH = '64';
const FILELESS_BATCHES = '3';

/**
 * @param onPosition one line of text for each position searched
 * @param signal ends it; then it rejects
 */
export async function runBench(
  options: OptionStore,
  limits: BenchLimits,
  onPosition: (line: string) => void,
  signal?: AbortSignal,
): Promise<BenchResult> {
  fixOptions(options);
  const analyst = new Analyst(options, enginePorts);
  const search = (fen: string, request: GoRequest): Promise<Answer> => {
    signal?.throwIfAborted();
    return analyst.search(fen, [], request);
  };
  signal?.addEventListener('abort', () => analyst.stop());
  try {
    const network = await analyst.load();
    const fens = limits.fen === null ? BENCH_POSITIONS.slice(0, limits.positions) : [limits.fen];
    const nodesEach = limits.nodes || (isFileless(options) ? NODES_FILELESS : NODES_WITH_NETWORK);
    const request = limits.moveTimeMs > 0 ? { moveTimeMs: limits.moveTimeMs } : { nodes: nodesEach };
    for (const fen of BENCH_POSITIONS.slice(0, WARM_UP_POSITIONS)) await search(fen, request);
    const evaluationsBefore = network.evaluations;
    let nodes = 0;
    let timeMs = 0;
    const gathered = { playouts: 0, batches: 0, collisions: 0, detours: 0 };
    let signature = FNV_OFFSET;
    for (const [index, fen] of fens.entries()) {
      analyst.newGame();
      const startedAt = performance.now();
      const answer = await search(fen, request);
      signal?.throwIfAborted();
      const elapsedMs = performance.now() - startedAt;
      const searched = answer.report.nodes;
      nodes += searched;
      timeMs += elapsedMs;
      addGathering(gathered, answer);
      signature = hashAnswer(signature, answer);
      const nps = Math.round((searched * 1000) / elapsedMs);
      const best = formatUciMove(answer.best.move, false);
      onPosition(`Position ${index + 1}: time ${elapsedMs.toFixed(0)} ms, ${searched} nodes, ${nps} nps, move ${best}`);
    }
    const evaluations = network.evaluations - evaluationsBefore;
    const seconds = timeMs / 1000;
    return {
      nodes,
      seconds,
      nps: Math.round(nodes / seconds),
      evaluations,
      evaluationsPerSecond: Math.round(evaluations / seconds),
      collisionPercent: (100 * gathered.collisions) / gathered.playouts,
      detourPercent: (100 * gathered.detours) / gathered.playouts,
      playoutsPerBatch: gathered.playouts / gathered.batches,
      signature,
      network: network.description,
    };
  } finally {
    await analyst.dispose();
  }
}

/** Fixes every option that would depend on the clock or on the number of cores. */
function fixOptions(options: OptionStore): void {
  options.set('VerboseMoveStats', 'true');
  options.set('SmartPruningFactor', '0');
  options.set('MateSearch', 'false');
  if (!isFileless(options)) return;
  if (options.getNumber('MinibatchSize') === 0) options.set('MinibatchSize', FILELESS_MINIBATCH);
  if (options.getNumber('BatchesInFlight') === 0) options.set('BatchesInFlight', FILELESS_BATCHES);
}

type Gathered = { -readonly [Name in keyof GatheringCounters]: number };

function addGathering(sum: Gathered, { report }: Answer): void {
  if (report.gathering === null) return;
  sum.playouts += report.gathering.playouts;
  sum.batches += report.gathering.batches;
  sum.collisions += report.gathering.collisions;
  sum.detours += report.gathering.detours;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a over (move, visits) of the root moves, in the order of the moves. */
function hashAnswer(hash: number, { stats, best }: Answer): number {
  const rows = [...(stats?.moves ?? [])].sort((a, b) => a.move - b.move);
  const words = [best.move, ...rows.flatMap(({ move, visits }) => [move, visits])];
  return words.reduce((sum, word) => Math.imul(sum ^ word, FNV_PRIME) >>> 0, hash);
}

export function formatBench(result: BenchResult): string[] {
  return [
    `Network         : ${result.network}`,
    `Total time (ms) : ${Math.round(result.seconds * 1000)}`,
    `Nodes searched  : ${result.nodes}`,
    `Nodes/second    : ${result.nps}`,
    `Evaluations     : ${result.evaluations} (${result.evaluationsPerSecond}/s)`,
    `Collisions      : ${result.collisionPercent.toFixed(2)} % of playouts (walks that found every leaf under way)`,
    `Detours         : ${result.detourPercent.toFixed(2)} % (visits that avoided one), ${result.playoutsPerBatch.toFixed(1)} playouts a batch`,
    `Signature       : ${result.signature}`,
  ];
}

/** The flags of `sardonyx bench` that fit on a line of UCI, with the smallest value of each. */
const LIMIT_FLAGS = { nodes: 0, movetime: 0, 'num-positions': 1 };
const LIMIT_SPECS = Object.keys(LIMIT_FLAGS).map((flag) => ({ flag, uci: flag, kind: 'string' as const }));

/** The `bench` command of a UCI session: `bench [nodes]` with flags, on a network of its own. Rejects when the signal ends it. */
export async function runBenchWords(
  words: readonly string[],
  writeLine: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { settings, ...parsed } = unwrap(parseFlags(words, [...listOptionSpecs(), ...LIMIT_SPECS]));
  const readLimit = (name: keyof typeof LIMIT_FLAGS): number | undefined => {
    const text = settings.findLast(([flag]) => flag === name)?.[1];
    return text === undefined ? undefined : requireWhole(name, text, LIMIT_FLAGS[name]);
  };
  const engineSettings = settings.filter(([flag]) => !Object.hasOwn(LIMIT_FLAGS, flag));
  const { options } = unwrap(createSettings({ ...parsed, settings: engineSettings }));
  const { positionals } = parsed;
  const nodes = readLimit('nodes') ?? Number(positionals[0] ?? 0);
  if (!Number.isInteger(nodes) || nodes < 0 || positionals.length > 1) {
    throw new Error('bench is followed by one number, of nodes, and by flags');
  }
  const limits: BenchLimits = {
    ...BENCH_DEFAULTS,
    nodes,
    moveTimeMs: readLimit('movetime') ?? BENCH_DEFAULTS.moveTimeMs,
    positions: readLimit('num-positions') ?? BENCH_DEFAULTS.positions,
  };
  const result = await runBench(options, limits, writeLine, signal);
  for (const line of formatBench(result)) writeLine(line);
}
