/**
 * Labelling with several engine processes at once. Jobs finish in any order and are written in their own order, so the output
 * does not depend on the number of processes (with engines that are deterministic at fixed nodes). Also plays a labelled game, and
 * draws where it starts.
 */

import { createPrng, failure, mixSeeds, type Prng, type Result, success, unwrap } from '../../base/util/index.js';
import {
  computeOutcome,
  formatFen,
  hasChess960Castling,
  type Move,
  Position,
  parseFen,
  parseUciMove,
} from '../../chess/rules/index.js';
import type { EngineSpec } from '../engines/index.js';
import { EngineError, UciClient } from '../engines/index.js';
import { type Book, createOpeningPosition, openBook } from '../openings/index.js';
import type { ResultText } from '../play/index.js';
import {
  chooseWanderingMove,
  type LabelFiles,
  type LabelledGameRecord,
  listLegalUciMoves,
  scorePosition,
  type WanderRates,
} from './label-files.js';
import type { LabelNetwork } from './label-network.js';
import type { LabelSettings, StartSource } from './label-settings.js';

/** What one engine does at a time: a game to play, or a game whose positions are to be scored. */
export interface LabelJob {
  /** For messages: "playing game 3". */
  readonly task: string;
  /** Throws an EngineError when the engine fails; the job is then done again with a new process. */
  label(engine: UciClient): Promise<readonly LabelledGameRecord[]>;
}

export interface LabelRun {
  readonly engine: EngineSpec;
  readonly multiPv: number;
  readonly files: LabelFiles;
  /** In the order in which their lines are written. */
  readonly jobs: AsyncIterator<LabelJob, void, void>;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** After every job written. */
  onProgress(): void;
  onWarning(text: string): void;
}

/** An engine that crashes this often in one job ends the run. */
const ATTEMPTS_PER_JOB = 3;

/**
 * The games of a run that plays them, from `first` up to but not including `games`.
 * @param network whose evaluation without search is compared with the scores; null = none
 */
export async function* createGameJobs(
  settings: LabelSettings,
  books: StartBooks,
  network: LabelNetwork | null,
  first: number,
  games: number,
): AsyncGenerator<LabelJob, void, void> {
  for (let game = first; game < games; game++) {
    yield {
      task: `playing game ${game + 1}`,
      label: async (engine) => {
        const record = await playLabelledGame(engine, settings, books, game);
        return network === null ? [record] : network.addSurprise([record]);
      },
    };
  }
}

/** Resolves when all jobs are on disk or the signal has come; throws an EngineError when the engine does not work. */
export async function runLabelling(run: LabelRun): Promise<void> {
  const { files } = run;
  const waiting = new Map<number, readonly LabelledGameRecord[]>();
  let taken = 0;
  let written = 0;
  const stop = new AbortController();
  const isStopped = (): boolean => run.signal.aborted || stop.signal.aborted;

  const work = async (engine: EngineHolder): Promise<void> => {
    while (!isStopped()) {
      const next = await run.jobs.next();
      if (next.done === true || isStopped()) return;
      const number = taken++;
      const records = await labelWithRestarts(run, engine, next.value, isStopped);
      if (records === null) return;
      waiting.set(number, records);
      for (let ready = waiting.get(written); ready !== undefined; ready = waiting.get(written)) {
        waiting.delete(written++);
        files.append(ready);
        run.onProgress();
      }
    }
  };

  const engines = Array.from({ length: Math.max(1, run.concurrency) }, () => new EngineHolder(run.engine));
  const closeAll = async (): Promise<void> => {
    await Promise.all(engines.map((engine) => engine.close()));
  };
  const abort = (): void => void closeAll();
  run.signal.addEventListener('abort', abort);
  try {
    await Promise.all(
      engines.map((engine) =>
        work(engine).catch((error) => {
          stop.abort();
          throw error;
        }),
      ),
    );
  } finally {
    run.signal.removeEventListener('abort', abort);
    await closeAll();
    await run.jobs.return?.();
  }
}

