/** Between the page and the user's own files and clipboard. */

import { GAME_ENDINGS } from '../../../chess/archives/index.js';
import type { ImportedGame } from '../../game/game-list.js';
import { openNetwork } from '../port/engine-port.js';
import { addNotice } from './notices.js';

const NETWORK_FILE = /\.(onnx|pb)(\.gz)?$/i;

/** Puts a text or file into the browser's downloads. */
export function saveFile(name: string, content: string | Blob): void {
  const url = URL.createObjectURL(typeof content === 'string' ? new Blob([content], { type: 'text/plain' }) : content);
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
    addNotice('warning', 'The browser does not let this page copy: copy the text here', null, content);
  }
}

const TEXT_FIELD = 'textarea, input, [contenteditable]';

/** Of Chromium: the system opens files with the installed page. */
interface LaunchQueue {
  setConsumer(take: (launch: { readonly files: readonly { getFile(): Promise<File> }[] }) => void): void;
}

/**
 * Files and texts that are dropped on the page, pasted into it or opened with it: networks are opened, other files than games are refused.
 * @param readGames takes FENs or PGN: all files of a drop at once
 */
export function acceptGames(readGames: (files: readonly [Blob, ...Blob[]], name: string) => void): void {
  const open = (files: readonly File[]): void => {
    const games = files.filter(({ name }) => GAME_ENDINGS.some((ending) => name.toLowerCase().endsWith(ending)));
    const network = files.find(({ name }) => NETWORK_FILE.test(name));
    if (network !== undefined) openNetwork(network);
    for (const file of files) {
      if (file !== network && !games.includes(file))
        addNotice('warning', `${file.name} is neither a network nor a game`);
    }
    const [first, ...others] = games;
    if (first !== undefined) readGames([first, ...others], nameFiles(games));
  };
  const take = (event: Event, data: DataTransfer | null): void => {
    if (data === null || data.files.length === 0) return;
    event.preventDefault();
    open([...data.files]);
  };
  // Without this the browser leaves the page and shows the file.
  addEventListener('dragover', (event) => {
    if (event.dataTransfer?.types.includes('Files')) event.preventDefault();
  });
  addEventListener('drop', (event) => take(event, event.dataTransfer));
  addEventListener('paste', (event) => {
    const { target, clipboardData } = event;
    if ((target instanceof Element && target.matches(TEXT_FIELD)) || document.querySelector('dialog[open]') !== null)
      return;
    const text = clipboardData?.getData('text/plain').trim() ?? '';
    if (text === '') take(event, clipboardData);
    else {
      event.preventDefault();
      readGames([new Blob([text])], '');
    }
  });
  (window as { readonly launchQueue?: LaunchQueue }).launchQueue?.setConsumer(async ({ files }) =>
    open(await Promise.all(files.map((file) => file.getFile()))),
  );
}

/** "club.pgn and 2 more" */
export function nameFiles([first, ...others]: readonly File[]): string {
  return `${first?.name ?? ''}${others.length === 0 ? '' : ` and ${others.length} more`}`;
}

export type ImportNews =
  | {
      readonly type: 'games';
      readonly games: ImportedGame[];
      /** Why games cannot be read: a sentence each. */
      readonly refusals: string[];
      /** Of the files: 0 to 1. */
      readonly readShare: number;
    }
  | { readonly type: 'end'; readonly problem: string | null };

const LARGEST_FILE_BYTES = 100e6;

/** Names a text by what is in it (FNV-1a). */
export function nameBytes(bytes: Uint8Array): string {
  let hash = 0x811c9dc5;
  for (const byte of bytes) hash = Math.imul(hash ^ byte, 0x01000193);
  return `${bytes.length}-${(hash >>> 0).toString(36)}`;
}

/** As `nameBytes`, for files and texts with tags: '' for positions and bare moves, which are begun anew each time. */
export async function nameGames(files: readonly Blob[]): Promise<string> {
  const whole = new Blob([...files]);
  if (whole.size > LARGEST_FILE_BYTES) return '';
  const isGame = files.some((file) => file instanceof File) || /^\s*\[/.test(await whole.slice(0, 100).text());
  return isGame ? nameBytes(new Uint8Array(await whole.arrayBuffer())) : '';
}

/** @param files are read as one. @param onNews called until the end has come. @returns a function that stops the import */
export function importFiles(files: readonly Blob[], onNews: (news: ImportNews) => void): () => void {
  if (files.reduce((sum, { size }) => sum + size, 0) > LARGEST_FILE_BYTES) {
    onNews({
      type: 'end',
      problem: `${files.length > 1 ? 'The files are' : 'The file is'} larger than ${LARGEST_FILE_BYTES / 1e6} MB`,
    });
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
  worker.postMessage(files);
  return stop;
}
