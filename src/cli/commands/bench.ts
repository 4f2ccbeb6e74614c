/**
 * The benchmark: fixed positions and nodes, each search from an empty tree. The signature is a hash of the visits of
 * every root move, so it changes if and only if the search or its evaluations change. For evaluators without a file,
 * everything that could depend on the machine is fixed, so one number holds everywhere.
 */

import type { OptionStore } from '../../base/options/index.js';
import { unwrap } from '../../base/util/index.js';
import { formatUciMove } from '../../chess/rules/index.js';
import { enginePorts } from '../../engine/app/index.js';
import { applySettings, listOptionSpecs, parseFlags } from '../../engine/app/options.js';
import { Analyst, type Answer, type GoRequest, type SearchReport } from '../../engine/core/index.js';
import { isFileless } from '../../engine/weights/index.js';
import type { GatheringCounters } from '../../search/index.js';
import { requireWhole } from '../declare-command.js';

export interface BenchLimits {
  /** 0 or -1 = none. With neither limit, the nodes are chosen for the evaluator. */
  readonly nodes: number;
  /** With it the signature depends on the clock. 0 or -1 = none. */
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
  /** Walks that ended at a leaf in flight, in per cent of the playouts. */
  readonly collisionPercent: number;
  readonly playoutsPerBatch: number;
  readonly signature: number;
  readonly network: string;
}

/**
 * Positions of `bench`: every phase of the game, quiet and sharp, with castling, promotion and en passant at hand. The
 * list and its order are part of the signature.
 */
export const BENCH_POSITIONS: readonly string[] = [
  'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1',
  'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
  'r1bqkbnr/pppp1ppp/2n5/1B2p3/4P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3',
  'rnbqkb1r/pp2pp1p/3p1np1/8/3NP3/2N5/PPP2PPP/R1BQKB1R w KQkq - 0 6',
  'rnbq1rk1/ppp1bppp/4pn2/3p4/2PP4/2N2N2/PP2PPPP/R1BQKB1R w KQ - 4 6',
  'r2q1rk1/1b2bppp/p2ppn2/1p6/3NPP2/1BN1B3/PPP3PP/R2Q1RK1 w - - 0 13',
  'r4rk1/pp3ppp/2pq1n2/3p4/1b1P1Bb1/2NBPN2/PPQ2PPP/R3K2R w KQ - 5 11',
  '2rq1rk1/pb1nbppp/1p2pn2/2pp4/2PP4/1PNBPN2/PB2QPPP/R4RK1 w - - 2 12',
  'r1b2rk1/2q1bppp/p2p1n2/np2p3/3PP3/2P2N1P/PPBN1PP1/R1BQR1K1 b - - 2 13',
  '4rrk1/pp1n3p/3q2pQ/2p1pb2/2PP4/2P3N1/P2B2PP/4RRK1 b - - 7 19',
  '3r1rk1/p5pp/bpp1pp2/8/q1PP1P2/b3P3/P2NQRPP/1R2B1K1 b - - 6 22',
  'r3r1k1/2p2ppp/p1p1bn2/8/1q2P3/2NPQN2/PPP3PP/R4RK1 b - - 2 15',
  '3q2k1/pb3p1p/4pbp1/2r5/PpN2N2/1P2P2P/5PP1/Q2R2K1 b - - 4 26',
  '6k1/6p1/6Pp/ppp5/3pn2P/1P3K2/1PP2P2/3N4 b - - 0 1',
  '3b4/5kp1/1p1p1p1p/pP1PpP1P/P1P1P3/3KN3/8/8 w - - 0 1',
  '8/6pk/1p6/8/PP3p1p/5P2/4KP1q/3Q4 w - - 0 1',
  '7k/3p2pp/4q3/8/4Q3/5Kp1/P6b/8 w - - 0 1',
  '8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1',
  '8/pp2r1k1/2p1p3/3pP2p/1P1P1P1P/P5KR/8/8 w - - 0 1',
  '8/bQr5/8/8/3N4/8/5k2/2K5 w - - 0 1',
  '5k2/7R/4P2p/5K2/p1r2P1p/8/8/8 b - - 0 1',
  '6k1/4pp1p/3p2p1/P1pPb3/R7/1r2P1PP/3B1P2/6K1 w - - 0 1',
  '1n4k1/P4p2/6p1/1q6/8/3P2P1/5PK1/3Q4 w - - 0 1',
  'nn1bkq1r/pppppp2/8/6pp/8/4P3/PPPPBPPP/NNQRK1BR w Hh - 0 1',
];

