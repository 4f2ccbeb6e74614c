/**
 * The measured speeds of networks, in the user's cache folder: one small file for each processor, version of ONNX Runtime and
 * set of networks, so that a change of any of them leads to a new measurement. A file that cannot be read counts as missing,
 * and one that cannot be written costs a new measurement at the next start.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { join } from 'node:path';
import { readCacheFile, writeCacheFile } from '#platform/cache-files.js';
import { findCacheFolder } from '#platform/folders.js';
import { readRuntimeVersion } from '#platform/onnx-runtime.js';

/** The file's format and the way of measuring: increase it when one of them changes. */
const VERSION = 3;

/** SHA-256 of a network's file → nodes per second of its search in each round. All networks have the same number of rounds. */
export type SpeedTable = ReadonlyMap<string, readonly number[]>;

/** What speeds depend on, apart from the networks. */
export interface SpeedSetting {
  readonly machine: string;
  /** What the CPU can do, where the system tells: two CPUs of one name may differ, as under a virtual machine. */
  readonly features: string;
  readonly architecture: string;
  readonly onnxRuntime: string;
}

export interface StoredSpeeds {
  readonly speeds: SpeedTable;
  readonly path: string;
}

export function describeMachine(): string {
  return `${cpus()[0]?.model.trim() ?? 'unknown'} × ${availableParallelism()}`;
}

function readFeatures(): string {
  try {
    const [, flags = ''] = /^(?:flags|Features)\s*:(.*)$/m.exec(readFileSync('/proc/cpuinfo', 'utf8')) ?? [];
    return createHash('sha256').update(flags.trim()).digest('hex').slice(0, 16);
  } catch {
    return process.env.PROCESSOR_IDENTIFIER ?? '';
  }
}

function describeSetting(): SpeedSetting {
  return {
    machine: describeMachine(),
    features: readFeatures(),
    architecture: process.arch,
    onnxRuntime: readRuntimeVersion(),
  };
}

export class SpeedStore {
  /** @param findFolder undefined when nothing can be kept */
  constructor(
    private readonly findFolder = (): string | undefined => findCacheFolder('speeds'),
    private readonly describe: () => SpeedSetting = describeSetting,
  ) {}

  /** The speeds of all these networks; null if they have not been measured in this setting. */
  async read(digests: readonly string[]): Promise<StoredSpeeds | null> {
    try {
      const folder = this.findFolder();
      if (folder === undefined) return null;
      const { name, key } = this.createKey(digests);
      const text = Buffer.from(await readCacheFile(folder, name)).toString('utf8');
      const stored = parseSpeeds(text, key, digests);
      return stored === null ? null : { ...stored, path: join(folder, name) };
    } catch {
      // Not there, or damaged.
      return null;
    }
  }

  /** @returns the file; null if it could not be written */
  async write(speeds: SpeedTable): Promise<string | null> {
    try {
      const folder = this.findFolder();
      if (folder === undefined) return null;
      const { name, key } = this.createKey([...speeds.keys()]);
      const bytes = Buffer.from(formatSpeeds(speeds, key));
      const isWritten = await writeCacheFile(folder, name, (file) => file.write(bytes, 0));
      return isWritten ? join(folder, name) : null;
    } catch {
      // The version of onnxruntime is not readable; loading it will report that.
      return null;
    }
  }

  private createKey(digests: readonly string[]): { readonly name: string; readonly key: string } {
    const { machine, features, architecture, onnxRuntime } = this.describe();
    const key = [
      `version ${VERSION}`,
      `${machine} ${features}`.trim(),
      architecture,
      `onnxruntime ${onnxRuntime}`,
      ...[...digests].sort(),
    ];
    const hash = createHash('sha256').update(key.join('\n')).digest('hex');
    return { name: `${hash.slice(0, 16)}.json`, key: key.slice(0, 4).join(', ') };
  }
}

function formatSpeeds(speeds: SpeedTable, key: string): string {
  return `${JSON.stringify({ measuredOn: key, nodesPerSecond: Object.fromEntries(speeds) }, null, 2)}\n`;
}

/** @returns null if the file is damaged or lacks one of the networks */
function parseSpeeds(text: string, key: string, digests: readonly string[]): Omit<StoredSpeeds, 'path'> | null {
  const stored = JSON.parse(text) as { measuredOn?: unknown; nodesPerSecond?: Record<string, unknown> } | null;
  if (stored?.measuredOn !== key) return null;
  const speeds = new Map<string, readonly number[]>();
  for (const digest of digests) {
    const rounds = stored.nodesPerSecond?.[digest];
    if (!Array.isArray(rounds) || !rounds.every((speed) => typeof speed === 'number' && speed > 0)) return null;
    speeds.set(digest, rounds);
  }
  const counts = new Set([...speeds.values()].map(({ length }) => length));
  return counts.size === 1 ? { speeds } : null;
}
