/**
 * `sardonyx analyse`: analyses a position or the games of PGN files, and prints best moves, scores and WDL, annotated PGN or
 * JSON. With `--stdio` it answers queries until stdin ends (see analyse-stdio.ts). Writes search trees as files too.
 */

import { existsSync } from 'node:fs';
import type { SingleBar } from 'cli-progress';
import { formatEvaluation } from '../../../chess/pgn/index.js';
import { formatSanLine, START_FEN } from '../../../chess/rules/index.js';
import { enginePorts } from '../../../engine/app/index.js';
import {
  Analyst,
  type GoRequest,
  isUnlimited,
  type SearchReport,
  writesKingTakesRook,
} from '../../../engine/core/index.js';
import type { TreeDumpLimits } from '../../../search/index.js';
import { declareCommand, limit, onOff, text, texts, type ValuesOf, whole, words } from '../../declare-command.js';
import { type GivenFlags, readEngineFlags } from '../../engine-flags.js';
import { createProgressBar, INTERRUPTED, Interruption, printJson, printLine, printNote } from '../../output.js';
import { type GivenPosition, POSITION_FLAGS, readLimits, readPosition, refuseEndless } from '../../search-flags.js';
import { requireOtherFile, requireWritable } from '../../write-output.js';
import { formatPosition, openGameFiles, reportGames } from './analyse-games.js';
import { analysePosition } from './analyse-position.js';
import { analyseStdio, MOST_PARALLEL, parseModel } from './analyse-stdio.js';
import { isTreeFile, writeTreeFile } from './tree-file.js';

const NODES_UNASKED = 800;
/** On a terminal. */
const PROGRESS_INTERVAL_MS = '250';

// biome-ignore format: a row a flag
const FLAGS = {
  ...POSITION_FLAGS,
  nodes: limit(`Nodes for each position; ${NODES_UNASKED} when neither --nodes nor --movetime is given`),
  movetime: limit('Milliseconds for each position; with --nodes too, whichever comes first'),
  pgn: text('Write the games, annotated, to this file as they are finished (- for stdout)', { notWith: ['stdio'] }),
  json: onOff('Print the results as JSON', false, { notWith: ['stdio'] }),
  'dump-tree': text('Write the search tree of a position to this file: .json, or .dot for Graphviz', { notWith: ['stdio'] }),
  'dump-depth': whole({ min: 0, default: 6, goesWith: ['dump-tree'] }, 'plies below the root'),
  'dump-min-visits': whole({ min: 0, default: 1, goesWith: ['dump-tree'] }, 'leave out moves with fewer visits; 0 = write all moves'),
  stdio: onOff('Answer JSON queries from stdin, one a line; see docs/analysis-engine.md'),
  concurrency: whole({ min: 0, max: MOST_PARALLEL, default: 0, goesWith: ['stdio'], oldNames: ['parallel'] }, 'positions searched at the same time; 0 = what suits the backend'),
  'leaves-per-position': whole({ min: 0, default: 0, goesWith: ['stdio'] }, 'leaves of one position evaluated at the same time; 0 = as many as fill the batches, 1 = results that repeat exactly'),
  model: texts('another network, as NAME=FILE, for queries with "model": "NAME"; may be given several times', { goesWith: ['stdio'], defaultDescription: 'none' }),
  'quit-without-waiting': onOff('when stdin ends, answer at once with what has been searched', false, { goesWith: ['stdio'] }),
};

type AnalyseArguments = ValuesOf<typeof FLAGS>;

