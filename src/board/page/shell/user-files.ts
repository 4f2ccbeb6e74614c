/** Between the page and the user's own files and clipboard. */

import { GAME_ENDINGS } from '../../../chess/archives/index.js';
import type { ImportedGame } from '../../game/game-list.js';
import { openNetwork } from '../port/engine-port.js';
import { addNotice } from './notices.js';

const NETWORK_FILE = /\.(onnx|pb)(\.gz)?$/i;

/** Puts a text into the browser's downloads. */
export function saveFile(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

export async function copyText(content: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(content);
    addNotice('note', 'Copied');
  } catch {
    addNotice('warning', 'The browser does not let this page copy');
  }
}

/**
 * Files dropped on the page: a network is opened, other files than games are refused.
 * @param readGame takes a FEN or PGN file. @returns a function that ends it
 */
export function acceptDroppedFiles(readGame: (file: File) => void): () => void {
  // Without this the browser leaves the page and shows the file.
  const allow = (event: DragEvent): void => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  };
  const take = (event: DragEvent): void => {
    const file = event.dataTransfer?.files[0];
    if (file === undefined) return;
    event.preventDefault();
    const isGame = GAME_ENDINGS.some((ending) => file.name.toLowerCase().endsWith(ending));
    if (NETWORK_FILE.test(file.name)) openNetwork(file);
    else if (isGame) readGame(file);
    else addNotice('warning', `${file.name} is neither a network nor a game`);
  };
  addEventListener('dragover', allow);
  addEventListener('drop', take);
  return () => {
    removeEventListener('dragover', allow);
    removeEventListener('drop', take);
  };
}

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

const LARGEST_FILE_BYTES = 100e6;

/** @param onNews called until the end has come. @returns a function that stops the import */
export function importFile(file: Blob, onNews: (news: ImportNews) => void): () => void {
  if (file.size > LARGEST_FILE_BYTES) {
    onNews({ type: 'end', problem: `The file is larger than ${LARGEST_FILE_BYTES / 1e6} MB` });
    return () => undefined;
  }
  const worker = new Worker(new URL('../study/games-worker.ts', import.meta.url), { type: 'module' });
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
