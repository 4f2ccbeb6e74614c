/**
 * The results of `sardonyx tune`, in the user's config folder: for each network (by hash), backend and machine, the
 * threads and batches that search fastest. They are used when the user sets none of these options. A file that cannot be
 * read counts as empty.
 */
import { readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { createFolder, findCacheFolder, getConfigFolder } from '#platform/folders.js';
import type { OptionStore } from '../../base/options/index.js';
import { failure, type Result, success, unwrap } from '../../base/util/index.js';
import type { TunedSpeed } from '../../networks/nn/index.js';
import { computeDigest, isFileless, type ResolvedNetwork, readNetwork, resolveNetwork } from './network-file.js';

export type SpeedSettings = TunedSpeed;

/** The combination that a result is valid for. */
export interface TuningKey {
  readonly sha256: string;
  readonly bytes: number;
  readonly backend: string;
  readonly backendOptions: string;
  readonly machine: string;
}

export interface TunedSettings extends TuningKey, SpeedSettings {
  readonly network: string;
  readonly nodesPerSecond: number;
  /** Speed of the engine's own defaults, for comparison. */
  readonly defaultNodesPerSecond: number;
  readonly date: string;
}

const FILE = 'tuning.json';
const SPEED_OPTIONS = ['Threads', 'MinibatchSize', 'BatchesInFlight'] as const;

export function describeMachine(): string {
  return `${cpus()[0]?.model.trim() ?? 'unknown'} × ${availableParallelism()}`;
}

export function getTuningPath(): string | undefined {
  const folder = getConfigFolder();
  return folder === undefined ? undefined : join(folder, FILE);
}

/** Whether the user leaves threads and batches to the engine, and there is a network to tune for. */
export function isTunable(options: OptionStore): boolean {
  return !isFileless(options) && SPEED_OPTIONS.every((name) => options.getNumber(name) === 0);
}

export function parseTunings(text: string): TunedSettings[] {
  try {
    const parsed: unknown = JSON.parse(text);
    const rows = (parsed as { results?: unknown }).results;
    return Array.isArray(rows) ? rows.filter(isTunedSettings) : [];
  } catch {
    return [];
  }
}

export function formatTunings(results: readonly TunedSettings[]): string {
  return `${JSON.stringify({ results }, null, 2)}\n`;
}

function isTunedSettings(row: Partial<Record<keyof TunedSettings, unknown>> | null): row is TunedSettings {
  if (typeof row !== 'object' || row === null) return false;
  const texts = [row.sha256, row.backend, row.backendOptions, row.machine, row.network, row.date];
  const counts = [row.threads, row.minibatch, row.batchesInFlight];
  return (
    texts.every((text) => typeof text === 'string') &&
    typeof row.bytes === 'number' &&
    typeof row.nodesPerSecond === 'number' &&
    typeof row.defaultNodesPerSecond === 'number' &&
    counts.every((count) => Number.isInteger(count) && (count as number) >= 1 && (count as number) <= 1024)
  );
}

let hasHinted = false;

/** Whether this user has not yet been told of `tune` on this machine; asking counts as telling. Without a folder: in this process. */
export function isFirstTuningHint(): boolean {
  if (hasHinted) return false;
  hasHinted = true;
  const folder = findCacheFolder('hints');
  if (folder === undefined) return true;
  try {
    writeFileSync(join(folder, 'tune'), '', { flag: 'wx' });
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'EEXIST';
  }
}

export function readTunings(): TunedSettings[] {
  const path = getTuningPath();
  try {
    return path === undefined ? [] : parseTunings(readFileSync(path, 'utf8'));
  } catch {
    return [];
  }
}

/** Replaces an older result for the same key. @returns the file, or why it could not be written. */
export function saveTuning(tuned: TunedSettings): Result<string> {
  const path = getTuningPath();
  if (path === undefined)
    return failure('There is no home folder to save the result in: set SARDONYX_CONFIG to a folder');
  const others = readTunings().filter((other) => !isSameKey(other, tuned));
  try {
    createFolder(dirname(path), 0o700);
    writeFileSync(`${path}.new`, formatTunings([...others, tuned]));
    renameSync(`${path}.new`, path);
    return success(path);
  } catch (error) {
    return failure(`The result cannot be saved: ${(error as Error).message}`);
  }
}

function isSameKey(a: TuningKey, b: TuningKey): boolean {
  return isSameSetting(a, b) && a.sha256 === b.sha256;
}

function isSameSetting(a: Omit<TuningKey, 'sha256'>, b: Omit<TuningKey, 'sha256'>): boolean {
  return (
    a.bytes === b.bytes && a.backend === b.backend && a.backendOptions === b.backendOptions && a.machine === b.machine
  );
}

function describeSetting(
  options: OptionStore,
  { provider }: ResolvedNetwork,
  bytes: number,
): Omit<TuningKey, 'sha256'> {
  return { bytes, backend: provider, backendOptions: options.getString('BackendOptions'), machine: describeMachine() };
}

/** Rejects with a sentence for the user when the network cannot be found or read. */
export async function createTuningKey(options: OptionStore): Promise<TuningKey & { network: string }> {
  const network = unwrap(await resolveNetwork(options));
  const bytes = await readNetwork(network);
  return {
    ...describeSetting(options, network, bytes.byteLength),
    sha256: computeDigest(bytes),
    network: basename(network.path),
  };
}

/**
 * The saved result for a network and these options; null when there is none or the user has chosen. The network is read only when a
 * result for its backend and machine is there.
 */
export async function findTuning(options: OptionStore, network: ResolvedNetwork): Promise<TunedSettings | null> {
  if (!isTunable(options)) return null;
  const results = readTunings();
  if (results.length === 0) return null;
  try {
    const sizeBytes = network.builtIn === null ? statSync(network.path).size : (await readNetwork(network)).byteLength;
    const setting = describeSetting(options, network, sizeBytes);
    const suitable = results.filter((result) => isSameSetting(result, setting));
    if (suitable.length === 0) return null;
    const sha256 = computeDigest(await readNetwork(network));
    return suitable.find((result) => result.sha256 === sha256) ?? null;
  } catch {
    // Loading the network reports what is wrong with it.
    return null;
  }
}