async function labelWithRestarts(
  run: LabelRun,
  engine: EngineHolder,
  job: LabelJob,
  isStopped: () => boolean,
): Promise<readonly LabelledGameRecord[] | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await job.label(await engine.get(run.multiPv));
    } catch (error) {
      if (isStopped()) return null;
      // A program that has not started once will not start the next time.
      if (!(error instanceof EngineError) || attempt === ATTEMPTS_PER_JOB || !engine.hasStarted) throw error;
      run.onWarning(`${error.message}; ${job.task} again`);
      await engine.close();
    }
  }
}

/** One engine process, started when needed and again after it was closed. */
class EngineHolder {
  private client: Promise<UciClient> | null = null;
  hasStarted = false;

  constructor(private readonly spec: EngineSpec) {}

  async get(multiPv: number): Promise<UciClient> {
    this.client ??= UciClient.start({ ...this.spec, options: [['MultiPV', String(multiPv)], ...this.spec.options] });
    const client = await this.client;
    this.hasStarted = true;
    return client;
  }

  async close(): Promise<void> {
    const client = this.client;
    this.client = null;
    await client?.then((running) => running.close()).catch(() => undefined);
  }
}

// Plays one labelled game: an engine scores every position (MultiPV, fixed nodes), and chooseWanderingMove chooses the move.
// The game ends by the laws of chess, when one side stays far ahead, or by length. Everything random follows from the seed and
// the number of the game.

export async function playLabelledGame(
  engine: UciClient,
  settings: LabelSettings,
  books: StartBooks,
  gameIndex: number,
): Promise<LabelledGameRecord> {
  const prng = createPrng(mixSeeds(settings.seed, gameIndex));
  const { position, randomPlies } = drawStart(books, settings.sources, prng);
  const rates: WanderRates = {
    wander: drawBetween(prng, settings.wander),
    blunder: drawBetween(prng, settings.blunder),
    temperatureCp: settings.temperatureCp,
  };
  const isPlayedOut = prng.nextFloat() < settings.playOut;
  const fen = formatFen(position);
  const moves: string[] = [];
  const isChess960 = hasChess960Castling(position);
  const plies: [string, [string, number][]][] = [];
  let hopelessPlies = 0;
  let whiteScore = 0;

  engine.setChess960(isChess960);
  await engine.newGame();
  while (plies.length < settings.maxPlies && computeOutcome(position) === 'ongoing') {
    const legal = listLegalUciMoves(position, isChess960);
    let played: string;
    if (plies.length < randomPlies) {
      played = legal[prng.nextBelow(legal.length)];
      plies.push([played, []]);
    } else {
      const scored = await scorePosition(engine, fen, moves, legal, settings.nodes);
      played = chooseWanderingMove(prng, scored, legal, rates);
      plies.push([played, scored.map(({ move, score }) => [move, score])]);
      whiteScore = position.sideToMove === 0 ? scored[0].score : -scored[0].score;
      hopelessPlies = Math.abs(whiteScore) >= settings.resignCp ? hopelessPlies + 1 : 0;
    }
    position.makeMove(requireMove(position, played));
    moves.push(played);
    if (!isPlayedOut && hopelessPlies >= settings.resignPlies) break;
  }
  const resigned = hopelessPlies >= settings.resignPlies ? (whiteScore > 0 ? '1-0' : '0-1') : '*';
  return { fen, result: resultByRule(position) ?? resigned, plies };
}

function resultByRule(position: Position): ResultText | null {
  const outcome = computeOutcome(position);
  if (outcome === 'ongoing') return null;
  if (outcome === 'checkmate') return position.sideToMove === 0 ? '0-1' : '1-0';
  return '1/2-1/2';
}

function requireMove(position: Position, text: string): Move {
  const move = parseUciMove(position, text);
  if (!move.ok) throw new Error(move.error);
  return move.value;
}

function drawBetween(prng: Prng, [least, most]: readonly [number, number]): number {
  return least + prng.nextFloat() * (most - least);
}

// Draws where a labelled game starts: a source by weight, a line of it, and how many random plies follow.

// Random positions of few pieces, because labelled games from books rarely reach endgames. It chooses the material at random
// and places it until the position is legal, without check and not over.

const PIECES = 'qrrbbnn';
const MOST_PIECES = 2;
const MOST_PAWNS = 4;