/** Those that lc0's `benchmark` has more, so that it may be asked for as many. */
const MORE_POSITIONS: readonly string[] = [
  'rnbqrk2/pp4bp/2ppp1pn/5p2/PPBP4/BQP1PN2/3N1PPP/R3K2R w KQ - 4 8',
  '8/6k1/1p1p4/p2Pp1pR/1pP3P1/1K6/4nr2/R7 b - - 8 13',
  '2r3k1/p1q2pp1/1n2pn1p/4N3/5P2/4P3/PPb1R1PP/R1Q3K1 w - - 4 18',
  'r1q1r1k1/pb3ppp/1p1p2n1/6P1/3p1P1b/P1PB4/1P5P/R1BQ1RK1 w - - 5 23',
  '7k/1pp3p1/pn3r1p/1b2Rp1q/2NP1n2/PP5P/1BQ2PPK/5B2 w - - 8 28',
  'rn1qkbn1/ppp2p2/4p1b1/3p3r/P2P3p/1PN1PP2/2P5/R1BQKBNR w KQq - 0 11',
  'r5k1/p4pbp/1pP3p1/2p1B3/P3n3/1P2P2P/4NPP1/R2Q1RK1 w - - 1 16',
  '5rk1/2q3b1/3p2B1/2p4p/1nP2P2/1P2rR1b/3Q3P/1RB3K1 w - - 0 21',
  '6r1/pp2k3/P1ppb3/5p1p/2P3nP/6R1/1P1NBK2/8 w - - 1 31',
  '2r5/Pk2rp2/1np3p1/1P1p4/P2R1P2/6P1/6KP/2R5 w - - 1 36',
];
export const MOST_POSITIONS = BENCH_POSITIONS.length + MORE_POSITIONS.length;

export const BENCH_DEFAULTS: BenchLimits = { nodes: 0, moveTimeMs: 0, positions: BENCH_POSITIONS.length, fen: null };

/** Positions searched first and not counted, because V8 has yet to compile the code. */
const WARM_UP_POSITIONS = 2;
const NODES_WITH_NETWORK = 800;
const NODES_FILELESS = 20000;
const FILELESS_MINIBATCH = '64';
const FILELESS_BATCHES = '3';

interface BenchSettings {
  readonly isLc0Style?: boolean;
  /** Is told, for example, why a network is not in the precision that was asked for. */
  readonly onWarning?: (text: string) => void;
  readonly signal?: AbortSignal;
}

/**
 * @param writeLine takes the lines about the positions: one each, or those of lc0's `benchmark`
 * @param signal ends it; then it rejects
 */
