/** Reads a file of games beside the page. One message in: the file; out: batches of games and refusals, and the end. */
import { decodeText, isGzip } from '../../../util/index.js';
import { findPackingProblem, importGames } from '../../game/game-import.js';
import type { ImportNews } from './import-client.js';

/** The first game is shown at once, the others in batches that the page takes without a pause. */
const BATCH_GAMES = 500;
const BATCH_MS = 250;
/** Unpacked characters: a packed file may hold a thousand times its size. */
const LONGEST_TEXT = 300e6;

const post = (news: ImportNews): void => postMessage(news);

addEventListener('message', ({ data }: MessageEvent<Blob>) => void read(data));

async function read(file: Blob): Promise<void> {
  let readBytes = 0;
  let batch: ImportNews & { type: 'games' } = { type: 'games', games: [], refusals: [], readShare: 0 };
  let sentMs = Number.NEGATIVE_INFINITY;
  const send = (): void => {
    post({ ...batch, readShare: file.size === 0 ? 1 : readBytes / file.size });
    batch = { type: 'games', games: [], refusals: [], readShare: 0 };
    sentMs = performance.now();
  };
  const head = new Uint8Array(await file.slice(0, 8).arrayBuffer());
  const packing = findPackingProblem(head);
  if (packing !== null) return post({ type: 'end', problem: packing });
  try {
    const bytes = readStream(file.stream(), (count) => {
      readBytes += count;
    });
    for await (const game of importGames(limit(decodeText(isGzip(head) ? unpack(bytes) : bytes)))) {
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

async function* unpack(chunks: AsyncGenerator<Uint8Array>): AsyncGenerator<Uint8Array, void, void> {
  const source = new ReadableStream<BufferSource>({
    async pull(controller) {
      const next = await chunks.next();
      if (next.done === true) controller.close();
      else controller.enqueue(next.value as Uint8Array<ArrayBuffer>);
    },
  });
  yield* readStream(source.pipeThrough(new DecompressionStream('gzip')), () => undefined);
}

async function* limit(pieces: AsyncIterable<string>): AsyncGenerator<string, void, void> {
  let length = 0;
  for await (const piece of pieces) {
    length += piece.length;
    if (length > LONGEST_TEXT) throw new Error(`it holds more than ${LONGEST_TEXT / 1e6} MB of text`);
    yield piece;
  }
}
