/**
 * Deletes converted networks: the least recently used ones beyond a number and a total size, and files that killed processes left
 * behind. A file that cannot be deleted is kept: another process may be using or pruning it. A model that is missing later is
 * converted again.
 */

import { type CacheFile, listCacheFiles, removeCacheFile } from '#platform/cache-files.js';

const MAX_MODELS = 24;
/** Limit of models and weights together: five of the largest networks. */
const MAX_BYTES = 4 * 2 ** 30;
/** Younger files may belong to a running process; no conversion takes this long. */
const ABANDONED_AFTER_MS = 60 * 60 * 1000;

/** @param newest file name of the model that was just written; it is kept, whatever its size */
export async function pruneModels(folder: string, newest: string): Promise<void> {
  const files = await listCacheFiles(folder);
  const doomed = [...findDebris(files, Date.now()), ...findExcess(files, newest)];
  for (const name of doomed) await removeCacheFile(folder, name);
}

/** Unfinished files, and weights whose model was never written. */
function findDebris(files: readonly CacheFile[], nowMs: number): string[] {
  const names = new Set(files.map(({ name }) => name));
  const isUseless = (name: string): boolean =>
    name.endsWith('.tmp') || (name.endsWith('.weights') && !names.has(name.replace(/weights$/, 'onnx')));
  return files
    .filter(({ name, modifiedAtMs }) => nowMs - modifiedAtMs > ABANDONED_AFTER_MS && isUseless(name))
    .map(({ name }) => name);
}

/** Models and their weights, a model before its weights. */
function findExcess(files: readonly CacheFile[], newest: string): string[] {
  const sizes = new Map(files.map(({ name, bytes }) => [name, bytes]));
  const isNewest = ({ name }: CacheFile): number => Number(name === newest);
  const models = files
    .filter(({ name }) => name.endsWith('.onnx'))
    .sort((a, b) => isNewest(b) - isNewest(a) || b.modifiedAtMs - a.modifiedAtMs);
  let totalBytes = 0;
  return models.flatMap(({ name, bytes }, index) => {
    const weights = name.replace(/onnx$/, 'weights');
    totalBytes += bytes + (sizes.get(weights) ?? 0);
    return index > 0 && (index >= MAX_MODELS || totalBytes > MAX_BYTES) ? [name, weights] : [];
  });
}