export async function runBench(
  options: OptionStore,
  limits: BenchLimits,
  writeLine: (line: string) => void,
  { isLc0Style = false, onWarning, signal }: BenchSettings = {},
): Promise<BenchResult> {
  fixOptions(options);
  let isMeasuring = false;
  const analyst = new Analyst(options, enginePorts, onWarning, (report) => {
    if (isLc0Style && isMeasuring) writeLine(formatProgress(report));
  });
  const search = (fen: string, request: GoRequest): Promise<Answer> => {
    signal?.throwIfAborted();
    return analyst.search(fen, [], request);
  };
  signal?.addEventListener('abort', () => analyst.engine.stop());
  try {
    const network = await analyst.load();
    const all = [...BENCH_POSITIONS, ...MORE_POSITIONS];
    const fens = limits.fen === null ? all.slice(0, limits.positions) : [limits.fen];
    const request: GoRequest = {
      ...(limits.nodes > 0 ? { nodes: limits.nodes } : {}),
      ...(limits.moveTimeMs > 0 ? { moveTimeMs: limits.moveTimeMs } : {}),
    };
    const nodesUnasked = isFileless(options) ? NODES_FILELESS : NODES_WITH_NETWORK;
    const asked = Object.keys(request).length === 0 ? { nodes: nodesUnasked } : request;
    const warmUp = isLc0Style ? { nodes: 1 } : asked;
    for (const fen of BENCH_POSITIONS.slice(0, WARM_UP_POSITIONS)) await search(fen, warmUp);
    isMeasuring = true;
    const evaluationsBefore = network.evaluations;
    let nodes = 0;
    let timeMs = 0;
    const gathered = { playouts: 0, batches: 0, collisions: 0 };
    let signature = FNV_OFFSET;
    for (const [index, fen] of fens.entries()) {
      analyst.engine.newGame();
      if (isLc0Style) writeLine(`\nPosition: ${index + 1}/${fens.length} ${fen}`);
      const startedAt = performance.now();
      const answer = await search(fen, asked);
      signal?.throwIfAborted();
      const elapsedMs = performance.now() - startedAt;
      const searched = answer.report.nodes;
      nodes += searched;
      timeMs += elapsedMs;
      addGathering(gathered, answer);
      signature = hashAnswer(signature, answer);
      const nps = Math.round((searched * 1000) / elapsedMs);
      const best = formatUciMove(answer.best.move, false);
      writeLine(
        isLc0Style
          ? `bestmove ${best}`
          : `Position ${index + 1}: time ${elapsedMs.toFixed(0)} ms, ${searched} nodes, ${nps} nps, move ${best}`,
      );
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
      playoutsPerBatch: gathered.playouts / gathered.batches,
      signature,
      network: network.description,
    };
  } finally {
    await analyst.engine.dispose();
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
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;

/** FNV-1a over (move, visits) of the root moves, in the order of the moves. */
function hashAnswer(hash: number, { stats, best }: Answer): number {
  const rows = [...(stats?.moves ?? [])].sort((a, b) => a.move - b.move);
  const words = [best.move, ...rows.flatMap(({ move, visits }) => [move, visits])];
  return words.reduce((sum, word) => Math.imul(sum ^ word, FNV_PRIME) >>> 0, hash);
}

/** A line of lc0's `benchmark` while it searches. */
function formatProgress({ timeMs, nodes, nps, lines }: SearchReport): string {
  const [move] = lines[0].pv;
  const best = move === undefined ? '' : `, move ${formatUciMove(move, false)}`;
  return `Benchmark time ${timeMs} ms, ${nodes} nodes, ${nps ?? 0} nps${best}`;
}

/** The last lines of lc0's `benchmark`. */
export function formatBenchmark({ seconds, nodes, nps }: BenchResult): string[] {
  return [
    '\n===========================',
    `Total time (ms) : ${Math.round(seconds * 1000)}`,
    `Nodes searched  : ${nodes}`,
    `Nodes/second    : ${nps}`,
  ];
}

export function formatBench(result: BenchResult): string[] {
  return [
    `Network         : ${result.network}`,
    `Total time (ms) : ${Math.round(result.seconds * 1000)}`,
    `Nodes searched  : ${result.nodes}`,
    `Nodes/second    : ${result.nps}`,
    `Evaluations     : ${result.evaluations} (${result.evaluationsPerSecond}/s)`,
    `Collisions      : ${result.collisionPercent.toFixed(2)} % of playouts (walks that ended at a leaf in flight)`,
    `Batches         : ${result.playoutsPerBatch.toFixed(1)} playouts each`,
    `Signature       : ${result.signature}`,
  ];
}

/** The flags of `sardonyx bench` that fit on a line of UCI, with the smallest value of each. */
const LIMIT_FLAGS = { nodes: -1, movetime: -1, 'num-positions': 1 };
const LIMIT_SPECS = Object.keys(LIMIT_FLAGS).map((flag) => ({ flag, uci: flag, kind: 'string' as const }));

/**
 * The `bench` command of a UCI session: `bench [nodes]` with flags, over the options of the session, on a copy of its network. Rejects
 * when the signal ends it.
 */
export async function runBenchWords(
  session: OptionStore,
  words: readonly string[],
  writeLine: (line: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const { settings, positionals } = unwrap(parseFlags(words, [...listOptionSpecs(), ...LIMIT_SPECS]));
  const readLimit = (name: keyof typeof LIMIT_FLAGS): number | undefined => {
    const text = settings.findLast(([flag]) => flag === name)?.[1];
    return text === undefined ? undefined : requireWhole(name, text, LIMIT_FLAGS[name]);
  };
  const options = session.clone();
  unwrap(
    applySettings(
      options,
      settings.filter(([flag]) => !Object.hasOwn(LIMIT_FLAGS, flag)),
    ),
  );
  const nodes = readLimit('nodes') ?? Number(positionals[0] ?? 0);
  if (!Number.isInteger(nodes) || nodes < 0 || positionals.length > 1) {
    throw new Error('bench takes one number, the nodes of each position, and flags');
  }
  const limits: BenchLimits = {
    ...BENCH_DEFAULTS,
    nodes,
    moveTimeMs: readLimit('movetime') ?? BENCH_DEFAULTS.moveTimeMs,
    positions: readLimit('num-positions') ?? BENCH_DEFAULTS.positions,
  };
  const result = await runBench(options, limits, writeLine, {
    signal,
    onWarning: (text) => writeLine(`info string ${text}`),
  });
  for (const line of formatBench(result)) writeLine(line);
}
