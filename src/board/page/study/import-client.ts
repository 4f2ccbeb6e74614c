/** Starts a Worker that reads a file of games, and hands on what it finds as it is found. */
import type { ImportedGame } from '../../game/game-import.js';

export type ImportNews =
  | {
      readonly type: 'games';
      readonly games: ImportedGame[];
      /** Why games cannot be read: a sentence each. */
      readonly refusals: string[];
      /** Of the file: 0 to 1. */
      readonly readShare: number;
    }
  | { readonly type: 'end'; readonly problem: string | null };

export const LARGEST_FILE_BYTES = 100e6;

/** @param onNews called until the end has come. @returns a function that stops the import */
export function importFile(file: Blob, onNews: (news: ImportNews) => void): () => void {
  if (file.size > LARGEST_FILE_BYTES) {
    onNews({ type: 'end', problem: `The file is larger than ${LARGEST_FILE_BYTES / 1e6} MB` });
    return () => undefined;
  }
  const worker = new Worker(new URL('./import-worker.ts', import.meta.url), { type: 'module' });
  const stop = (): void => worker.terminate();
  worker.onmessage = ({ data }: MessageEvent<ImportNews>) => {
    onNews(data);
    if (data.type === 'end') stop();
  };
  worker.onerror = ({ message }) => {
    onNews({ type: 'end', problem: `The reader of games does not start: ${message || 'its script cannot be loaded'}` });
    stop();
  };
  worker.postMessage(file);
  return stop;
}
