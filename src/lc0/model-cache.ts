/**
 * Converted networks on disk, so that the second start is fast. A file's name is a hash of everything its content
 * follows from, and files appear by renaming, complete or not at all: nothing is ever updated, and two processes that
 * convert the same network at once write the same file. A cache that cannot be used (read-only or full disk) is no error.
 */
import { createHash, randomBytes } from 'node:crypto';
import { type FileHandle, mkdir, open, readdir, readFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { findCacheFolder } from '../util/index.js';
import { type Lc0NetworkInfo, parseMetadata } from './network-info.js';
import { decodeModel } from './onnx-model.js';

/** Oldest models beyond this many are deleted when a new one is written. */
const MAX_MODELS = 24;
/** Metadata entry with the length of the weights file beside the model. */
export const WEIGHTS_BYTES_KEY = 'sardonyx.weights_bytes';

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
      const onnx = new Uint8Array(content.buffer, content.byteOffset, content.byteLength);
      const entries = decodeModel(onnx)?.metadataProps ?? [];
      const info = parseMetadata(entries);
      if (!info) return undefined;
      const weightsBytes = entries.find(({ key }) => key === WEIGHTS_BYTES_KEY)?.value;
      if (weightsBytes !== undefined) {
        const { size } = await stat(join(this.folder, this.weightsName));
        if (size !== Number(weightsBytes)) return undefined;
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
      await file.writeFile(onnx);
    });
    if (isWritten) await this.prune();
    return isWritten;
  }

  /** @returns whether the weights file is there now; errors of `fill` that are not the disk's pass through. */
  writeWeights(fill: (file: FileHandle) => Promise<void>): Promise<boolean> {
    return this.writeAtomically(join(this.folder, this.weightsName), fill);
  }

  private async writeAtomically(path: string, fill: (file: FileHandle) => Promise<void>): Promise<boolean> {
    const temporary = `${path}.${process.pid}.${randomBytes(4).toString('hex')}.tmp`;
    try {
      await mkdir(this.folder, { recursive: true });
      const file = await open(temporary, 'wx');
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

  private async prune(): Promise<void> {
    try {
      const models: { name: string; usedAt: number }[] = [];
      for (const name of await readdir(this.folder)) {
        if (!name.endsWith('.onnx')) continue;
        models.push({ name, usedAt: (await stat(join(this.folder, name))).mtimeMs });
      }
      models.sort((a, b) => b.usedAt - a.usedAt);
      for (const { name } of models.slice(MAX_MODELS)) {
        await rm(join(this.folder, name), { force: true });
        await rm(join(this.folder, name.replace(/\.onnx$/, '.weights')), { force: true });
      }
    } catch {
      // Somebody else is tidying up, or the disk has gone; the models that are needed are found or made again.
    }
  }
}

function isFileSystemError(error: unknown): boolean {
  return error instanceof Error && 'syscall' in error;
}
