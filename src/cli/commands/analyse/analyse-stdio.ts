/** `sardonyx analyse --stdio`: queries in JSON on stdin, answers on stdout, many positions at a time. */

import { createPoolOptions, warnOfTables } from '../../../app/index.js';
import { readVersion } from '../../../app/options.js';
import { AnalysisSession, AnalysisThread } from '../../../engine/index.js';
import { EvaluatorPool } from '../../../nn/index.js';
import type { OptionStore } from '../../../options/index.js';
import { computeTreeBytes, createSearchParams } from '../../../search/index.js';
import { LineReader } from '../../../util/index.js';
import { printNote } from '../../output.js';
import { QueuedWriter } from './queued-writer.js';

export interface StdioSettings {
  /** Positions at a time; 0 = what suits the evaluators. */
  readonly parallel: number;
  readonly leavesPerPosition: number;
  readonly maxVisits: number | null;
  readonly maxTimeMs: number | null;
  /** When stdin ends, answer with what there is. */
  readonly quitsWithoutWaiting: boolean;
}

/** A row of the evaluators' root table each. */
export const MOST_PARALLEL = 512;
const LEAST_PARALLEL = 8;
const BATCHES_AHEAD = 2;

/** Resolves when stdin has ended and everything is answered. */
export async function analyseStdio(options: OptionStore, settings: StdioSettings): Promise<void> {
  warnOfTables(options, printNote);
  const pool = await EvaluatorPool.create(await createPoolOptions(options, printNote));
  const { handle, threads, minibatch } = pool;
  const suitable = Math.max(LEAST_PARALLEL, Math.min(MOST_PARALLEL, BATCHES_AHEAD * threads * minibatch));
  const writer = new QueuedWriter(() => process.exit(0));
  const send = (message: object): void => writer.writeLine(JSON.stringify(message));
  const thread = new AnalysisThread(
    {
      pool: handle,
      settings: {
        parallel: settings.parallel > 0 ? settings.parallel : suitable,
        leavesPerPosition: settings.leavesPerPosition,
        treeBytes: computeTreeBytes(createSearchParams(options.values)),
      },
    },
    send,
  );
  const session = new AnalysisSession(
    {
      host: thread,
      version: readVersion(),
      network: pool.network.name,
      clearCache: () => pool.clearCache(),
      send,
    },
    { values: options.values, maxVisits: settings.maxVisits, maxTimeMs: settings.maxTimeMs },
  );
  const lines = new LineReader((line) => session.receiveLine(line));
  process.stdin.on('data', (chunk: Buffer) => lines.push(chunk));
  process.stdin.on('end', () => {
    lines.end();
    if (settings.quitsWithoutWaiting) thread.terminate({ queryId: null, turnNumbers: null });
    thread.finish();
  });
  try {
    await thread.finished;
    await writer.flush();
  } finally {
    await thread.dispose();
    await pool.dispose();
    process.stdin.destroy();
  }
}
