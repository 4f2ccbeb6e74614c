/**
 * Converted networks on disk, so that the second start is fast. A file's name is a hash of everything its content
 * follows from, and files appear by renaming, complete or not at all: nothing is ever updated, and two processes that
 * convert the same network at once write the same file. A cache that cannot be used (read-only or full disk) is no error.
 *
 * A disk can change what was written. The model carries a digest of itself, checked whole: 0.6 ms for a megabyte, and it is 32 MB
 * at most where weights may lie apart. Those, up to 800 MB, would cost a quarter of the start; of them the length and pages
 * spread over the file are checked, which finds what crashes leave behind (cut, zeroed or foreign stretches), not a single
 * flipped bit. A model that fails is converted again without a word.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, open, readFile, rename, rm, utimes } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { createFolder, findCacheFolder } from '../util/index.js';
import { type Lc0NetworkInfo, parseMetadata } from './network-info.js';
import { decodeModel } from './onnx-model.js';
import { modelType } from './onnx-schema.js';
import { pruneModels } from './prune-models.js';

/** Metadata entry with the length of the weights file beside the model. */
export const WEIGHTS_BYTES_KEY = 'sardonyx.weights_bytes';
/** Metadata entries: of the model up to this entry, its last; of the weights file's sampled pages. */
const DIGEST_KEY = 'sardonyx.digest';
const WEIGHTS_DIGEST_KEY = 'sardonyx.weights_digest';
const PAGE_BYTES = 4096;
const SAMPLED_PAGES = 128;

export interface CachedModel {
  readonly onnx: Uint8Array;
  readonly info: Lc0NetworkInfo;
  /** Whether the weights lie in a file of their own in the cache's folder. */
  readonly hasWeightsFile: boolean;
}

/** Where converted networks go unless told otherwise; undefined when no place can be written to. */
export function findModelFolder(): string | undefined {
  return findCacheFolder('lc0');
}

export class ModelCache {
  private readonly modelPath: string;
  /** File name of the weights, as the model refers to it. */
  readonly weightsName: string;
  /** Of the weights file that was written last. */
  private weightsDigest: string | undefined;

  /** @param parts everything that decides about the model: the network's hash, the builder's version, options. */
  constructor(
    readonly folder: string,
    parts: readonly string[],
  ) {
    const key = createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 40);
    this.modelPath = join(folder, `${key}.onnx`);
    this.weightsName = `${key}.weights`;
  }

  /** undefined when there is none, or none that is whole. */
  async read(): Promise<CachedModel | undefined> {
    try {
      const content = await readFile(this.modelPath);
      const onnx = unsealModel(content);
      const entries = onnx ? (decodeModel(onnx)?.metadataProps ?? []) : [];
      const info = parseMetadata(entries);
      if (!onnx || !info) return undefined;
      const weightsBytes = entries.find(({ key }) => key === WEIGHTS_BYTES_KEY)?.value;
      if (weightsBytes !== undefined) {
        const file = await open(join(this.folder, this.weightsName));
        try {
          if ((await file.stat()).size !== Number(weightsBytes)) return undefined;
          const digest = entries.find(({ key }) => key === WEIGHTS_DIGEST_KEY)?.value;
          if (digest !== (await digestSamples(file))) return undefined;
        } finally {
          await file.close();
        }
      }
      const now = new Date();
      await utimes(this.modelPath, now, now).catch(() => undefined);
      return { onnx, info, hasWeightsFile: weightsBytes !== undefined };
    } catch {
      return undefined;
    }
  }

  /** @returns whether the model is in the cache now. */
  async write(onnx: Uint8Array): Promise<boolean> {
    const isWritten = await this.writeAtomically(this.modelPath, async (file) => {
      await file.writeFile(sealModel(onnx, this.weightsDigest));
    });
    // Also when it was not: what is too much may be why the disk is full.
    await pruneModels(this.folder, basename(this.modelPath));
    return isWritten;
  }

  /** @returns whether the weights file is there now; errors of `fill` that are not the disk's pass through. */
  writeWeights(fill: (file: FileHandle) => Promise<void>): Promise<boolean> {
    return this.writeAtomically(join(this.folder, this.weightsName), async (file) => {
      await fill(file);
      this.weightsDigest = await digestSamples(file);
    });
  }

  private async writeAtomically(path: string, fill: (file: FileHandle) => Promise<void>): Promise<boolean> {
    const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
    try {
      createFolder(this.folder);
    } catch {
      return false;
    }
    try {
      const file = await open(temporary, 'wx+');
      try {
        await fill(file);
        await file.datasync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
      return true;
    } catch (error) {
      await rm(temporary, { force: true }).catch(() => undefined);
      if (isFileSystemError(error)) return false;
      throw error;
    }
  }
}

/** Encoded messages that follow each other are one message: the entries join the model's own, and it stays an ONNX file. */
function encodeEntry(key: string, value: string): Uint8Array {
  return modelType.encode({ metadataProps: [{ key, value }] }).finish();
}

function encodeDigest(content: Uint8Array): Uint8Array {
  return encodeEntry(DIGEST_KEY, createHash('sha256').update(content).digest('hex'));
}

function sealModel(onnx: Uint8Array, weightsDigest: string | undefined): Uint8Array {
  const content = weightsDigest ? Buffer.concat([onnx, encodeEntry(WEIGHTS_DIGEST_KEY, weightsDigest)]) : onnx;
  return Buffer.concat([content, encodeDigest(content)]);
}

/** @returns the model without its seal; undefined when it is not what was written. */
function unsealModel(sealed: Buffer): Uint8Array | undefined {
  const sealBytes = encodeDigest(new Uint8Array(0)).length;
  if (sealed.length < sealBytes) return undefined;
  const content = new Uint8Array(sealed.buffer, sealed.byteOffset, sealed.length - sealBytes);
  return sealed.subarray(content.length).equals(encodeDigest(content)) ? content : undefined;
}

/** Of pages spread evenly over the file, the first and the last among them; of every page of a small file. */
async function digestSamples(file: FileHandle): Promise<string> {
  const pages = Math.ceil((await file.stat()).size / PAGE_BYTES);
  const samples = Math.min(pages, SAMPLED_PAGES);
  const hash = createHash('sha256');
  const page = Buffer.alloc(PAGE_BYTES);
  for (let sample = 0; sample < samples; sample++) {
    const index = samples === 1 ? 0 : Math.floor((sample * (pages - 1)) / (samples - 1));
    const { bytesRead } = await file.read(page, 0, PAGE_BYTES, index * PAGE_BYTES);
    hash.update(page.subarray(0, bytesRead));
  }
  return hash.digest('hex');
}

function isFileSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
