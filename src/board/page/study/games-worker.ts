/**
 * Reads games beside the page. In: a file to import, games for the index of the explorer, or a position to look up there. Out:
 * batches of the file's games and refusals, and its end; how many games are in the index, or what was found.
 */

import { decodeText } from '../../../base/util/index.js';
import { readGameFile } from '../../../chess/archives/index.js';
import { type Explored, GameIndex, importGames } from '../../game/game-list.js';
import type { ImportNews } from '../shell/user-files.js';

export type ExplorerRequest = { readonly texts: readonly string[] } | { readonly fen: string };
/** Number of games read so far, or what was found for the position. */
export type ExplorerNews = { readonly read: number } | { readonly fen: string; readonly found: Explored };

const post = (news: ImportNews | ExplorerNews): void => postMessage(news);

addEventListener('message', ({ data }: MessageEvent<Blob | ExplorerRequest>) => {
  if (data instanceof Blob) void read(data);
  else explore(data);
});

const index = new GameIndex();
let indexed = 0;

function explore(request: ExplorerRequest): void {
  if ('fen' in request) {
    post({ fen: request.fen, found: index.find(request.fen) });
    return;
  }
  for (const text of request.texts) index.add(text);
  indexed += request.texts.length;
  post({ read: indexed });
}

/** The first game is shown at once, the others in batches that the page takes without a pause. */
const BATCH_GAMES = 500;
const BATCH_MS = 250;
/** Unpacked characters: a packed file may hold a thousand times its size. */
const LONGEST_TEXT = 300e6;

async function read(file: Blob): Promise<void> {
  let readBytes = 0;
  let batch: ImportNews & { type: 'games' } = { type: 'games', games: [], refusals: [], readShare: 0 };
  let sentMs = Number.NEGATIVE_INFINITY;
  const send = (): void => {
    post({ ...batch, readShare: file.size === 0 ? 1 : readBytes / file.size });
    batch = { type: 'games', games: [], refusals: [], readShare: 0 };
    sentMs = performance.now();
  };
  const bytes = readStream(file.stream(), (count) => {
    readBytes += count;
  });
  // A text that was pasted has no name.
  const unpacked = readGameFile(bytes, file instanceof File ? file.name : '');
  try {
    for await (const game of importGames(limit(decodeText(unpacked)))) {
      if (game.ok) batch.games.push(game.value);
      else batch.refusals.push(game.error);
      const size = batch.games.length + batch.refusals.length;
      if (size >= BATCH_GAMES || performance.now() - sentMs > BATCH_MS) send();
    }
    send();
    post({ type: 'end', problem: null });
  } catch (error) {
    send();
    post({ type: 'end', problem: `The rest of the file cannot be read: ${(error as Error).message}` });
  }
}

async function* readStream(
  stream: ReadableStream<Uint8Array>,
  onBytes: (count: number) => void,
): AsyncGenerator<Uint8Array, void, void> {
  const reader = stream.getReader();
  for (let next = await reader.read(); !next.done; next = await reader.read()) {
    onBytes(next.value.length);
    yield next.value;
  }
}

async function* limit(pieces: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > LONGEST_TEXT) throw new Error(`it holds more than ${LONGEST_TEXT / 1e6} MB of text`);
    yield piece;
  }
}
