/**
 * The plain files of a tar archive, one after the other, without holding the archive or a large file in memory. Long names (GNU,
 * pax) are read; folders, links and other members are skipped. If the archive is cut off, has no end mark or has a damaged header,
 * the generator first yields all members before that place and then throws a BrokenArchive that names the place.
 */
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Extract, extract } from 'tar-stream';

const BLOCK_BYTES = 512;
const MAGIC = 'ustar';
const MAGIC_AT = 257;
/** Number of bytes that `hasTarMagic` needs. */
export const TAR_HEAD_BYTES = BLOCK_BYTES;

/** Also accept the format without magic. The option is missing in tar-stream's types. */
const OLDEST_FORMAT_TOO: object = { allowUnknownFormat: true };

type Entry = Extract extends AsyncIterable<infer Item> ? Item : never;

export class BrokenArchive extends Error {}

export interface TarMember {
  readonly name: string;
  readonly sizeBytes: number;
  /** Read it before asking for the next member; unread bytes are skipped. */
  readonly chunks: AsyncIterable<Buffer>;
}

/** @param head the first bytes of a file. Archives in the format used before 1988 have no magic and are not recognised. */
export function hasTarMagic(head: Buffer): boolean {
  return head.toString('latin1', MAGIC_AT, MAGIC_AT + MAGIC.length) === MAGIC;
}

export async function* readTarMembers(chunks: AsyncIterable<Buffer>): AsyncGenerator<TarMember> {
  const source = new ArchiveSource(chunks);
  const archive = extract(OLDEST_FORMAT_TOO);
  // The loop below throws the errors of the archive as well.
  const feeding = pipeline(Readable.from(source.read(), { objectMode: false }), archive).catch(() => undefined);
  let place = 'at its beginning';
  try {
    for await (const entry of archive) {
      const { name, size: sizeBytes = 0, type } = entry.header;
      place = `in ${name}`;
      const content = readContent(entry, (error) => source.explain(error, place));
      const isPlainFile = type === 'file' || type === 'contiguous-file';
      if (isPlainFile && sizeBytes > 0) yield { name, sizeBytes, chunks: lend(content) };
      await skipRest(content);
      place = `after ${name}`;
    }
    if (!source.hasEndMark) throw source.explain(null, place);
  } catch (error) {
    throw error instanceof BrokenArchive ? error : source.explain(error as Error, place);
  } finally {
    archive.destroy();
    await feeding;
  }
}

/**
 * The bytes of the archive. After a read error they end as if complete, so that tar-stream still yields the members it has.
 * `explain` then returns the error.
 */
class ArchiveSource {
  private failure: Error | undefined;
  private tail: Buffer = Buffer.alloc(0);

  constructor(private readonly chunks: AsyncIterable<Buffer>) {}

  async *read(): AsyncGenerator<Buffer> {
    try {
      for await (const chunk of this.chunks) {
        this.tail = Buffer.concat([this.tail, chunk.subarray(-BLOCK_BYTES)]).subarray(-BLOCK_BYTES);
        yield chunk;
      }
    } catch (error) {
      this.failure = error as Error;
    }
  }

  /** Whether the bytes ended with a block of zeros, as archives do. */
  get hasEndMark(): boolean {
    return this.failure === undefined && this.tail.length === BLOCK_BYTES && this.tail.every((byte) => byte === 0);
  }

  /** @param error what tar-stream says; null for a missing end mark */
  explain(error: Error | null, place: string): BrokenArchive {
    if (this.failure) return new BrokenArchive(`the archive is cut off ${place}: ${this.failure.message}`);
    if (error === null || error.message === 'Unexpected end of data')
      return new BrokenArchive(`the archive is cut off ${place}`);
    // Only tar-stream's first sentence; the following ones are questions to the user.
    return new BrokenArchive(`the archive is damaged ${place}: ${error.message.split('. ')[0]}`);
  }
}

/** Throws errors of the archive as BrokenArchive, so that a caller can tell them from errors of the content. */
async function* readContent(entry: Entry, explain: (error: Error) => BrokenArchive): AsyncGenerator<Buffer> {
  try {
    yield* entry as AsyncIterable<Buffer>;
  } catch (error) {
    throw explain(error as Error);
  }
}

/** The same bytes, but a reader that stops early does not end `content`. */
async function* lend(content: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  for (let next = await content.next(); next.done !== true; next = await content.next()) yield next.value;
}

async function skipRest(content: AsyncGenerator<Buffer>): Promise<void> {
  while ((await content.next()).done !== true);
}
