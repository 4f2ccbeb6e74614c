/**
 * The plain files of a tar archive in their order, without holding the archive or a large file in memory. Long names (GNU, pax) and
 * large sizes are read; folders, links and other members are skipped. An archive that is cut off, has no end mark or has a damaged
 * header ends with BrokenInput, which names the place, after all members before it.
 * Written here because tar-stream holds a long name of any size.
 * Source: POSIX.1-2017, pax, "ustar Interchange Format"; GNU tar manual, "Basic Tar Format".
 */
import { BrokenInput, RefusedInput } from '../util/index.js';
import { CutOff, PackedBytes } from './packed-bytes.js';
import { type ArchiveMember, lend, readStored } from './zip-archive.js';

const BLOCK_BYTES = 512;
const MAGIC = 'ustar';
const MAGIC_AT = 257;
/** Number of bytes that `hasTarMagic` needs. */
export const TAR_HEAD_BYTES = BLOCK_BYTES;
/** Of a long name with everything that a pax header says. */
const MOST_HEADER_BYTES = 1 << 20;

/** The archive itself is damaged, rather than a file in it. */
export class BrokenArchive extends BrokenInput {}

/** @param head the first bytes of a file. Archives in the format used before 1988 have no magic and are not recognised. */
export function hasTarMagic(head: Buffer): boolean {
  return head.toString('latin1', MAGIC_AT, MAGIC_AT + MAGIC.length) === MAGIC;
}

export async function* readTarMembers(chunks: AsyncIterable<Buffer>): AsyncGenerator<ArchiveMember, void, void> {
  const source = new PackedBytes(chunks);
  let place = 'at its beginning';
  let longName: string | null = null;
  let longSize: number | null = null;
  try {
    for (;;) {
      const head = await source.take(BLOCK_BYTES);
      if (head.every((byte) => byte === 0)) return;
      if (!hasRightSum(head))
        throw new BrokenArchive(`the archive is damaged ${place}: a header does not match its checksum`);
      const type = String.fromCharCode(head[156]);
      const sizeBytes = longSize ?? readNumber(head.subarray(124, 136));
      const padding = (BLOCK_BYTES - (sizeBytes % BLOCK_BYTES)) % BLOCK_BYTES;
      if ('LKxg'.includes(type)) {
        if (sizeBytes > MOST_HEADER_BYTES)
          throw new BrokenArchive(`the archive is damaged ${place}: a name of ${sizeBytes} bytes`);
        const text = (await source.take(sizeBytes + padding)).toString('utf8', 0, sizeBytes);
        if (type === 'L') longName = text.replace(/\0.*$/s, '');
        if (type === 'x') {
          longName = readPaxField(text, 'path') ?? longName;
          const size = readPaxField(text, 'size');
          longSize = size === null ? null : Number(size);
        }
        continue;
      }
      const name = longName ?? readName(head);
      longName = null;
      longSize = null;
      place = `in ${name}`;
      const content = explain(readStored(source, sizeBytes), place);
      const isPlainFile = '0\x007'.includes(type);
      if (isPlainFile && sizeBytes > 0) yield { name, sizeBytes, chunks: lend(content) };
      while ((await content.next()).done !== true);
      await source.take(padding);
      place = `after ${name}`;
    }
  } catch (error) {
    throw toBrokenArchive(error, place);
  } finally {
    await source.close();
  }
}

function toBrokenArchive(error: unknown, place: string): unknown {
  if (!(error instanceof BrokenInput) || error instanceof BrokenArchive || error instanceof RefusedInput) return error;
  if (error instanceof CutOff) return new BrokenArchive(`the archive is cut off ${place}`);
  return new BrokenArchive(`the archive cannot be read ${place}: ${error.message}`);
}

/** Errors of the archive pass through a reader of its content; as BrokenArchive, so that they can be told apart. */
async function* explain(content: AsyncGenerator<Buffer>, place: string): AsyncGenerator<Buffer, void, void> {
  try {
    yield* content;
  } catch (error) {
    throw toBrokenArchive(error, place);
  }
}

/** The sum of all bytes, those of the sum as blanks. */
function hasRightSum(head: Buffer): boolean {
  let sum = 8 * 32;
  for (let at = 0; at < BLOCK_BYTES; at++) if (at < 148 || at >= 156) sum += head[at];
  return sum === readNumber(head.subarray(148, 156));
}

/** Octal digits, or with the highest bit set a binary number. NaN becomes a size that no archive has. */
function readNumber(field: Buffer): number {
  if ((field[0] & 0x80) !== 0) return field.readUIntBE(field.length - 6, 6);
  const digits = field.toString('latin1').replace(/\0.*$/s, '').trim();
  return digits === '' ? 0 : /^[0-7]+$/.test(digits) ? Number.parseInt(digits, 8) : Number.MAX_SAFE_INTEGER;
}

function readName(head: Buffer): string {
  const text = (from: number, to: number): string => head.toString('utf8', from, to).replace(/\0.*$/s, '');
  // Only POSIX's format has a prefix; GNU's has times there.
  const prefix = head.toString('latin1', MAGIC_AT, MAGIC_AT + 6) === `${MAGIC}\0` ? text(345, 500) : '';
  return prefix === '' ? text(0, 100) : `${prefix}/${text(0, 100)}`;
}

/** Records of the form `LENGTH KEY=VALUE\n`. */
function readPaxField(text: string, key: string): string | null {
  const found = text.split('\n').find((record) => record.slice(record.indexOf(' ') + 1).startsWith(`${key}=`));
  return found === undefined ? null : found.slice(found.indexOf('=') + 1);
}
