/**
 * A game of the user against the engine: settings, moves, clocks, result. It knows no engine and no screen; whoever plays tells
 * it the moves and the time. It can be written to JSON and read again, so that a game survives a closed page.
 */

import { failure, type Result, success, unwrap } from '../../base/util/index.js';
import {
  BLACK,
  computeOutcome,
  type Move,
  type Outcome,
  type Position,
  parseUciMove,
} from '../../chess/rules/index.js';
import { readTags } from './game-names.js';
import { findLineEnd, listUciMoves, type MoveNode, MoveTree } from './move-tree.js';
import { formatTree } from './move-tree-text.js';
import { formatClock, isBlacksTurn } from './page-text.js';

export type PlayerSide = 'white' | 'black';

export interface ClockSettings {
  readonly initialMs: number;
  readonly incrementMs: number;
}

export interface GameSettings {
  readonly user: PlayerSide;
  /** Level of the engine; null = full strength. */
  readonly elo: number | null;
  /** Null = no clock. */
  readonly clock: ClockSettings | null;
  /** How long the engine may think about a move where there is no clock. */
  readonly thinkMs: number;
  readonly startFen: string;
}

type GameEndReason = Exclude<Outcome, 'ongoing'> | 'resignation' | 'time' | 'agreement';

interface GameResult {
  readonly score: '1-0' | '0-1' | '1/2-1/2';
  readonly reason: GameEndReason;
}

/** Remaining milliseconds of White and Black. */
type Clocks = readonly [white: number, black: number];

/** What JSON holds of a game. */
interface SavedGame {
  readonly settings: GameSettings;
  readonly moves: readonly string[];
  /** Before the first move and after each one. */
  readonly clocks: readonly Clocks[];
  readonly result: GameResult | null;
  /** ISO 8601. */
  readonly date: string;
}

const LEAST_THINKING_MS = 200;
/** Of the clock, that the engine may wait before its move. */
const MOST_CLOCK_SHARE = 0.02;

export class PlayedGame {
  readonly tree: MoveTree;
  result: GameResult | null = null;
  private readonly clocks: Clocks[];
  /** When the clock of the player to move began to run; null while no clock runs. */
  private turnBeganAtMs: number | null = null;

  private constructor(
    readonly settings: GameSettings,
    tree: MoveTree,
    readonly date: string,
  ) {
    this.tree = tree;
    const initialMs = settings.clock?.initialMs ?? 0;
    this.clocks = [[initialMs, initialMs]];
  }

  /** The error is the sentence for the user. */
  static create(settings: GameSettings, date: Date): Result<PlayedGame> {
    const tree = MoveTree.create(settings.startFen);
    if (!tree.ok) return tree;
    const outcome = computeOutcome(tree.value.createPosition(tree.value.root));
    if (outcome !== 'ongoing') return failure(`There is nothing left to play in this position: ${OVER[outcome]}`);
    return success(new PlayedGame(settings, tree.value, date.toISOString()));
  }

  /** What the browser kept may be of another version of the page, or damaged. */
  static restore(saved: unknown): Result<PlayedGame> {
    try {
      const { settings, moves, clocks, result, date } = saved as SavedGame;
      const game = unwrap(PlayedGame.create(settings, new Date(date)));
      for (const uci of moves) game.tree.add(game.end, unwrap(parseUciMove(game.position, uci)));
      game.clocks.splice(0, 1, ...clocks.map(([white, black]): Clocks => [white, black]));
      if (clocks.length !== moves.length + 1) return failure('The saved game is damaged');
      game.result = result;
      return success(game);
    } catch {
      return failure('The saved game cannot be read');
    }
  }

  save(): SavedGame {
    const { settings, clocks, result, date } = this;
    return { settings, moves: listUciMoves(this.end), clocks, result, date };
  }

  /** The last position. */
  get end(): MoveNode {
    return findLineEnd(this.tree.root);
  }

  get position(): Position {
    return this.tree.createPosition(this.end);
  }

  get turn(): PlayerSide {
    return this.position.sideToMove === BLACK ? 'black' : 'white';
  }

