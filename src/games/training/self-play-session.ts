/**
 * Runs self-play and writes its output: training records, results, PGN, and lc0's report lines. The results file decides
 * which games exist: each game is written to it last, so a run that was killed plays exactly the games that are missing.
 */

import { appendFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { createFolder } from '#platform/folders.js';
import { formatUciMove, type Move, START_FEN } from '../../chess/rules/index.js';
import { type HistoryFill, LC0_FORMATS } from '../../networks/encoding/index.js';
import { DEFAULT_HISTORY_FILL } from '../../networks/nn/options.js';
import type { NodeValue } from '../../search/index.js';
import type { LoggedGame, MatchLog } from '../match/index.js';
import { Standings } from '../match/index.js';
import { createOpeningPosition } from '../openings/index.js';
import {
  computeCentipawns,
  countWhiteHalfPoints,
  formatGame,
  type NetworkPool,
  type NetworkPools,
  type ResultText,
} from '../play/index.js';
import { attachGameLine, type GameLine, type SearchValue, V6GameRecorder } from '../records/index.js';
import { computeElo, computeNormalProbability, type GameCounts } from '../statistics/index.js';
import type { SearchedMove, SearchRecord, SelfPlayGame } from './self-play-game.js';
import { isPlayer1White, runSelfPlay, type SelfPlayRun } from './self-play-run.js';

// What lc0's self-play prints for the client that drives it, word for word (selfplay/loop.cc).

const RESULT_WORDS: Readonly<Record<ResultText, string>> = {
  '1-0': 'whitewon',
  '0-1': 'blackwon',
  '1/2-1/2': 'draw',
};

export function formatResignReport(threshold: number): string {
  return `resign_report fp_threshold ${threshold.toFixed(6)}`;
}

/** @param trainingFile '' = none was written */
export function formatGameReady(
  index: number,
  game: SelfPlayGame,
  player1White: boolean,
  trainingFile: string,
): string {
  const { opening, played, end } = game;
  const words = ['gameready'];
  if (trainingFile !== '') words.push('trainingfile', trainingFile);
  words.push('gameid', String(index), 'play_start_ply', String(opening.moves.length));
  words.push('player1', player1White ? 'white' : 'black', 'result', RESULT_WORDS[end.result]);
  // lc0 writes castling as king takes rook here.
  const moves = [...opening.moves, ...played.map(({ move }) => move)].map((move) => formatUciMove(move, true));
  if (moves.length > 0) words.push('moves', ...moves);
  if (opening.fen !== START_FEN) words.push('from_fen', opening.fen);
  return words.join(' ');
}

/** A move and the search behind it, marked with player, game and side (chess/uciloop.cc). */
export function formatThought(index: number, player1White: boolean, { isBlack, info, move }: SearchedMove): string[] {
  const player = isBlack === player1White ? 2 : 1;
  const marks = `player ${player} gameid ${index} side ${isBlack ? 'black' : 'white'}`;
  const best = `bestmove ${formatUciMove(move, false)} ${marks}`;
  if (info === null) return [best];
  const [line] = info.lines;
  const words = [`info ${marks} depth`, info.depth, 'seldepth', info.seldepth, 'time', info.timeMs];
  words.push(
    'nodes',
    info.nodes,
    'score',
    line.mate === null ? `cp ${computeCentipawns(line.wl)}` : `mate ${line.mate}`,
  );
  if (info.nps !== null) words.push('nps', info.nps);
  words.push('tbhits', info.tbHits, 'pv', ...line.pv.map((pvMove) => formatUciMove(pvMove as Move, false)));
  return [words.join(' '), best];
}

export interface TournamentCounts {
  /** Of player 1, by the colour it had. */
  readonly asWhite: GameCounts;
  readonly asBlack: GameCounts;
  readonly playouts: number;
  readonly moves: number;
}

export function formatTournamentStatus(
  { asWhite, asBlack, playouts, moves }: TournamentCounts,
  final: boolean,
): string {
  const wins = asWhite.wins + asBlack.wins;
  const losses = asWhite.losses + asBlack.losses;
  const draws = asWhite.draws + asBlack.draws;
  const score = (wins + draws / 2) / (wins + losses + draws);
  let text = `tournamentstatus${final ? ' final' : ''} P1: ${formatCounts({ wins, losses, draws })}`;
  if (score > 0) text += ` Win: ${pad(100 * score)}%`;
  if (score > 0 && score < 1) text += ` Elo: ${pad(computeElo(score))}`;
  if (wins + losses > 0) {
    text += ` LOS: ${pad(100 * computeNormalProbability((wins - losses) / Math.sqrt(wins + losses)))}%`;
  }
  const npm = (playouts / Math.max(moves, 1)).toFixed(6);
  return `${text} P1-W: ${formatCounts(asWhite)} P1-B: ${formatCounts(asBlack)} npm ${npm} nodes ${playouts} moves ${moves}`;
}

function formatCounts({ wins, losses, draws }: GameCounts): string {
  return `+${wins} -${losses} =${draws}`;
}

function pad(value: number): string {
  return value.toFixed(2).padStart(5);
}

export interface SelfPlayOutput {
  /** Folder of the training files; null = none are written. */
  readonly trainingFolder: string | null;
  readonly log: MatchLog;
  /** lc0's tournament results are appended to this file at the end; null = no. */
  readonly tournamentFile: string | null;
  /** Event tag of the PGN. */
  readonly event: string;
  /** Called with each line of lc0's report as it is made. */
  onLine(line: string): void;
  onProgress(summary: SelfPlaySummary): void;
  /** Also writes two lines for each move: the last `info` of its search and `bestmove`. */
  readonly showsThinking: boolean;
}

export interface SelfPlaySummary {
  /** All games, those of earlier runs included; the other numbers count this run only. */
  readonly games: number;
  readonly wins: number;
  readonly draws: number;
  readonly losses: number;
  readonly moves: number;
  readonly playouts: number;
  readonly records: number;
  readonly evaluations: number;
  readonly seconds: number;
  readonly reasons: Readonly<Record<string, number>>;
}

type Job = Omit<SelfPlayRun, 'isDone' | 'onGame' | 'onThought'>;

/** @param pools where the players' networks are opened; the caller closes them */
export async function playSelfPlaySession(
  job: Job,
  output: SelfPlayOutput,
  pools: NetworkPools,
): Promise<SelfPlaySummary> {
  const session = new Session(job, output);
  for (const { network } of job.players) session.usePool(await pools.open(network), network.name);
  await runSelfPlay(
    {
      ...job,
      isDone: (game) => session.standings.has(game),
      onGame: (index, game) => session.finish(index, game),
      onThought: (index, thought) => {
        if (output.showsThinking) formatThought(index, isPlayer1White(index), thought).forEach(output.onLine);
      },
    },
    pools,
  );
  if (!job.signal.aborted) {
    output.onLine(session.formatStatus(true));
    if (output.tournamentFile !== null) appendFileSync(output.tournamentFile, session.formatResults());
  }
  return session.summarise();
}

class Session {
  readonly standings = new Standings();
  /** Called when the networks are loaded. */
  private startedAt = performance.now();
  private readonly pools = new Set<NetworkPool>();
  private readonly names: string[] = [];
  private recordFormat = 'lc0-112';
  private moves = 0;
  private playouts = 0;
  private records = 0;

  constructor(
    private readonly job: Job,
    private readonly output: SelfPlayOutput,
  ) {
    for (const { game, result, reason } of output.log.earlier) this.standings.add(game, { result, reason });
  }

  /** @param otherName name of a network without a file */
  usePool(pool: NetworkPool, otherName: string): void {
    this.names.push(pool.networkName ?? otherName);
    if (this.pools.size === 0) this.recordFormat = chooseRecordFormat(pool.evaluators.network.inputEncoding);
    this.pools.add(pool);
    this.startedAt = performance.now();
  }

  async finish(index: number, game: SelfPlayGame): Promise<void> {
    const { output, job } = this;
    let trainingFile = '';
    if (output.trainingFolder !== null) {
      const historyFill = job.players[0].network.pool.historyFill ?? DEFAULT_HISTORY_FILL;
      const records = createTrainingRecords(game, this.recordFormat, historyFill);
      trainingFile = await writeTrainingFile(output.trainingFolder, index, records);
    }
    output.log.add(this.describe(index, game), this.formatPgn(index, game));
    this.standings.add(index, game.end);
    this.moves += game.played.length;
    this.playouts += game.playouts;
    this.records += game.records.length;
    if (game.falsePositiveThreshold !== null) output.onLine(formatResignReport(game.falsePositiveThreshold));
    output.onLine(formatGameReady(index, game, isPlayer1White(index), trainingFile));
    output.onLine(this.formatStatus(false));
    output.onProgress(this.summarise());
  }

  formatStatus(isFinal: boolean): string {
    const [asWhite, asBlack] = this.standings.gamesByColor;
    return formatTournamentStatus({ asWhite, asBlack, playouts: this.playouts, moves: this.moves }, isFinal);
  }

  /** lc0's results of a tournament: wins, losses and draws of White, for each order of the players. */
  formatResults(): string {
    const [asWhite, asBlack] = this.standings.gamesByColor;
    const [first, second] = this.names;
    const format = (white: string, black: string, { wins, losses, draws }: GameCounts): string =>
      `\n[White "${white}"]\n[Black "${black}"]\n[Results "${wins} ${losses} ${draws}"]\n`;
    const ofSecond = { wins: asBlack.losses, losses: asBlack.wins, draws: asBlack.draws };
    return format(first, second, asWhite) + format(second, first, ofSecond);
  }

  summarise(): SelfPlaySummary {
    let evaluations = 0;
    for (const { queue } of this.pools) evaluations += queue.counters.evaluations;
    return {
      games: this.standings.played,
      ...this.standings.games,
      moves: this.moves,
      playouts: this.playouts,
      records: this.records,
      evaluations,
      seconds: (performance.now() - this.startedAt) / 1000,
      reasons: this.standings.reasonCounts,
    };
  }

  private orderNames(index: number): [white: string, black: string] {
    const [first, second] = this.names;
    return isPlayer1White(index) ? [first, second] : [second, first];
  }

  private describe(index: number, game: SelfPlayGame): LoggedGame {
    const [white, black] = this.orderNames(index);
    const plies = game.opening.moves.length + game.played.length;
    const { falsePositiveThreshold } = game;
    const resignation = falsePositiveThreshold === null ? {} : { falsePositiveThreshold };
    return { game: index, white, black, opening: game.opening.origin, ...game.end, plies, ...resignation };
  }

  private formatPgn(index: number, game: SelfPlayGame): string {
    const [white, black] = this.orderNames(index);
    return formatGame({
      event: this.output.event,
      date: new Date().toISOString().slice(0, 10).replaceAll('-', '.'),
      round: String(index + 1),
      white,
      black,
      timeControls: ['-', '-'],
      chess960: this.job.settings.chess960,
      opening: game.opening,
      played: game.played,
      end: game.end,
    });
  }
}

// Writes a finished self-play game as lc0 training records (V6), gzipped, one file a game. It replays the game to make the
// records, so that running games need not keep 8 kilobytes a position.

const compress = promisify(gzip);

/** The format of the records: the network's own if it is one of lc0's, else the classical one, from which others can be made. */
export function chooseRecordFormat(networkInput: string): string {
  return LC0_FORMATS.some(({ name }) => name === networkInput) ? networkInput : 'lc0-112';
}

export interface TrainingRecords {
  readonly bytes: Buffer;
  readonly line: GameLine;
}

export function createTrainingRecords(game: SelfPlayGame, format: string, historyFill: HistoryFill): TrainingRecords {
  const recorder = new V6GameRecorder(format, historyFill);
  const position = createOpeningPosition(game.opening);
  const bookPlies = game.opening.moves.length;
  const records = new Map<number, SearchRecord[]>(); // surprising positions have several
  for (const record of game.records) records.set(record.ply, [...(records.get(record.ply) ?? []), record]);
  const moves = [...game.opening.moves, ...game.played.map(({ move }) => move)];
  const plies: number[] = [];
  for (const [i, { move }] of game.played.entries()) {
    const ply = bookPlies + i;
    for (const record of records.get(ply) ?? []) {
      plies.push(ply);
      recorder.add(position, ply, {
        moves: record.moves,
        visits: record.visits,
        priors: record.priors,
        played: record.played as Move,
        best: record.best as Move,
        root: toSearchValue(record.root),
        bestValue: toSearchValue(record.bestValue),
        playedValue: toSearchValue(record.playedValue),
        network: toSearchValue(record.own),
        isBestProven: record.isBestProven,
        rootVisits: record.rootVisits,
      });
    }
    position.makeMove(move);
  }
  const bytes = recorder.finish({
    whiteResult: countWhiteHalfPoints(game.end.result) - 1,
    plies: bookPlies + game.played.length,
    isAdjudicated: game.isAdjudicated,
    isTooLong: game.end.reason === 'max-plies',
  });
  return { bytes, line: { fen: game.opening.fen, moves: moves.map((move) => formatUciMove(move, true)), plies } };
}

function toSearchValue({ wl, d, m }: NodeValue): SearchValue {
  return { q: wl, d, m };
}

/** lc0's name of a game's file in its folder. */
export function formatTrainingName(index: number): string {
  return `game_${String(index).padStart(6, '0')}.gz`;
}

/** @returns the path; the file appears whole or not at all. An empty game writes nothing and returns ''. */
export async function writeTrainingFile(folder: string, index: number, records: TrainingRecords): Promise<string> {
  if (records.bytes.length === 0) return '';
  const path = join(folder, formatTrainingName(index));
  createFolder(folder);
  await writeFile(`${path}.tmp`, attachGameLine(await compress(records.bytes), records.line));
  await rename(`${path}.tmp`, path);
  return path;
}
