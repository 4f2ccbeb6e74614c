/**
 * `sardonyx analyse`: analyses a position or the games of PGN files, and prints best moves, scores and WDL, annotated PGN or
 * JSON. With `--stdio` it answers queries until stdin ends (see analyse-stdio.ts). Writes search trees as files too.
 */

import { existsSync } from 'node:fs';
import { formatEvaluation } from '../../../chess/pgn/index.js';
import { formatFen, formatUciMove, type Move, START_FEN } from '../../../chess/rules/index.js';
import { enginePorts } from '../../../engine/app/index.js';
import { Analyst, type GoRequest, writesKingTakesRook } from '../../../engine/core/index.js';
import { computeWdl, listWdl, type TreeDump, type TreeDumpLimits } from '../../../search/index.js';
import { declareCommand, onOff, text, texts, type ValuesOf, whole, words } from '../../declare-command.js';
import { type GivenFlags, readEngineFlags, readPosition } from '../../engine-flags.js';
import { printJson, printLine, printNote } from '../../output.js';
import { requireOtherFile, requireWritable, writeOutput } from '../../write-output.js';
import { type AnalysedPosition, analysePosition } from './analyse-games.js';
import { analyseStdio, MOST_PARALLEL, parseModel } from './analyse-stdio.js';

// A search tree as a file: JSON, or a picture for Graphviz (`dot -Tsvg`).

export interface TreeFile {
  /** The root. */
  readonly fen: string;
  /** Castling is written as king takes rook. */
  readonly isChess960: boolean;
  readonly tree: TreeDump;
}

export function isTreeFile(path: string): boolean {
  return /\.(json|dot|gv)$/i.test(path);
}

export async function writeTreeFile(path: string, file: TreeFile): Promise<void> {
  await writeOutput(path, /\.json$/i.test(path) ? formatTreeJson(file) : formatTreeDot(file));
}

const RESULTS = new Map([
  [-1, 'loss'],
  [0, 'draw'],
  [1, 'win'],
]);

export function formatTreeJson({ fen, isChess960, tree }: TreeFile): string {
  const describe = (node: TreeDump): object => ({
    ...(node.move === 0 ? {} : { move: formatUciMove(node.move as Move, isChess960), prior: round(node.prior) }),
    visits: node.visits,
    ...(node.nodeVisits === node.visits ? {} : { nodeVisits: node.nodeVisits }),
    ...(node.visits === 0 ? {} : { q: round(node.wl), wdl: listWdl(computeWdl(node.wl, node.d)) }),
    ...(node.visits === 0 || node.m === null ? {} : { movesLeft: round(node.m) }),
    ...(node.lower === -1 && node.upper === 1 ? {} : { bounds: [RESULTS.get(node.lower), RESULTS.get(node.upper)] }),
    ...(node.terminal === null ? {} : { terminal: node.terminal }),
    ...(node.id === 0 ? {} : { id: node.id }),
    ...(node.isElsewhere ? { transposition: true } : {}),
    ...(node.children.length === 0 ? {} : { children: node.children.map(describe) }),
  });
  return `${JSON.stringify({ fen, root: describe(tree) }, null, 1)}\n`;
}

export function formatTreeDot({ fen, isChess960, tree }: TreeFile): string {
  const lines = [
    'digraph search {',
    `  label=${JSON.stringify(fen)}; labelloc=t; rankdir=LR; node [shape=box fontname=monospace]; edge [fontname=monospace];`,
  ];
  let unnamed = 0;
  const add = (node: TreeDump): string => {
    const name = node.id === 0 ? `leaf${++unnamed}` : `n${node.id}`;
    if (!node.isElsewhere) {
      const { win, draw, loss } = computeWdl(node.wl, node.d);
      const bounds = node.lower === node.upper ? `\\n${RESULTS.get(node.lower)}` : '';
      const value = node.visits === 0 ? '' : `\\n${node.wl.toFixed(3)}\\n${win} ${draw} ${loss}`;
      lines.push(`  ${name} [label="${node.nodeVisits}${value}${bounds}"];`);
    }
    for (const child of node.children) {
      const move = formatUciMove(child.move as Move, isChess960);
      const below = add(child);
      const width = (1 + 4 * (child.visits / Math.max(1, tree.visits))).toFixed(2);
      const label = `${move} ${(100 * child.prior).toFixed(1)}%\\n${child.visits}`;
      lines.push(`  ${name} -> ${below} [label="${label}" penwidth=${width}];`);
    }
    return name;
  };
  add(tree);
  return `${[...lines, '}'].join('\n')}\n`;
}

