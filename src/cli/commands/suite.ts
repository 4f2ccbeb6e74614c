/** `sardonyx suite`: how many positions of a test suite (Win at Chess, STS, Bratko-Kopec …) the engine solves. */
import { describeReadFailure } from '#platform/files.js';
import {
  BrokenInput,
  cutText,
  decodeText,
  failure,
  RefusedInput,
  type Result,
  success,
  unwrap,
} from '../../base/util/index.js';
import { formatEvaluation, openGameTexts, readPositionLines } from '../../chess/pgn/index.js';
import {
  formatSan,
  type Move,
  type Position,
  parseEpdLine,
  parseFen,
  parseSan,
  parseUciMove,
} from '../../chess/rules/index.js';
import { enginePorts } from '../../engine/app/index.js';
import { Analyst, type GoRequest, type Score } from '../../engine/core/index.js';
import { isHopeless, readChunks } from '../../games/records/index.js';
import { declareCommand, onOff, requiredText, whole } from '../declare-command.js';
import { readEngineFlags } from '../engine-flags.js';
import { createProgressBar, NoteList, printJson, printLine, printNote } from '../output.js';

/** Far more than a suite has, at a second each. */
const MOST_POSITIONS = 1_000_000;

interface Attempt {
  readonly id: string;
  readonly fen: string;
  readonly task: string;
  /** The engine's move, in SAN. */
  readonly move: string;
  readonly score: Score;
  readonly nodes: number;
  readonly timeMs: number;
  readonly isSolved: boolean;
}

export const suiteCommand = declareCommand({
  command: 'suite <file>',
  describe: 'Solve the positions of a test suite (EPD with bm or am)',
  words: {
    file: requiredText('EPD file, one position a line'),
  },
  // biome-ignore format: a row a flag
  flags: {
    movetime: whole({ min: 1, default: 1000 }, 'Milliseconds for each position'),
    nodes: whole({ min: 0, default: 0 }, 'Nodes for each position, instead of a time; 0 = use the time'),
    json: onOff('Print the result of every position as JSON'),
  },
  engineFlags: 'named',
  run: async (args, given) => {
    const positions = await readSuite(args.file);
    const request: GoRequest = args.nodes > 0 ? { nodes: args.nodes } : { moveTimeMs: args.movetime };
    const options = await readEngineFlags(given);
    // No move is played, and each position should get its whole time.
    if (!given.has('smart-pruning-factor')) options.set('SmartPruningFactor', '0');
    if (!given.has('move-overhead')) options.set('MoveOverheadMs', '0');
    const analyst = new Analyst(options, enginePorts, printNote);
    try {
      await analyst.load();
      const attempts = await solve(analyst, positions, request);
      if (args.json) printJson(attempts);
      else for (const line of formatAttempts(attempts)) printLine(line);
    } finally {
      await analyst.engine.dispose();
    }
  },
});

/** Lines without a valid position are reported on stderr and skipped, and so is what cannot be read of a packed file. */
async function readSuite(file: string): Promise<SuitePosition[]> {
  const positions: SuitePosition[] = [];
  const notes = new NoteList();
  let unreadable = 0;
  try {
    const texts = decodeText(readChunks(file, () => undefined, 'positions'));
    const { kind, all } = await openGameTexts(texts, 'positions');
    if (kind === 'games') throw new RefusedInput('it holds games, and a suite is a list of positions (EPD)');
    for await (const { text, number } of readPositionLines(all)) {
      const dropped: string[] = [];
      const position = parseSuiteLine(text, number, dropped);
      for (const note of dropped) notes.add(`${file}, line ${number}: ${note}`);
      if (position.ok) positions.push(position.value);
      else {
        notes.add(`${file}, line ${number} is left out: ${position.error}`);
        if (isHopeless(++unreadable, positions.length)) throw new BrokenInput('almost none of its lines can be read');
      }
      if (positions.length > MOST_POSITIONS) throw new BrokenInput(`it has more than ${MOST_POSITIONS} positions`);
    }
  } catch (error) {
    const why = describeReadFailure(error);
    if (positions.length === 0 || error instanceof RefusedInput) throw new Error(`${file} cannot be read: ${why}`);
    notes.add(`The rest of ${file} is not read: ${why}`);
  }
  notes.print();
  if (positions.length === 0) throw new Error(`${file} holds no position with bm or am`);
  return positions;
}

