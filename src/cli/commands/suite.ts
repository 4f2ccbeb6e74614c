/** `sardonyx suite`: how many positions of a test suite (Win at Chess, STS, Bratko-Kopec …) the engine solves. */
import { describeReadFailure } from '#platform/files.js';
import { BrokenInput, countOf, decodeText, RefusedInput, unwrap } from '../../base/util/index.js';
import { formatEvaluation, openGameTexts, readPositionLines } from '../../chess/pgn/index.js';
import { formatSan, formatUciMove, hasChess960Castling, parseFen } from '../../chess/rules/index.js';
import { enginePorts } from '../../engine/app/index.js';
import { Analyst, type GoRequest, isUnlimited, type Score } from '../../engine/core/index.js';
import { ReadingProblems, readChunks } from '../../games/records/index.js';
import { choice, declareCommand, limit, onOff, requiredText } from '../declare-command.js';
import { readEngineFlags } from '../engine-flags.js';
import {
  createProgressBar,
  INTERRUPTED,
  Interruption,
  NoteList,
  nameInput,
  printJson,
  printLine,
  printNote,
} from '../output.js';
import { readLimits, refuseEndless } from '../search-flags.js';
import {
  isSolution,
  type MateRule,
  PUZZLE_COLUMNS,
  parsePuzzle,
  parseSuiteLine,
  readPuzzleColumns,
  type SuitePosition,
} from './suite-position.js';

/** Far more than a suite has, at a second each. */
const MOST_POSITIONS = 1_000_000;
const TIME_UNASKED_MS = 1000;

interface Attempt extends Pick<SuitePosition, 'id' | 'fen' | 'task' | 'rating' | 'themes'> {
  /** The engine's move, in SAN. */
  readonly move: string;
  readonly score: Score;
  readonly nodes: number;
  readonly timeMs: number;
  readonly isSolved: boolean;
}

export const suiteCommand = declareCommand({
  command: 'suite <file>',
  describe: 'Solve the positions of a test suite (EPD with bm, am or dm, or the puzzles of lichess)',
  words: {
    file: requiredText('EPD file, one position a line, or the CSV file of lichess.org’s puzzles (- for stdin)'),
  },
  // biome-ignore format: a row a flag
  flags: {
    movetime: limit(`Milliseconds for each position; ${TIME_UNASKED_MS} when neither --movetime nor --nodes is given`),
    nodes: limit('Nodes for each position; with --movetime too, whichever comes first'),
    'mate-by': choice(['score', 'move'], 'score', 'When a mate in n (bm #n, dm n) is solved: score = the engine announces one that short; move = such a mate is proved behind its move'),
    json: onOff('Print the result of every position as JSON'),
  },
  engineFlags: 'named',
  run: async (args, given) => {
    const request = readLimits(args, { moveTimeMs: TIME_UNASKED_MS });
    if (isUnlimited(request)) refuseEndless();
    const positions = await readSuite(args.file);
    const options = await readEngineFlags(given);
    // No move is played, and each position should get its whole time.
    if (!given.has('smart-pruning-factor')) options.set('SmartPruningFactor', '0');
    if (!given.has('move-overhead')) options.set('MoveOverheadMs', '0');
    const analyst = new Analyst(options, enginePorts, printNote);
    try {
      await analyst.load();
      const interruption = new Interruption(() => analyst.engine.stop());
      const attempts = await solve(analyst, positions, request, args['mate-by'], interruption.signal);
      interruption.dispose();
      if (args.json) printJson(attempts);
      else if (attempts.length > 0) for (const line of formatAttempts(attempts)) printLine(line);
      if (!interruption.signal.aborted) return;
      printNote(`Interrupted: ${attempts.length} of ${countOf(positions.length, 'position')} searched to the end`);
      process.exitCode = INTERRUPTED;
    } finally {
      await analyst.engine.dispose();
    }
  },
});

