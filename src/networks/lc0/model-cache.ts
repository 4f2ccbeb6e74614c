/**
 * Converted networks on disk, so that later starts are fast. A file's name is a hash of everything that decides its content.
 * Files appear complete, by renaming, and are never updated; two processes that convert the same network at once write the same
 * file. A cache that cannot be used (read-only folder, full disk) is no error.
 *
 * The cache detects damaged files. The model holds a digest of itself, and all of it is checked: 0.6 ms a megabyte, 32 MB at
 * most if weights may be kept apart. Checking separate weights (up to 800 MB) would add a quarter to the start, so only
 * their length and pages spread over the file are checked. These checks find what crashes leave behind (cut, zeroed or
 * foreign stretches), but not a single flipped bit. A damaged model is converted again without a message. Old models are deleted, the
 * least recently used ones first.
 */

import { computeSha256 } from '#platform/byte-streams.js';
import {
  findCacheFolder,
  type NewCacheFile,
  type OpenCacheFile,
  readCacheFile,
  touchCacheFile,
  withCacheFile,
  writeCacheFile,
} from '#platform/cache-files.js';
import { concatBytes } from '../../base/util/index.js';
import { decodeModel, modelType } from '../nn/index.js';
import { pruneModels } from './prune-models.js';

/** Metadata entry with the length of the weights file beside the model. */
export const WEIGHTS_BYTES_KEY = 'sardonyx.weights_bytes';
/** Metadata entries with digests: of the model up to this entry, which is its last; of the sampled pages of the weights file. */
const DIGEST_KEY = 'sardonyx.digest';
const WEIGHTS_DIGEST_KEY = 'sardonyx.weights_digest';
const PAGE_BYTES = 4096;
const SAMPLED_PAGES = 128;

export interface CachedModel {
  readonly onnx: Uint8Array;
  readonly metadata: ReadonlyMap<string, string>;
  /** Whether the weights are in a file of their own in the cache folder. */
  readonly hasWeightsFile: boolean;
}

export class ModelCache {
  /** Digest of the weights file written last. */
  private weightsDigest: string | undefined;

  private constructor(
    readonly folder: string,
    private readonly modelName: string,
    /** The model refers to its weights by this file name. */
    readonly weightsName: string,
  ) {}

  /**
   * @param folder undefined for the user's cache, null for none
   * @param parts everything that decides the content: the network's hash, the builder's version, options
   * @returns undefined if there is no folder, or no place is writable
   */
  static async open(folder: string | null | undefined, parts: readonly string[]): Promise<ModelCache | undefined> {
    const place = folder === undefined ? findCacheFolder('lc0') : folder;
    if (!place) return undefined;
    const key = (await computeSha256([new TextEncoder().encode(JSON.stringify(parts))])).slice(0, 40);
    return new ModelCache(place, `${key}.onnx`, `${key}.weights`);
  }

  /** @returns undefined if the cache has no intact model */
  async read(): Promise<CachedModel | undefined> {
    try {
      const onnx = await unsealModel(await readCacheFile(this.folder, this.modelName));
      const entries = onnx ? (decodeModel(onnx)?.metadataProps ?? []) : [];
      if (!onnx || entries.length === 0) return undefined;
      const metadata = new Map(entries.map(({ key, value }) => [key, value]));
      const weightsBytes = metadata.get(WEIGHTS_BYTES_KEY);
      if (weightsBytes !== undefined) {
        const isWhole = await withCacheFile(
          this.folder,
          this.weightsName,
          async (file) =>
            (await file.getSize()) === Number(weightsBytes) &&
            (await digestSamples(file)) === metadata.get(WEIGHTS_DIGEST_KEY),
        );
        if (!isWhole) return undefined;
      }
      await touchCacheFile(this.folder, this.modelName);
      return { onnx, metadata, hasWeightsFile: weightsBytes !== undefined };
    } catch {
      return undefined;
    }
  }

  /** @returns whether the model is in the cache now. */
  async write(onnx: Uint8Array): Promise<boolean> {
    const isWritten = await writeCacheFile(this.folder, this.modelName, async (file) => {
      await file.write(await sealModel(onnx, this.weightsDigest), 0);
    });
    // Prune even if nothing was written: old models may be why the disk is full.
    await pruneModels(this.folder, this.modelName);
    return isWritten;
  }

  /** @returns whether the weights file is in the cache now. Errors of `fill` that are not the disk's are passed on. */
  writeWeights(fill: (file: NewCacheFile) => Promise<void>): Promise<boolean> {
    return writeCacheFile(this.folder, this.weightsName, async (file) => {
      await fill(file);
      this.weightsDigest = await digestSamples(file);
    });
  }
}

/** Concatenated protobuf messages merge, so the entries join the model's own and the result is still an ONNX file. */
function encodeEntry(key: string, value: string): Uint8Array {
  return modelType.encode({ metadataProps: [{ key, value }] });
}

async function encodeDigest(content: Uint8Array): Promise<Uint8Array> {
  return encodeEntry(DIGEST_KEY, await computeSha256([content]));
}

async function sealModel(onnx: Uint8Array, weightsDigest: string | undefined): Promise<Uint8Array> {
  const content = weightsDigest ? concatBytes([onnx, encodeEntry(WEIGHTS_DIGEST_KEY, weightsDigest)]) : onnx;
  return concatBytes([content, await encodeDigest(content)]);
}

/** @returns the model without its seal; undefined when it is not what was written. */
async function unsealModel(sealed: Uint8Array): Promise<Uint8Array | undefined> {
  const sealBytes = (await encodeDigest(new Uint8Array(0))).length;
  if (sealed.length < sealBytes) return undefined;
  const content = new Uint8Array(sealed.buffer, sealed.byteOffset, sealed.length - sealBytes);
  const seal = await encodeDigest(content);
  return seal.every((byte, i) => sealed[content.length + i] === byte) ? content : undefined;
}

/** Of pages spread evenly over the file, the first and the last among them; of every page of a small file. */
async function digestSamples(file: OpenCacheFile): Promise<string> {
  const pages = Math.ceil((await file.getSize()) / PAGE_BYTES);
  const samples = Math.min(pages, SAMPLED_PAGES);
  async function* readSamples(): AsyncGenerator<Uint8Array> {
    for (let sample = 0; sample < samples; sample++) {
      const index = samples === 1 ? 0 : Math.floor((sample * (pages - 1)) / (samples - 1));
      yield await file.read(index * PAGE_BYTES, PAGE_BYTES);
    }
  }
  return computeSha256(readSamples());
}