function round(value: number): number {
  return Number(value.toFixed(6));
}

// biome-ignore format: a row a flag
const FLAGS = {
  nodes: whole({ min: 1, default: 800 }, 'Nodes for each position'),
  movetime: whole({ min: 0, default: 0 }, 'Milliseconds for each position, instead of nodes'),
  pgn: text('Write the games, annotated, to this file as they are finished (- for stdout)'),
  json: onOff('Print the results as JSON'),
  'dump-tree': text('Write the search tree of a position to this file: .json, or .dot for Graphviz'),
  'dump-depth': whole({ min: 0, default: 6 }, 'With --dump-tree: plies below the root'),
  'dump-min-visits': whole({ min: 0, default: 1 }, 'With --dump-tree: leave out moves with fewer visits; 0 = write all moves'),
  stdio: onOff('Answer JSON queries from stdin, one a line; see docs/analysis-engine.md'),
  parallel: whole({ min: 0, max: MOST_PARALLEL, default: 0 }, 'With --stdio: positions searched at the same time; 0 = what suits the backend'),
  'leaves-per-position': whole({ min: 0, default: 0 }, 'With --stdio: leaves of one position evaluated at the same time; 0 = as many as fill the batches, 1 = results that repeat exactly'),
  model: texts('With --stdio: another network, as NAME=FILE, for queries with "model": "NAME"; may be given several times', { defaultDescription: 'none' }),
  'quit-without-waiting': onOff('With --stdio: when stdin ends, answer at once with what has been searched'),
};

type AnalyseArguments = ValuesOf<typeof FLAGS>;

