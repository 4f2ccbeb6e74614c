/**
 * Labelling with several engine processes at once. Jobs finish in any order and are written in their own order, so the output
 * does not depend on the number of processes (with engines that are deterministic at fixed nodes).
 */

import { runSideBySide } from '../../base/util/index.js';
import { EngineError, type EngineSpec, UciClient } from '../engines/index.js';
import type { LabelFiles } from './label-files.js';
import type { LabelNetwork } from './label-network.js';
import type { LabelledGameRecord } from './label-record.js';
import type { LabelSettings } from './label-settings.js';
import type { StartBooks } from './label-starts.js';
import { playLabelledGame } from './labelled-game.js';

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
  const signal = AbortSignal.any([run.signal, stop.signal]);

  const work = async (engine: EngineHolder): Promise<void> => {
    while (!signal.aborted) {
      const next = await run.jobs.next();
      if (next.done === true || signal.aborted) return;
      const number = taken++;
      const records = await labelWithRestarts(run, engine, next.value, signal);
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
  signal.addEventListener('abort', () => void closeAll());
  try {
    await runSideBySide(
      engines.length,
      (index) => work(engines[index]),
      () => stop.abort(),
    );
  } finally {
    await closeAll();
    await run.jobs.return?.();
  }
}

async function labelWithRestarts(
  run: LabelRun,
  engine: EngineHolder,
  job: LabelJob,
  signal: AbortSignal,
): Promise<readonly LabelledGameRecord[] | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await job.label(await engine.get(run.multiPv));
    } catch (error) {
      if (signal.aborted) return null;
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