/** Eight ranks are a FEN's, whatever stands before and behind them. */
const A_BOARD = /(?:^|[\s":])[1-9pnbrqk~]+(?:\/[1-9pnbrqk~]+){7}/i;

export const analyseCommand = declareCommand({
  command: ['analyse [input..]', 'analyze'],
  describe: 'Analyse a position (FEN) or the games of PGN files: best moves, scores, WDL',
  words: {
    input: words('A FEN, the word startpos, or PGN files (- for stdin)'),
  },
  flags: FLAGS,
  engineFlags: 'named',
  epilogue:
    'Games that cannot be read are reported on stderr and skipped; a game with an illegal move is analysed up to it. ' +
    'The exit status is 1 when no game can be read or the analysis fails. Ctrl-C ends the search and prints what it has found; the ' +
    'status is then 130.',
  run: async (args, given) => {
    const inputs = args.input.filter((word) => word.trim() !== '');
    const request = readLimits(args, { nodes: NODES_UNASKED });
    if (args.stdio) {
      await answerQueries(args, given, inputs, request);
      return;
    }
    const position = readAnalysedPosition(args, inputs);
    if (position === null && isUnlimited(request)) refuseEndless();
    const dump = readDumpSettings(args, position !== null);
    if (args.pgn !== undefined) checkPgnFlag(args, given, inputs, position !== null);
    const options = await readEngineFlags(given);
    const games = position === null ? await openGameFiles(inputs, options.getBoolean('UCI_Chess960')) : null;
    const progress = position === null ? null : new SearchProgress(request, position);
    if (process.stderr.isTTY && !given.has('info-interval')) options.set('InfoIntervalMs', PROGRESS_INTERVAL_MS);
    const analyst = new Analyst(options, enginePorts, printNote, (report) => progress?.show(report));
    try {
      await analyst.load();
      const interruption = new Interruption(() => analyst.engine.stop());
      if (games !== null) await reportGames(analyst, games, request, args, interruption.signal);
      else if (position !== null) {
        const isChess960 = writesKingTakesRook(options, position.position);
        const task = { startFen: position.fen ?? START_FEN, isChess960, moves: position.moves };
        progress?.start();
        const analysed = await analysePosition(analyst, task, request).finally(() => progress?.stop());
        if (args.json) printJson(analysed);
        else for (const line of formatPosition(analysed)) printLine(line);
        if (dump !== null) await dumpPosition(analyst, analysed.fen, isChess960, dump);
      }
      interruption.dispose();
      if (interruption.signal.aborted) process.exitCode = INTERRUPTED;
    } finally {
      await analyst.engine.dispose();
    }
  },
});

/** @returns null when files are to be read; throws one sentence */
function readAnalysedPosition(args: AnalyseArguments, inputs: readonly string[]): GivenPosition | null {
  const isFlagged = args.fen !== undefined || args.moves.length > 0;
  if (inputs.length === 0 && !isFlagged) throw new Error('Give a FEN, the word startpos or a PGN file, or --stdio');
  const text = inputs.join(' ').replace(/^startpos\b/, START_FEN);
  const isLikeFen = A_BOARD.test(text) || (inputs.length === 1 && text.includes('/') && /[\s_]/.test(text));
  const isPosition = inputs.length === 0 || (isLikeFen && !inputs.some((input) => existsSync(input)));
  if (isPosition) return readPosition({ ...args, position: inputs });
  if (isFlagged) throw new Error(`--fen and --moves give one position, and ${inputs[0]} is a file to read`);
  return null;
}

/** The figures by which a user sees that a search goes on, on a terminal. */
class SearchProgress {
  private readonly bar: SingleBar;
  private readonly total: number;

  constructor(
    private readonly request: GoRequest,
    private readonly position: GivenPosition,
  ) {
    const { nodes, moveTimeMs } = request;
    const [measure, end] = nodes !== undefined ? ['nodes', nodes] : ['s', Math.ceil((moveTimeMs ?? 0) / 1000)];
    this.total = end;
    const format = end > 0 ? `{bar} {value}/{total} ${measure}{best}` : '{value} s{best}';
    this.bar = createProgressBar(format, { clearOnComplete: true });
  }

  start(): void {
    this.bar.start(this.total, 0, { best: '' });
  }

  show({ nodes, timeMs, depth, lines: [line] }: SearchReport): void {
    const value = this.request.nodes === undefined ? Math.floor(timeMs / 1000) : Math.min(nodes, this.total);
    const [move = ''] = formatSanLine(this.position.position, line.pv.slice(0, 1));
    this.bar.update(value, { best: `, depth ${depth}, ${move} ${formatEvaluation(line.score, false)}` });
  }

  stop(): void {
    this.bar.stop();
  }
}

async function answerQueries(
  args: AnalyseArguments,
  given: GivenFlags,
  inputs: readonly string[],
  { nodes, moveTimeMs }: GoRequest,
): Promise<void> {
  if (inputs.length > 0 || args.fen !== undefined || args.moves.length > 0)
    throw new Error('With --stdio the positions come from stdin');
  if (nodes === undefined && moveTimeMs === undefined) {
    throw new Error('Give --nodes or --movetime, otherwise a query without a limit would be searched for ever');
  }
  const options = await readEngineFlags(given);
  // A query gets all visits that it asks for: smart pruning is off unless the user sets it.
  if (!given.has('smart-pruning-factor')) options.set('SmartPruningFactor', '0');
  await analyseStdio(options, args.model.map(parseModel), {
    parallel: args.concurrency,
    leavesPerPosition: args['leaves-per-position'],
    maxVisits: nodes ?? null,
    maxTimeMs: moveTimeMs ?? null,
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