/** Eight ranks are a FEN's, whatever stands before and behind them. */
const A_BOARD = /(?:^|[\s":])[1-9pnbrqk~]+(?:\/[1-9pnbrqk~]+){7}/i;

export const analyseCommand = declareCommand({
  command: ['analyse [input..]', 'analyze'],
  describe: 'Analyse a position (FEN) or the games of PGN files: best moves, scores, WDL',
  words: {
    input: words('A FEN, the word startpos, or PGN files'),
  },
  flags: FLAGS,
  engineFlags: 'named',
  epilogue:
    'Games that cannot be read are reported on stderr and skipped; a game with an illegal move is analysed up to it. ' +
    'The exit status is 1 when no game can be read or the analysis fails.',
  run: async (args, given) => {
    const inputs = args.input.filter((word) => word.trim() !== '');
    if (!args.stdio && args.model.length > 0) throw new Error('--model goes with --stdio');
    if (args.stdio) {
      await answerQueries(args, given, inputs);
      return;
    }
    if (inputs.length === 0) throw new Error('Give a FEN, the word startpos or a PGN file, or --stdio');
    const request: GoRequest = args.movetime > 0 ? { moveTimeMs: args.movetime } : { nodes: args.nodes };
    const text = inputs.join(' ').replace(/^startpos\b/, START_FEN);
    const isLikeFen = A_BOARD.test(text) || (inputs.length === 1 && text.includes('/') && /[\s_]/.test(text));
    const isPosition = isLikeFen && !inputs.some((input) => existsSync(input));
    const position = isPosition ? readPosition(text) : null;
    const startFen = position === null ? '' : formatFen(position);
    const dump = readDumpSettings(args, isPosition);
    if (args.pgn !== undefined) checkPgnFlag(args, given, inputs, isPosition);
    // The PGN reader is loaded only when it is needed.
    const reader = isPosition ? null : await import('./analyse-games.js');
    const options = await readEngineFlags(given);
    const games = await reader?.openGameFiles(inputs, options.getBoolean('UCI_Chess960'));
    const isChess960 = position !== null && writesKingTakesRook(options, position);
    const analyst = new Analyst(options, enginePorts, printNote);
    try {
      await analyst.load();
      if (reader !== null && games !== undefined) await reader.reportGames(analyst, games, request, args);
      else await reportPosition(analyst, startFen, isChess960, request, args.json);
      if (dump !== null) await dumpPosition(analyst, startFen, isChess960, dump);
    } finally {
      await analyst.engine.dispose();
    }
  },
});

async function answerQueries(args: AnalyseArguments, given: GivenFlags, inputs: readonly string[]): Promise<void> {
  if (inputs.length > 0) throw new Error('With --stdio the positions come from stdin');
  const options = await readEngineFlags(given);
  // A query gets all visits that it asks for: smart pruning is off unless the user sets it.
  if (!given.has('smart-pruning-factor')) options.set('SmartPruningFactor', '0');
  await analyseStdio(options, args.model.map(parseModel), {
    parallel: args.parallel,
    leavesPerPosition: args['leaves-per-position'],
    maxVisits: args.movetime > 0 ? null : args.nodes,
    maxTimeMs: args.movetime > 0 ? args.movetime : null,
    quitsWithoutWaiting: args['quit-without-waiting'],
  });
}

function checkPgnFlag(
  { pgn = '', json }: AnalyseArguments,
  given: GivenFlags,
  inputs: readonly string[],
  isPosition: boolean,
): void {
  if (isPosition) throw new Error('--pgn writes games: give a PGN file');
  if (!/^(centipawn|WDL_mu)/i.test(given.get('score-type') ?? 'centipawn')) {
    throw new Error('--pgn writes evaluations in pawns: leave --score-type out');
  }
  if (pgn === '-') {
    if (json) throw new Error('--json and --pgn - both write to stdout: name a file with --pgn');
    return;
  }
  // The output is written while the input is still being read, so they must be different files.
  for (const input of inputs) requireOtherFile('--pgn', pgn, input);
}

interface DumpSettings extends TreeDumpLimits {
  readonly path: string;
}

function readDumpSettings(args: AnalyseArguments, isPosition: boolean): DumpSettings | null {
  const path = args['dump-tree'];
  if (path === undefined) return null;
  if (!isPosition) throw new Error('--dump-tree needs one position: give a FEN');
  if (!isTreeFile(path)) throw new Error('--dump-tree writes .json, or .dot or .gv for Graphviz');
  requireWritable(path);
  return { path, depth: args['dump-depth'], minVisits: args['dump-min-visits'] };
}

async function dumpPosition(
  analyst: Analyst,
  fen: string,
  isChess960: boolean,
  { path, ...limits }: DumpSettings,
): Promise<void> {
  const tree = await analyst.engine.dumpTree(limits);
  if (tree === null) throw new Error('The game is over: there is no tree to write');
  await writeTreeFile(path, { fen, isChess960, tree });
}

async function reportPosition(
  analyst: Analyst,
  startFen: string,
  isChess960: boolean,
  request: GoRequest,
  json: boolean,
): Promise<void> {
  const task = { startFen, isChess960, moves: [], played: null, playedSan: null };
  const position = await analysePosition(analyst, task, request);
  if (json) printJson(position);
  else for (const line of formatPosition(position)) printLine(line);
}

function formatPosition(position: AnalysedPosition): string[] {
  const head = `${position.fen}: depth ${position.depth}, ${position.nodes} nodes`;
  if (position.lines.length === 0) return [head, position.score.kind === 'mate' ? 'Checkmate' : 'The game is drawn'];
  return [
    head,
    ...position.lines.map(({ score, wdl, pvSan }) => {
      return `${formatEvaluation(score, false).padStart(7)}  WDL ${wdl.join(' ').padEnd(12)}  ${pvSan.join(' ')}`;
    }),
  ];
}
