/**
 * Labelling with several engine processes at once. Games finish in any order and are written in order of their number,
 * so the output does not depend on the number of processes (with engines that are deterministic at fixed nodes).
 */
import { EngineError } from '../client/engine-process.js';
import type { EngineSpec } from '../client/engine-spec.js';
import { UciClient } from '../client/uci-client.js';
import type { LabelFiles } from './label-files.js';
import { type LabelledGameRecord, playLabelledGame } from './label-game.js';
import type { LabelSettings } from './label-settings.js';
import type { StartBooks } from './start-books.js';

export interface LabelRun {
  readonly engine: EngineSpec;
  readonly settings: LabelSettings;
  readonly books: StartBooks;
  readonly files: LabelFiles;
  /** Games in all, those of earlier runs included. */
  readonly games: number;
  readonly concurrency: number;
  readonly signal: AbortSignal;
  /** After every game written. */
  onProgress(games: number, plies: number): void;
  onWarning(text: string): void;
}

/** An engine that crashes this often in one game ends the run. */
const ATTEMPTS_PER_GAME = 3;

/** Resolves when all games are on disk or the signal has come; throws an EngineError when the engine does not work. */
export async function runLabelling(run: LabelRun): Promise<void> {
  const { files } = run;
  const waiting = new Map<number, LabelledGameRecord>();
  let nextGame = files.games;
  const stop = new AbortController();
  const isStopped = (): boolean => run.signal.aborted || stop.signal.aborted;

  const playFrom = async (engine: EngineHolder): Promise<void> => {
    while (!isStopped() && nextGame < run.games) {
      const game = nextGame++;
      const record = await playWithRestarts(run, engine, game, isStopped);
      if (record === null) return;
      waiting.set(game, record);
      for (let ready = waiting.get(files.games); ready !== undefined; ready = waiting.get(files.games)) {
        waiting.delete(files.games);
        files.append(ready);
        run.onProgress(files.games, files.plies);
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
        playFrom(engine).catch((error) => {
          stop.abort();
          throw error;
        }),
      ),
    );
  } finally {
    run.signal.removeEventListener('abort', abort);
    await closeAll();
  }
}

async function playWithRestarts(
  run: LabelRun,
  engine: EngineHolder,
  game: number,
  isStopped: () => boolean,
): Promise<LabelledGameRecord | null> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await playLabelledGame(await engine.get(run.settings.multiPv), run.settings, run.books, game);
    } catch (error) {
      if (isStopped()) return null;
      if (!(error instanceof EngineError) || attempt === ATTEMPTS_PER_GAME) throw error;
      run.onWarning(`${error.message}; playing game ${game + 1} again`);
      await engine.close();
    }
  }
}

/** One engine process, started when needed and again after it was closed. */
class EngineHolder {
  private client: Promise<UciClient> | null = null;

  constructor(private readonly spec: EngineSpec) {}

  get(multiPv: number): Promise<UciClient> {
    this.client ??= UciClient.start({ ...this.spec, options: [['MultiPV', String(multiPv)], ...this.spec.options] });
    return this.client;
  }

  async close(): Promise<void> {
    const client = this.client;
    this.client = null;
    await client?.then((running) => running.close()).catch(() => undefined);
  }
}
