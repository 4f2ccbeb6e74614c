/** Entry of the thread that checks sent files. */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { endThread, getThreadData, postToParent } from '#platform/threads.js';
import { failure, type Result, success } from '../../base/util/index.js';
import { createSettings } from '../../engine/app/options.js';
import { findModel } from '../../engine/weights/index.js';
import { createMatchOpenings } from '../../games/openings/index.js';
import { loadModel } from '../../networks/nn/index.js';
import { DIGEST_DIGITS, type FileCheck } from './sent-files.js';

/** Reads the first opening. */
async function checkBook(path: string): Promise<Result<string>> {
  const request = { book: path, maxPlies: null, order: 'sequential', seed: 0, games: 2, chess960: true } as const;
  const openings = await createMatchOpenings(request);
  if (!openings.ok) return openings;
  return success(createHash('sha256').update(readFileSync(path)).digest('hex').slice(0, DIGEST_DIGITS));
}

async function check({ kind, path, settings: named = [] }: FileCheck): Promise<Result<string>> {
  if (kind === 'book') return checkBook(path);
  const settings = [...named, ['WeightsFile', path] as const];
  const created = createSettings({ settings, positionals: [], showHidden: false }, []);
  if (!created.ok) return created;
  const source = await findModel(created.value.options);
  const model = source.ok ? await loadModel(source.value) : source;
  return model.ok ? success('') : model;
}

postToParent(await check(await getThreadData<FileCheck>()).catch((error: Error) => failure(error.message)));
endThread();
