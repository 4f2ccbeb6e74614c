/**
 * `sardonyx analyse --stdio`: queries in JSON on stdin, answers on stdout, many positions at a time. Answers are written without
 * waiting for the reader.
 */
import type { OptionStore } from '../../../base/options/index.js';
import { LineReader, unwrap } from '../../../base/util/index.js';
import { AnalysisClient, type AnalysisModel, AnalysisSession } from '../../../engine/analysis/index.js';
import { createPoolOptions, warnOfTables } from '../../../engine/app/index.js';
import { readVersion } from '../../../engine/app/options.js';
import { obtainNetwork } from '../../../engine/weights/index.js';
import { countBusyLeaves } from '../../../networks/leaves/index.js';
import { EvaluatorPool } from '../../../networks/nn/index.js';
import { computeTreeBytes, createSearchParams } from '../../../search/index.js';
import { createDownloadBar, printNote } from '../../output.js';
import { reportWriteFailure } from '../../write-output.js';
import { createQueuedWriter } from './queued-writer.js';

export interface StdioSettings {
  /** Positions at a time; 0 = chosen for the evaluators. */
  readonly parallel: number;
  readonly leavesPerPosition: number;
  readonly maxVisits: number | null;
  readonly maxTimeMs: number | null;
  /** When stdin ends, answer at once with the results so far. */
  readonly quitsWithoutWaiting: boolean;
}

/** Each position needs a row of the evaluators' root table. */
export const MOST_PARALLEL = 512;
const LEAST_PARALLEL = 8;

/** A network of its own for queries that name it. */
export interface NamedModel {
  readonly name: string;
  /** A value for the option WeightsFile. */
  readonly weights: string;
}

/** `NAME=FILE`. Throws one sentence. */
export function parseModel(text: string): NamedModel {
  const [, name, weights] = /^([^=]+)=(.+)$/s.exec(text) ?? [];
  if (name === undefined) throw new Error(`--model needs NAME=FILE, not "${text}"`);
  return { name, weights };
}

interface RunningModel extends AnalysisModel {
  readonly host: AnalysisClient;
  dispose(): Promise<void>;
}

/** Resolves when stdin has ended and everything is answered. */
export async function analyseStdio(
  options: OptionStore,
  named: readonly NamedModel[],
  settings: StdioSettings,
): Promise<void> {
  warnOfTables(options, printNote);
  const writer = createQueuedWriter((error) => {
    reportWriteFailure(error);
    process.exit();
  });
  const send = (message: object): void => void writer.write(`${JSON.stringify(message)}\n`);
  const models: RunningModel[] = [];
  try {
    const shares = named.length + 1;
    models.push(await startModel(options, null, shares, settings, send));
    for (const { name, weights } of named) {
      if (models.some((model) => model.name === name)) throw new Error(`Two models are called ${name}`);
      const own = options.clone();
      unwrap(own.set('WeightsFile', weights));
      unwrap(await obtainNetwork(own, createDownloadBar()));
      models.push(await startModel(own, name, shares, settings, send));
    }
    const session = new AnalysisSession(
      { models, version: readVersion(), send },
      { values: options.values, maxVisits: settings.maxVisits, maxTimeMs: settings.maxTimeMs },
    );
    const lines = new LineReader((line) => session.receiveLine(line));
    process.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
    process.stdin.on('end', () => {
      lines.end();
      for (const { host } of models) {
        if (settings.quitsWithoutWaiting) host.terminate({ queryId: null, turnNumbers: null });
        host.finish();
      }
    });
    await Promise.all(models.map(({ host }) => host.finished));
    await new Promise((resolve) => writer.write('', resolve));
  } finally {
    await Promise.all(models.map((model) => model.dispose()));
    process.stdin.destroy();
  }
}

/**
 * @param name null = the name in the network file
 * @param shares number of models that share the memory for trees
 */
async function startModel(
  options: OptionStore,
  name: string | null,
  shares: number,
  settings: StdioSettings,
  send: (message: object) => void,
): Promise<RunningModel> {
  const pool = await EvaluatorPool.create(await createPoolOptions(options, printNote));
  const { handle, threads, minibatch } = pool;
  const suitable = Math.max(LEAST_PARALLEL, Math.min(MOST_PARALLEL, countBusyLeaves({ workers: threads, minibatch })));
  const host = new AnalysisClient(
    {
      pool: handle,
      settings: {
        parallel: settings.parallel > 0 ? settings.parallel : suitable,
        leavesPerPosition: settings.leavesPerPosition,
        treeBytes: computeTreeBytes(createSearchParams(options.values), shares * handle.reservedBytes) / shares,
      },
    },
    send,
  );
  return {
    name: name ?? pool.network.name,
    network: pool.network.name,
    host,
    clearCache: () => pool.clearCache(),
    dispose: async () => {
      await host.dispose();
      await pool.dispose();
    },
  };
}