export function createRandomEndgame(prng: Prng): string {
  for (;;) {
    const fen = placeRandomPieces(prng);
    const position = parseFen(fen);
    if (position.ok && !position.value.inCheck() && computeOutcome(position.value) === 'ongoing') return fen;
  }
}

function placeRandomPieces(prng: Prng): string {
  const board: string[] = new Array(64).fill('');
  const place = (letter: string, ranks: readonly [from: number, to: number]): void => {
    for (;;) {
      const square = 8 * (ranks[0] + prng.nextBelow(ranks[1] - ranks[0] + 1)) + prng.nextBelow(8);
      if (board[square] !== '') continue;
      board[square] = letter;
      return;
    }
  };
  const isWhite = [true, false];
  const pawns = prng.nextBelow(MOST_PAWNS + 1);
  for (const white of isWhite) {
    const paint = (letter: string): string => (white ? letter.toUpperCase() : letter);
    place(paint('k'), [0, 7]);
    for (let i = prng.nextBelow(MOST_PIECES + 1); i > 0; i--)
      place(paint(PIECES[prng.nextBelow(PIECES.length)]), [0, 7]);
    // Nearly equal numbers of pawns: far from it, the result would only be material.
    for (let i = Math.max(0, pawns + prng.nextBelow(3) - 1); i > 0; i--) place(paint('p'), [1, 6]);
  }
  const ranks = [7, 6, 5, 4, 3, 2, 1, 0].map((rank) =>
    board
      .slice(8 * rank, 8 * rank + 8)
      .map((letter) => letter || '1')
      .join('')
      .replace(/1+/g, (run) => String(run.length)),
  );
  return `${ranks.join('/')} ${prng.nextBelow(2) === 0 ? 'w' : 'b'} - - 0 1`;
}

/** The opened book of each source; null for `startpos` and `endgames`. */
export type StartBooks = readonly (Book | null)[];

export async function openStartBooks(sources: readonly StartSource[]): Promise<Result<StartBooks>> {
  if (!sources.some(({ weight }) => weight > 0)) return failure('No source of starting positions has a weight above 0');
  const books: (Book | null)[] = [];
  for (const { book } of sources) {
    if (book === 'startpos' || book === 'endgames') {
      books.push(null);
      continue;
    }
    const opened = await openBook(book);
    if (!opened.ok) return opened;
    books.push(opened.value);
  }
  return success(books);
}

/** Throws one sentence that names the line if a line of a book is damaged. */
export function drawStart(
  books: StartBooks,
  sources: readonly StartSource[],
  prng: Prng,
): { position: Position; randomPlies: number } {
  let rest = prng.nextFloat() * sources.reduce((sum, { weight }) => sum + weight, 0);
  let chosen = 0;
  while (chosen < sources.length - 1 && rest >= sources[chosen].weight) rest -= sources[chosen++].weight;
  const source = sources[chosen];
  const [least, most] = source.randomPlies;
  const randomPlies = least + prng.nextBelow(most - least + 1);
  const book = books[chosen];
  if (book !== null) {
    const opening = createOpeningPosition(unwrap(book.read(prng.nextBelow(book.size))));
    // The output holds only a FEN, so the game must start without history too.
    return { position: unwrap(parseFen(formatFen(opening))), randomPlies };
  }
  const position = source.book === 'endgames' ? unwrap(parseFen(createRandomEndgame(prng))) : new Position();
  return { position, randomPlies };
}

/** `PATH`, `PATH:WEIGHT`, `PATH:WEIGHT:PLIES` or `PATH:WEIGHT:LEAST-MOST`; the path may hold colons of its own. */
export function parseStartSource(text: string): Result<StartSource> {
  const match = /^(.+?)(?::(\d+(?:\.\d+)?)(?::(\d+)(?:-(\d+))?)?)?$/.exec(text);
  if (match === null) return failure(`"${text}" is not of the form PATH:WEIGHT:LEAST-MOST`);
  const least = Number(match[3] ?? 0);
  const most = Number(match[4] ?? match[3] ?? 0);
  if (most < least) return failure(`"${text}": ${least}-${most} is not a range`);
  return success({ book: match[1], weight: Number(match[2] ?? 1), randomPlies: [least, most] });
}
