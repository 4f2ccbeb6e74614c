/**
 * Reads games beside the page. In: files to import, games for the index of the explorer, or a position to look up there. Out:
 * batches of the files' games and refusals, and its end; how many games are in the index, or what was found.
 */

import { decodeText } from '../../../base/util/index.js';
import { readGameFile } from '../../../chess/archives/index.js';
import { type Explored, GameIndex, importGames } from '../../game/game-list.js';
import type { ImportNews } from '../shell/user-files.js';
import { readOpenings } from './openings.js';

export type ExplorerRequest = { readonly texts: readonly string[] } | { readonly fen: string };
/** Number of games read so far, or what was found for the position. */
export type ExplorerNews = { readonly read: number } | { readonly fen: string; readonly found: Explored };

const post = (news: ImportNews | ExplorerNews): void => postMessage(news);

addEventListener('message', ({ data }: MessageEvent<readonly Blob[] | ExplorerRequest>) => {
  if (Array.isArray(data)) void read(data);
  else explore(data as ExplorerRequest);
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

/** The files' games as those of one. */
async function read(files: readonly Blob[]): Promise<void> {
  const totalBytes = files.reduce((sum, { size }) => sum + size, 0);
  const problems: string[] = [];
  let readBytes = 0;
  let batch: ImportNews & { type: 'games' } = { type: 'games', games: [], refusals: [], readShare: 0 };
  let sentMs = Number.NEGATIVE_INFINITY;
  const send = (): void => {
    post({ ...batch, readShare: totalBytes === 0 ? 1 : readBytes / totalBytes });
    batch = { type: 'games', games: [], refusals: [], readShare: 0 };
    sentMs = performance.now();
  };
  const openings = await readOpenings();
  for (const file of files) {
    const bytes = readStream(file.stream(), (count) => {
      readBytes += count;
    });
    // A text that was pasted has no name.
    const name = file instanceof File ? file.name : '';
    const where = files.length > 1 ? `${name}: ` : '';
    let part = 'The file';
    try {
      for await (const game of importGames(limit(decodeText(readGameFile(bytes, name))), openings)) {
        part = 'The rest of the file';
        if (game.ok) batch.games.push(game.value);
        else batch.refusals.push(where + game.error);
        const size = batch.games.length + batch.refusals.length;
        if (size >= BATCH_GAMES || performance.now() - sentMs > BATCH_MS) send();
      }
    } catch (error) {
      problems.push(`${where}${part} cannot be read: ${(error as Error).message}`);
    }
    send();
  }
  post({ type: 'end', problem: problems.length === 0 ? null : problems.join('; ') });
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