  get isUserTurn(): boolean {
    return this.result === null && this.turn === this.settings.user;
  }

  /** Stops it, as long as the engine cannot be reached. */
  pauseClock(nowMs: number): void {
    if (this.turnBeganAtMs === null) return;
    const left = this.getRemainingMs(this.turn, nowMs);
    this.setClock(this.turn, left);
    this.turnBeganAtMs = null;
  }

  /** Starts the clock of the player to move, at the start of a game and after a pause. */
  startClock(nowMs: number): void {
    if (this.settings.clock !== null && this.result === null) this.turnBeganAtMs ??= nowMs;
  }

  getRemainingMs(side: PlayerSide, nowMs: number): number {
    const remaining = this.clocks[this.clocks.length - 1][side === 'white' ? 0 : 1];
    const isRunning = this.turnBeganAtMs !== null && this.turn === side && this.result === null;
    return Math.max(0, isRunning ? remaining - (nowMs - (this.turnBeganAtMs ?? nowMs)) : remaining);
  }

  /** How long the engine's move takes at least, so that the user sees it; weak levels find theirs in a millisecond. */
  getLeastThinkingMs(nowMs: number): number {
    const left = this.settings.clock === null ? Number.POSITIVE_INFINITY : this.getRemainingMs(this.turn, nowMs);
    return Math.min(LEAST_THINKING_MS, left * MOST_CLOCK_SHARE);
  }

  /** @param move legal. Nothing happens when the game is over, or is over now because the time is. */
  play(move: Move, nowMs: number): void {
    this.checkClock(nowMs);
    if (this.result !== null) return;
    const { clock } = this.settings;
    const mover = this.turn;
    const left = this.getRemainingMs(mover, nowMs) + (clock?.incrementMs ?? 0);
    const [white, black] = this.clocks[this.clocks.length - 1];
    this.clocks.push(mover === 'white' ? [left, black] : [white, left]);
    this.tree.add(this.end, move);
    this.turnBeganAtMs = clock === null ? null : nowMs;
    const outcome = computeOutcome(this.position);
    if (outcome === 'checkmate') this.finish(mover, outcome);
    else if (outcome !== 'ongoing') this.finish(null, outcome);
  }

  /** Ends the game when the time of the player to move is over. */
  checkClock(nowMs: number): void {
    if (this.settings.clock === null || this.result !== null || this.turnBeganAtMs === null) return;
    const { turn } = this;
    if (this.getRemainingMs(turn, nowMs) > 0) return;
    const opponent = turn === 'white' ? 'black' : 'white';
    this.setClock(turn, 0);
    // Nobody can lose against a bare king.
    this.finish(this.hasBareKing(opponent) ? null : opponent, 'time');
  }

  resign(side: PlayerSide): void {
    if (this.result === null) this.finish(side === 'white' ? 'black' : 'white', 'resignation');
  }

  agreeToDraw(): void {
    if (this.result === null) this.finish(null, 'agreement');
  }

  /** Whether the user has made a move that can be taken back. */
  get canTakeBack(): boolean {
    return this.end.depth >= this.pliesToTakeBack;
  }

  private get pliesToTakeBack(): number {
    return this.turn === this.settings.user ? 2 : 1;
  }

  /** Back to the user's last move, which is taken back as well. The clocks show what they showed then. */
  takeBack(nowMs: number): void {
    if (!this.canTakeBack) return;
    for (let plies = this.pliesToTakeBack; plies > 0; plies--) {
      this.tree.remove(this.end);
      this.clocks.pop();
    }
    this.result = null;
    this.turnBeganAtMs = this.settings.clock === null ? null : nowMs;
  }

