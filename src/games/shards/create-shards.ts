/**
 * A shards run: hands input files to worker threads, one at a time, and updates the manifest. It continues where an earlier run
 * with the same settings stopped, and refuses a folder with other settings.
 */
import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { createFolder } from '#platform/folders.js';
import { startThread } from '#platform/threads.js';
import { failure, type Result, runSideBySide, success } from '../../base/util/index.js';
import { getInputEncoding, getPolicyEncoding } from '../../networks/encoding/index.js';
import { findGameFormat, KNOWN_KINDS } from './convert-input.js';
import type { FromShardsWorker, ShardSettings, ShardsTask } from './shards-messages.js';
import { SPLITS, type Split, type SplitCounts } from './splits.js';

export interface ShardsOptions extends ShardSettings {
  readonly inputs: readonly string[];
  readonly folder: string;
  readonly threads: number;
  /** All games of files whose names contain one of these texts are for validation. */
  readonly validationFiles: readonly string[];
  readonly testFiles: readonly string[];
  /** Approximate number of positions in all, shared evenly among the files; Infinity = all. */
  readonly maxPositions: number;
}

export interface ShardsEvents {
  onProgress(bytesDone: number, bytesTotal: number, positions: number): void;
  onWarning(text: string): void;
}

export interface ShardsSummary {
  readonly positions: SplitCounts;
  readonly games: number;
  readonly damaged: number;
  /** Positions that this run has added to those of earlier runs. */
  readonly newPositions: number;
  /** Files that this run refused; it kept what came before the reason. */
  readonly refused: number;
}

/** The files of a folder that are read; other files must be named one by one. */
const GAME_FILE = /\.(?:jsonl|pgn)(?:\.gz|\.zst|\.bz2)?$|\.zip$|\.tar(?:\.gz|\.zst|\.bz2)?$|\.tgz$/i;

interface PendingInput {
  readonly path: string;
  readonly entry: ManifestInput;
}

function chooseOnlySplit(name: string, options: ShardsOptions): Split | null {
  if (options.testFiles.some((text) => name.includes(text))) return 'test';
  if (options.validationFiles.some((text) => name.includes(text))) return 'validation';
  return null;
}

function pickSettings({ input, policy, historyFill, shares, filter }: ShardsOptions): ShardSettings {
  return { input, policy, historyFill, shares, filter };
}

function describeSettings(options: ShardsOptions): string {
  const { validationFiles, testFiles } = options;
  const maxPositions = String(options.maxPositions);
  return JSON.stringify({ ...pickSettings(options), validationFiles, testFiles, maxPositions });
}

/** Size on disk, for progress and to notice an input that has changed. */
function countBytes(path: string): number {
  // A file may have gone since it was listed, and a link may lead nowhere.
  const stats = statSync(path, { throwIfNoEntry: false });
  if (stats?.isDirectory() !== true) return stats?.size ?? 0;
  return readdirSync(path).reduce((sum, name) => sum + countBytes(join(path, name)), 0);
}

/**
 * Folders of games → the files in them; folders of lc0 records stay whole. Names must exist and be of a known kind;
 * duplicates count once.
 */
export async function listInputs(names: readonly string[]): Promise<Result<string[]>> {
  const paths: string[] = [];
  for (const name of names) {
    if (!existsSync(name)) return failure(`There is no file ${name}`);
    const format = await findGameFormat(name);
    if (!statSync(name).isDirectory() || format.ok) {
      if (!format.ok) return format;
      paths.push(resolve(name));
      continue;
    }
    const files = readdirSync(name).map((file) => join(name, file));
    const games = files.filter(
      (file) => GAME_FILE.test(file) && statSync(file, { throwIfNoEntry: false })?.isFile() === true,
    );
    if (games.length === 0) return failure(`There are no games in ${name}; supported are ${KNOWN_KINDS}`);
    paths.push(...games.sort().map((file) => resolve(file)));
  }
  return paths.length === 0 ? failure('No input file was named') : success([...new Set(paths)]);
}

function summarise(manifest: ShardsManifest, newPositions: number, refused: number): ShardsSummary {
  const positions = { train: 0, validation: 0, test: 0 };
  let games = 0;
  let damaged = 0;
  for (const input of manifest.inputs) {
    for (const split of SPLITS) positions[split] += input.positions[split];
    games += input.games;
    damaged += input.damaged;
  }
  return { positions, games, damaged, newPositions, refused };
}