async function solve(analyst: Analyst, positions: readonly SuitePosition[], request: GoRequest): Promise<Attempt[]> {
  const format = '{bar} {value}/{total} positions, {solved} solved, {eta_formatted} left';
  const bar = createProgressBar(format, { clearOnComplete: true });
  let solved = 0;
  if (process.stderr.isTTY) bar.start(positions.length, 0, { solved });
  const attempts: Attempt[] = [];
  try {
    for (const position of positions) {
      analyst.engine.newGame();
      const { best, report } = await analyst.search(position.fen, [], request);
      const isSolved = isSolution(position, best.move);
      const [{ score }] = report.lines;
      const { id, fen, task } = position;
      const move = formatSan(unwrap(parseFen(fen)), best.move);
      attempts.push({ id, fen, task, move, score, nodes: report.nodes, timeMs: report.timeMs, isSolved });
      solved += Number(isSolved);
      bar.increment({ solved });
    }
  } finally {
    bar.stop();
  }
  return attempts;
}

function formatAttempts(attempts: readonly Attempt[]): string[] {
  const missed = attempts.filter(({ isSolved }) => !isSolved);
  const solved = attempts.length - missed.length;
  const nodes = attempts.map((attempt) => attempt.nodes).sort((a, b) => a - b)[Math.floor(attempts.length / 2)];
  const rows = missed.map(
    ({ id, task, move, score }) => `${id}: ${task}, played ${move} (${formatEvaluation(score, false)})`,
  );
  const share = ((100 * solved) / attempts.length).toFixed(1);
  return [...rows, `${solved} of ${attempts.length} solved (${share} %), median ${nodes} nodes a position`];
}

/** One line of a test suite in EPD: a position, the moves that solve it (`bm`), the moves that do not (`am`), its name. */

export interface SuitePosition {
  readonly id: string;
  readonly fen: string;
  /** As the suite writes them: `bm Qg6`, `am Rxb2`. */
  readonly task: string;
  /** Any of these solves it; empty = every move that is not to be avoided. */
  readonly best: readonly Move[];
  readonly avoided: readonly Move[];
}

/**
 * @param lineNumber from 1, the name of a position without an `id`
 * @param notes as of parseFen
 */
export function parseSuiteLine(line: string, lineNumber: number, notes: string[] = []): Result<SuitePosition> {
  const parsed = parseEpdLine(line, notes);
  if (!parsed.ok) return parsed;
  const { fen, operations } = parsed.value;
  const position = unwrap(parseFen(fen));
  const best = parseMoves(position, operations, 'bm');
  if (!best.ok) return best;
  const avoided = parseMoves(position, operations, 'am');
  if (!avoided.ok) return avoided;
  if (best.value.length + avoided.value.length === 0) return failure('There is neither a bm nor an am operation');
  const tasks = ['bm', 'am'].filter((opcode) => operations.has(opcode));
  const task = tasks.map((opcode) => [opcode, ...(operations.get(opcode) ?? [])].join(' ')).join(', ');
  const id = operations.get('id')?.join(' ') || `line ${lineNumber}`;
  return success({ id: cutText(id), fen, task: cutText(task), best: best.value, avoided: avoided.value });
}

export function isSolution({ best, avoided }: SuitePosition, move: Move): boolean {
  return !avoided.includes(move) && (best.length === 0 || best.includes(move));
}

function parseMoves(
  position: Position,
  operations: ReadonlyMap<string, readonly string[]>,
  opcode: string,
): Result<Move[]> {
  const moves: Move[] = [];
  const words = (operations.get(opcode) ?? []).flatMap((operand) => operand.split(/[\s,]+/));
  for (const word of words.map((text) => text.replace(/^\d{1,4}\.{1,9}/, '')).filter((text) => text !== '')) {
    const san = parseSan(position, word);
    const move = san.ok ? san : parseUciMove(position, word);
    if (!move.ok) return failure(`${opcode} ${word.slice(0, 40)}: ${san.ok ? move.error : san.error}`);
    moves.push(move.value);
  }
  return success(moves);
}