  /** @param engineName as it goes into the PGN */
  formatPgn(engineName: string): string {
    const { user, elo, clock } = this.settings;
    const engine = elo === null ? engineName : `${engineName} (level ${elo})`;
    this.tree.headers.set('Event', 'Game against the engine');
    this.tree.headers.set('Date', this.date.slice(0, 10).replaceAll('-', '.'));
    this.tree.headers.set('UTCTime', this.date.slice(11, 19));
    // Tells the games of a browser apart, also two of one second: a game that ends again replaces what was kept of it.
    this.tree.headers.set('GameId', this.date);
    this.tree.headers.set('White', user === 'white' ? 'You' : engine);
    this.tree.headers.set('Black', user === 'black' ? 'You' : engine);
    this.tree.headers.set('Result', this.result?.score ?? '*');
    if (clock !== null) this.tree.headers.set('TimeControl', `${clock.initialMs / 1000}+${clock.incrementMs / 1000}`);
    if (this.result !== null) {
      this.tree.headers.set('Termination', this.result.reason === 'time' ? 'time forfeit' : 'normal');
    }
    return formatTree(this.tree, (node, isBefore) =>
      clock === null || isBefore || node.parent === null ? '' : `[%clk ${this.describeClock(node)}]`,
    );
  }

  /** Remaining time of the player who made the move, as lichess writes it. */
  private describeClock({ depth, fen }: MoveNode): string {
    const [white, black] = this.clocks[depth];
    const seconds = Math.round((isBlacksTurn(fen) ? white : black) / 1000);
    const parts = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
    return parts.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':');
  }

  private setClock(side: PlayerSide, remainingMs: number): void {
    const [white, black] = this.clocks[this.clocks.length - 1];
    this.clocks[this.clocks.length - 1] = side === 'white' ? [remainingMs, black] : [white, remainingMs];
  }

  private finish(winner: PlayerSide | null, reason: GameEndReason): void {
    this.result = { score: winner === null ? '1/2-1/2' : winner === 'white' ? '1-0' : '0-1', reason };
    this.turnBeganAtMs = null;
  }

  private hasBareKing(side: PlayerSide): boolean {
    const pieces = this.end.fen.split(' ')[0].replace(/[^a-z]/gi, '');
    return [...pieces].filter((letter) => (letter === letter.toUpperCase()) === (side === 'white')).length === 1;
  }
}

const REASONS: Readonly<Record<GameEndReason, string>> = {
  checkmate: 'by checkmate',
  stalemate: 'by stalemate',
  'insufficient-material': 'because neither side can mate',
  'fifty-moves': 'by the fifty-move rule',
  threefold: 'by repetition',
  resignation: 'by resignation',
  time: 'on time',
  agreement: 'by agreement',
};

const OVER: Readonly<Record<Exclude<Outcome, 'ongoing'>, string>> = {
  checkmate: 'it is checkmate',
  stalemate: 'it is stalemate',
  'insufficient-material': 'neither side can mate',
  'fifty-moves': 'fifty moves have passed without a capture or pawn move',
  threefold: 'it occurred three times',
};

/** "2026.01.01 You – Engine 1-0" */
export function nameFinished(pgn: string): string {
  const tags = readTags(pgn);
  const read = (tag: string): string => tags.get(tag) ?? '?';
  return `${read('Date')} ${read('White')} – ${read('Black')} ${read('Result')}`;
}

/** Finished games as PGN: the first ones, and those of the second that are not among them. */
export function mergeArchives(first: readonly string[], second: readonly string[]): string[] {
  const known = new Set(first.map(readId));
  return [...first, ...second.filter((pgn) => !known.has(readId(pgn)))];
}

function readId(pgn: string): string {
  return readTags(pgn).get('GameId') ?? pgn;
}

/** "You win by checkmate" */
export function describeResult({ score, reason }: GameResult, user: PlayerSide): string {
  if (score === '1/2-1/2') return `Draw ${REASONS[reason]}`;
  const hasWon = (score === '1-0') === (user === 'white');
  return `${hasWon ? 'You win' : 'You lose'} ${REASONS[reason]}`;
}

/** "3:00 + 2 s" */
export function describeControl(clock: ClockSettings | null): string {
  if (clock === null) return 'No clock';
  return `${formatClock(clock.initialMs)}${clock.incrementMs === 0 ? '' : ` + ${clock.incrementMs / 1000} s`}`;
}