export async function createShards(options: ShardsOptions, events: ShardsEvents): Promise<Result<ShardsSummary>> {
  const input = getInputEncoding(options.input);
  if (!input.ok) return input;
  const policy = getPolicyEncoding(options.policy);
  if (!policy.ok) return policy;
  const inputs = await listInputs(options.inputs);
  if (!inputs.ok) return inputs;
  try {
    createFolder(options.folder);
  } catch (error) {
    return failure((error as Error).message);
  }
  const loaded = loadManifest(options.folder, describeSettings(options));
  if (!loaded.ok) return loaded;
  const manifest = loaded.value;
  const all: PendingInput[] = [];
  for (const path of inputs.value) {
    const entry = enterInput(manifest, path, countBytes(path));
    if (!entry.ok) return entry;
    all.push({ path, entry: entry.value });
  }
  saveManifest(options.folder, manifest);
  const pending = all.filter(({ entry }) => !entry.isDone);
  const bytesTotal = all.reduce((sum, { entry }) => sum + entry.bytes, 0);
  let bytesDone = all.reduce((sum, { entry }) => sum + (entry.isDone ? entry.bytes : 0), 0);
  let newPositions = 0;
  let refused = 0;

  const handle = (entry: ManifestInput, message: FromShardsWorker): void => {
    if (message.type === 'progress') {
      bytesDone += message.bytes;
      newPositions += message.positions;
      events.onProgress(bytesDone, bytesTotal, newPositions);
    } else if (message.type === 'warning') {
      events.onWarning(message.text);
    } else if (message.type === 'part') {
      entry.parts++;
      entry.games = message.games;
      for (const split of SPLITS) entry.positions[split] += message.counts[split];
      saveManifest(options.folder, manifest);
    } else {
      entry.isDone = !message.isRefused;
      // The next run reads a refused file again.
      if (message.isRefused) refused++;
      else entry.damaged += message.damaged;
      saveManifest(options.folder, manifest);
    }
  };

  const workers: ShardsThread[] = [];
  const runThread = async (): Promise<void> => {
    const worker = new ShardsThread();
    workers.push(worker);
    try {
      for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
        await worker.convert(createTask(next, options, all.length), (message) => handle(next.entry, message));
      }
    } finally {
      await worker.terminate();
    }
  };
  // The next run repeats the parts that the threads have not finished.
  const endThreads = (): void => {
    pending.length = 0;
    for (const worker of workers) void worker.terminate();
  };
  const threads = Math.min(Math.max(1, options.threads), pending.length);
  try {
    await runSideBySide(threads, runThread, endThreads);
  } catch (error) {
    return failure(`Writing shards failed: ${(error as Error).message}`);
  }
  return success(summarise(manifest, newPositions, refused));
}

function createTask({ path, entry }: PendingInput, options: ShardsOptions, inputCount: number): ShardsTask {
  const { train, validation, test } = entry.positions;
  return {
    path,
    inputNumber: entry.number,
    firstPart: entry.parts,
    skipGames: entry.games,
    onlySplit: chooseOnlySplit(basename(path), options),
    maxPositions: Math.ceil(options.maxPositions / inputCount) - train - validation - test,
    folder: options.folder,
    settings: pickSettings(options),
  };
}

/** A worker thread, which converts one file at a time. */
class ShardsThread {
  private onMessage: (message: FromShardsWorker) => void = () => undefined;
  private fail: (error: Error) => void = () => undefined;
  private readonly thread = startThread<ShardsTask, FromShardsWorker>(
    new URL('./shards-worker.js', import.meta.url),
    { name: 'shards' },
    { onMessage: (message) => this.onMessage(message), onError: (error) => this.fail(error) },
  );

  constructor() {
    void this.thread.ended.then(() => this.fail(new Error('a thread ended')));
  }

  /** Rejects when the thread cannot write, when `onMessage` throws, and when the thread is ended. */
  convert(task: ShardsTask, onMessage: (message: FromShardsWorker) => void): Promise<void> {
    return new Promise((resolve, reject) => {
      this.fail = reject;
      this.onMessage = (message) => {
        try {
          onMessage(message);
        } catch (error) {
          reject(error);
        }
        if (message.type === 'done') resolve();
      };
      this.thread.post(task);
    });
  }

  terminate(): Promise<void> {
    return this.thread.terminate();
  }
}

/**
 * `shards.json`: the inputs of a folder of shards, how far each has been converted, and the settings. With it a run can be
 * resumed, inputs can be added, and shards with different settings cannot be mixed.
 */
interface ManifestInput {
  /** First half of the shards' file names. */
  readonly number: number;
  readonly path: string;
  readonly bytes: number;
  /** Finished parts, and the games read for them. */
  parts: number;
  games: number;
  damaged: number;
  isDone: boolean;
  readonly positions: SplitCounts;
}

interface ShardsManifest {
  /** All settings that affect the rows, as text to compare. */
  readonly settings: string;
  readonly inputs: ManifestInput[];
}

const MANIFEST_NAME = 'shards.json';

function loadManifest(folder: string, settings: string): Result<ShardsManifest> {
  const path = join(folder, MANIFEST_NAME);
  if (!existsSync(path)) return success({ settings, inputs: [] });
  let manifest: ShardsManifest;
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8')) as ShardsManifest;
    if (!Array.isArray(manifest.inputs)) throw new Error();
  } catch {
    return failure(`${path} is damaged; remove the folder and start again`);
  }
  if (manifest.settings === settings) return success(manifest);
  return failure(`${folder} holds shards made with other settings (${manifest.settings}); choose another folder`);
}

/** Replaces the file atomically, so that a killed process leaves the old or the new one. */
function saveManifest(folder: string, manifest: ShardsManifest): void {
  const path = join(folder, MANIFEST_NAME);
  writeFileSync(`${path}.part`, `${JSON.stringify(manifest, null, 1)}\n`);
  renameSync(`${path}.part`, path);
}

/** Returns the entry of an input, and creates it at first. Fails if the input has changed since, because some games would be read twice. */
function enterInput(manifest: ShardsManifest, path: string, bytes: number): Result<ManifestInput> {
  const known = manifest.inputs.find((input) => input.path === path);
  if (known !== undefined && known.bytes !== bytes) {
    return failure(`${path} has changed since shards were made of it; choose another folder for the shards`);
  }
  if (known !== undefined) return success(known);
  const entry: ManifestInput = {
    number: manifest.inputs.length,
    path,
    bytes,
    parts: 0,
    games: 0,
    damaged: 0,
    isDone: false,
    positions: { train: 0, validation: 0, test: 0 },
  };
  manifest.inputs.push(entry);
  return success(entry);
}