/** Lines without a valid position are reported on stderr and skipped, and so is what cannot be read of a packed file. */
async function readSuite(file: string): Promise<SuitePosition[]> {
  const name = nameInput(file);
  const positions: SuitePosition[] = [];
  const notes = new NoteList();
  const unreadable = new ReadingProblems('lines');
  let columns: readonly string[] | null = null;
  let isFirst = true;
  try {
    const texts = decodeText(readChunks(file, 'positions'));
    const { kind, all } = await openGameTexts(texts, 'positions');
    if (kind === 'games') throw new RefusedInput('it holds games, and a suite is a list of positions (EPD)');
    for await (const { text, number } of readPositionLines(all)) {
      columns ??= isFirst ? readPuzzleColumns(text) : null;
      const isHeader = isFirst && columns !== null && columns !== PUZZLE_COLUMNS;
      isFirst = false;
      if (isHeader) continue;
      const dropped: string[] = [];
      const position = columns === null ? parseSuiteLine(text, number, dropped) : parsePuzzle(text, columns, dropped);
      for (const note of dropped) notes.add(`${name}, line ${number}: ${note}`);
      if (position.ok) positions.push(position.value);
      else {
        notes.add(`${name}, line ${number} is left out: ${position.error}`);
        const why = unreadable.add(`line ${number}: ${position.error}`, positions.length);
        if (why !== null) throw new BrokenInput(why);
      }
      if (positions.length > MOST_POSITIONS) throw new BrokenInput(`it has more than ${MOST_POSITIONS} positions`);
    }
  } catch (error) {
    const why = describeReadFailure(error);
    if (positions.length === 0 || error instanceof RefusedInput) throw new Error(`${name} cannot be read: ${why}`);
    notes.add(`The rest of ${name} is not read: ${why}`);
  }
  notes.print();
  if (positions.length === 0) throw new Error(`${name} holds no position with bm, am or dm`);
  return positions;
}

/** @param signal ends it: the position under way does not count */
async function solve(
  analyst: Analyst,
  positions: readonly SuitePosition[],
  request: GoRequest,
  mateBy: MateRule,
  signal: AbortSignal,
): Promise<Attempt[]> {
  const format = '{bar} {value}/{total} positions, {solved} solved, {eta_formatted} left';
  const bar = createProgressBar(format, { clearOnComplete: true });
  let solved = 0;
  bar.start(positions.length, 0, { solved });
  const attempts: Attempt[] = [];
  try {
    for (const position of positions) {
      const attempt = await attemptPosition(analyst, position, request, mateBy);
      if (signal.aborted) break;
      attempts.push(attempt);
      solved += Number(attempt.isSolved);
      bar.increment({ solved });
    }
  } finally {
    bar.stop();
  }
  return attempts;
}

/** Searches once, of a puzzle until a move is wrong. */
async function attemptPosition(
  analyst: Analyst,
  position: SuitePosition,
  request: GoRequest,
  mateBy: MateRule,
): Promise<Attempt> {
  const { id, fen, task, replies = [], rating, themes } = position;
  const game = unwrap(parseFen(fen));
  const isChess960 = hasChess960Castling(game);
  const moves: string[] = [];
  let nodes = 0;
  let timeMs = 0;
  let asked: SuitePosition = position;
  analyst.engine.newGame();
  for (let reply = 0; ; reply += 2) {
    const { best, report } = await analyst.search(fen, moves, request);
    const [{ score }] = report.lines;
    nodes += report.nodes;
    timeMs += report.timeMs;
    const move = formatSan(game, best.move);
    const isSolved = isSolution(asked, best.move, { score, game, mateBy });
    // Any mate ends a puzzle.
    if (!isSolved || reply >= replies.length || move.endsWith('#')) {
      const about = { ...(rating !== undefined && { rating }), ...(themes !== undefined && { themes }) };
      return { id, fen, task, move, score, nodes, timeMs, isSolved, ...about };
    }
    for (const played of [best.move, replies[reply]]) {
      moves.push(formatUciMove(played, isChess960));
      game.makeMove(played);
    }
    asked = { ...position, best: [replies[reply + 1]] };
  }
}

function formatAttempts(attempts: readonly Attempt[]): string[] {
  const missed = attempts.filter(({ isSolved }) => !isSolved);
  const solved = attempts.length - missed.length;
  const nodes = attempts.map((attempt) => attempt.nodes).sort((a, b) => a - b)[Math.floor(attempts.length / 2)];
  const rows = missed.map(({ id, task, move, score, rating, themes = [] }) => {
    const about = rating === undefined ? '' : `; rating ${rating}${themes.length > 0 ? `, ${themes.join(' ')}` : ''}`;
    return `${id}: ${task}, played ${move} (${formatEvaluation(score, false)})${about}`;
  });
  const share = ((100 * solved) / attempts.length).toFixed(1);
  const lengths = attempts.flatMap(({ task, score }) =>
    /#|dm /.test(task) && score.kind === 'mate' ? [score.value] : [],
  );
  const counts = [...new Set(lengths)]
    .sort((a, b) => a - b)
    .map((length) => `#${length}: ${lengths.filter((one) => one === length).length}`);
  if (counts.length > 0) rows.push(`mates announced: ${counts.join(', ')}`);
  return [...rows, `${solved} of ${attempts.length} solved (${share} %), median ${countOf(nodes, 'node')} a position`];
}
