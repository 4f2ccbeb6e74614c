/**
 * Runs self-play and writes its output: training records, results, PGN, and lc0's report lines. The results file decides
 * which games exist: each game is written to it last, so a run that was killed plays exactly the games that are missing.
 */

import { appendFileSync } from 'node:fs';
import { DEFAULT_HISTORY_FILL } from '../../networks/nn/options.js';
import { isFirstPlayerWhite, type MatchLog, Standings } from '../match/index.js';
import type { FinishedGameText, NetworkPool, NetworkPools, NetworkSetup } from '../play/index.js';
import type { GameCounts } from '../statistics/index.js';
import type { SelfPlayGame } from './self-play-game.js';
import { formatGameReady, formatResignReport, formatThought, formatTournamentStatus } from './self-play-report.js';
import { openPlayers, runSelfPlay, type SelfPlayRun } from './self-play-run.js';
import { chooseRecordFormat, writeTrainingFile } from './training-file.js';

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

export interface SelfPlaySummary extends GameCounts {
  /** All games, those of earlier runs included; the other numbers count this run only. */
  readonly games: number;
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
  const session = new Session(job, output, await openPlayers(job.players, pools));
  await runSelfPlay(
    {
      ...job,
      isDone: (game) => session.standings.has(game),
      onGame: (index, game) => session.finish(index, game),
      onThought: (index, thought) => {
        if (output.showsThinking) formatThought(index, thought).forEach(output.onLine);
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
  private readonly startedAt = performance.now();
  private readonly names: readonly string[];
  private readonly recordFormat: string;
  private moves = 0;
  private playouts = 0;
  private records = 0;

  /** @param pools by network; the first player's comes first */
  constructor(
    private readonly job: Job,
    private readonly output: SelfPlayOutput,
    private readonly pools: ReadonlyMap<NetworkSetup, NetworkPool>,
  ) {
    this.names = job.players.map(({ network }) => pools.get(network)?.networkName ?? network.name);
    const [first] = pools.values();
    this.recordFormat = chooseRecordFormat(first.evaluators.network.inputEncoding);
    for (const { game, result, reason } of output.log.earlier) this.standings.add(game, { result, reason });
  }

  async finish(index: number, game: SelfPlayGame): Promise<void> {
    const { output, job } = this;
    let trainingFile = '';
    if (output.trainingFolder !== null) {
      const historyFill = job.players[0].network.pool.historyFill ?? DEFAULT_HISTORY_FILL;
      trainingFile = await writeTrainingFile(output.trainingFolder, index, game, this.recordFormat, historyFill);
    }
    const { falsePositiveThreshold } = game;
    output.log.add(
      index,
      this.describe(index, game),
      falsePositiveThreshold === null ? {} : { falsePositiveThreshold },
    );
    this.standings.add(index, game.end);
    this.moves += game.played.length;
    this.playouts += game.playouts;
    this.records += game.records.length;
    if (falsePositiveThreshold !== null) output.onLine(formatResignReport(falsePositiveThreshold));
    output.onLine(formatGameReady(index, game, trainingFile));
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
    for (const { queue } of new Set(this.pools.values())) evaluations += queue.counters.evaluations;
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

  private describe(index: number, { opening, played, end }: SelfPlayGame): Omit<FinishedGameText, 'date'> {
    const [first, second] = this.names;
    const [white, black] = isFirstPlayerWhite(index) ? [first, second] : [second, first];
    return {
      event: this.output.event,
      round: String(index + 1),
      white,
      black,
      timeControls: ['-', '-'],
      chess960: this.job.settings.chess960,
      opening,
      played,
      end,
    };
  }
}
