/**
 * `shards.json`: the inputs of a folder of shards, how far each has been converted, and the settings. With it a run can be
 * resumed, inputs can be added, and shards with different settings cannot be mixed.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { failure, type Result, success } from '../util/index.js';
import type { SplitCounts } from './shard-writer.js';

export interface ManifestInput {
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

export interface ShardsManifest {
  /** All settings that affect the rows, as text to compare. */
  readonly settings: string;
  readonly inputs: ManifestInput[];
}

const MANIFEST_NAME = 'shards.json';

export function loadManifest(folder: string, settings: string): Result<ShardsManifest> {
  const path = join(folder, MANIFEST_NAME);
  if (!existsSync(path)) return success({ settings, inputs: [] });
  let manifest: ShardsManifest;
  try {
    manifest = JSON.parse(readFileSync(path, 'utf8')) as ShardsManifest;
  } catch {
    return failure(`${path} is damaged; remove the folder and start again`);
  }
  if (manifest.settings === settings) return success(manifest);
  return failure(`${folder} holds shards made with other settings (${manifest.settings}); choose another folder`);
}

/** Replaces the file atomically, so that a killed process leaves the old or the new one. */
export function saveManifest(folder: string, manifest: ShardsManifest): void {
  const path = join(folder, MANIFEST_NAME);
  writeFileSync(`${path}.part`, `${JSON.stringify(manifest, null, 1)}\n`);
  renameSync(`${path}.part`, path);
}

/** Returns the entry of an input, and creates it at first. Fails if the input has changed since, because some games would be read twice. */
export function enterInput(manifest: ShardsManifest, path: string, bytes: number): Result<ManifestInput> {
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
