/**
 * Files that pages send: networks and opening books. Each is streamed to a temporary folder under a name of ours, checked, and
 * offered under its own name to every page. The folder is removed when the server ends. A check reads a file that may come from a
 * stranger in a thread of its own, within the limits of its kind, so that the server answers meanwhile.
 */
import { createWriteStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { describeWriteFailure } from '#platform/files.js';
import { getTemporaryFolder } from '#platform/folders.js';
import { startThread } from '#platform/threads.js';
import { failure, type Result } from '../../base/util/index.js';
import { BOOK_ENDINGS } from '../../chess/archives/index.js';
import { HttpRefusal } from './http-refusal.js';

export type FileKind = 'network' | 'book';

/** Rejects with the sentence for the user when the file is not what it should be. @returns the name under which it is offered */
type FileTaker = (name: string, path: string) => Promise<string>;

const MEGABYTE = 1e6;
const LIMITS: Readonly<Record<FileKind, { readonly bytes: number; readonly endings: readonly string[] }>> = {
  network: { bytes: 1000 * MEGABYTE, endings: ['.onnx', '.onnx.gz', '.pb', '.pb.gz'] },
  book: { bytes: 32 * MEGABYTE, endings: BOOK_ENDINGS },
};
/** Of all files together. */
const MOST_BYTES = 3000 * MEGABYTE;
const MOST_FILES = 100;
const LONGEST_NAME = 100;

export class SentFiles {
  private folder: Promise<string> | null = null;
  private bytes = 0;
  private files = 0;

  constructor(private readonly takers: Readonly<Record<FileKind, FileTaker>>) {}

  /**
   * Rejects with the sentence for the user; then nothing is kept.
   * @param given the file's name in the user's words; only its last part is used
   * @returns the name under which it is offered
   */
  async receive(kind: FileKind, given: string, content: Readable, announcedBytes: number | null): Promise<string> {
    const { bytes: limit, endings } = LIMITS[kind];
    const name = cleanName(given);
    if (!endings.some((ending) => name.toLowerCase().endsWith(ending)))
      throw new Error(
        `${name === '' ? 'The file' : name} is no ${kind}: its name ends in none of ${endings.join(', ')}`,
      );
    const refusal = new HttpRefusal(
      413,
      `${name} is too large: a ${kind} has at most ${limit / MEGABYTE} MB, and all sent files ${MOST_BYTES / MEGABYTE} MB`,
    );
    const announced = announcedBytes ?? 0;
    if (announced > limit || this.bytes + announced > MOST_BYTES) throw refusal;
    if (this.files >= MOST_FILES) throw new HttpRefusal(413, 'Too many files were sent: start the server again');
    const number = this.files++;
    // What is announced is taken at once, for other files may come meanwhile.
    this.bytes += announced;
    this.folder ??= mkdtemp(join(getTemporaryFolder(), 'sardonyx-sent-'));
    const folder = join(await this.folder, String(number));
    const path = join(folder, name);
    let received = 0;
    const count = new Transform({
      transform: (chunk: Buffer, _, done) => {
        received += chunk.length;
        // Files that are refused count too, so that nobody fills the disk again and again.
        this.bytes += Math.min(chunk.length, Math.max(0, received - announced));
        done(received > limit || this.bytes > MOST_BYTES ? refusal : null, chunk);
      },
    });
    try {
      await mkdir(folder);
      await pipeline(content, count, createWriteStream(path, { flags: 'wx', mode: 0o600 }));
      return await this.takers[kind](name, path);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      if ((error as NodeJS.ErrnoException).code === 'ENOSPC') {
        throw new Error(`${name} cannot be kept: ${describeWriteFailure(error)}`);
      }
      throw error;
    } finally {
      this.bytes -= Math.max(0, announced - received);
    }
  }

  async close(): Promise<void> {
    if (this.folder !== null) await rm(await this.folder, { recursive: true, force: true });
  }
}

/** The last part of a path, without what some file systems cannot hold. */
function cleanName(given: string): string {
  const last = given.split(/[\\/]/).at(-1) ?? '';
  return last
    .replace(/[^\p{L}\p{N} ._()+-]/gu, '_')
    .replace(/^\.+/, '')
    .slice(-LONGEST_NAME);
}

export interface FileCheck {
  readonly kind: 'book' | 'network';
  readonly path: string;
  /** Further options of the engine, for a network. */
  readonly settings?: readonly (readonly [name: string, text: string])[];
}

/** Digits of the SHA-256 that tells books apart. */
export const DIGEST_DIGITS = 12;

/** One check at a time: several bombs together must not fill the memory either. */
let last: Promise<unknown> = Promise.resolve();

/**
 * Rejects with the sentence for the user.
 * @param name in place of the path in that sentence
 * @returns the first digits of a book's SHA-256; '' for a network
 */
export async function checkFile(check: FileCheck, name = check.path): Promise<string> {
  const answer = last.then(() => runCheck(check));
  last = answer;
  const result = await answer;
  if (result.ok) return result.value;
  throw new Error(result.error.replaceAll(check.path, name));
}

function runCheck(data: FileCheck): Promise<Result<string>> {
  return new Promise((resolve) => {
    const thread = startThread<never, Result<string>>(
      new URL('./file-check-worker.js', import.meta.url),
      { name: 'file check', data },
      {
        onMessage: (result) => resolve(result),
        onError: (error) => resolve(failure(`${data.path} cannot be read: ${error.message}`)),
      },
    );
    void thread.ended.then(() => resolve(failure(`${data.path} cannot be read`)));
  });
}
