/**
 * The output of a labelling run: files `PREFIX_0000.jsonl.gz`, … of about `pliesPerFile` plies each, the unfinished file as
 * `….jsonl.part`, and `PREFIX.json` with the settings and the finished files. Games are written in order of their number, so
 * the number of lines on disk is the number of the next game. A killed run loses only the running games and repeats no other.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createFolder } from '#platform/folders.js';
import { failure, type Result, success } from '../../util/index.js';
import type { LabelledGameRecord } from './label-game.js';
import type { LabelSettings } from './label-settings.js';

interface FinishedFile {
  readonly name: string;
  readonly games: number;
  readonly plies: number;
}

interface Manifest {
  readonly settings: LabelSettings;
  readonly files: readonly FinishedFile[];
}

export class LabelFiles {
  private partGames = 0;
  private partPlies = 0;

  private constructor(
    private readonly folder: string,
    private readonly prefix: string,
    private readonly pliesPerFile: number,
    private manifest: Manifest,
  ) {}

  /** Starts a run, or resumes one with the same settings. */
  static open(folder: string, prefix: string, settings: LabelSettings, pliesPerFile: number): Result<LabelFiles> {
    createFolder(folder);
    const path = join(folder, `${prefix}.json`);
    let manifest: Manifest = { settings, files: [] };
    if (existsSync(path)) {
      try {
        manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
      } catch (error) {
        return failure(`${path} is damaged: ${(error as Error).message}`);
      }
      if (!isDeepStrictEqual(manifest.settings, settings)) {
        return failure(`${path} belongs to a run with other settings; choose another --prefix or --out`);
      }
    }
    const files = new LabelFiles(folder, prefix, pliesPerFile, manifest);
    files.saveManifest();
    files.recoverPart();
    return success(files);
  }

  /** Games on disk, which is the number of the next game. */
  get games(): number {
    return this.partGames + this.manifest.files.reduce((sum, file) => sum + file.games, 0);
  }

  get plies(): number {
    return this.partPlies + this.manifest.files.reduce((sum, file) => sum + file.plies, 0);
  }

  /** Adds the game whose number is `games`. */
  append(record: LabelledGameRecord): void {
    appendFileSync(this.partPath(), `${JSON.stringify(record)}\n`);
    this.partGames++;
    this.partPlies += record.plies.length;
    if (this.partPlies >= this.pliesPerFile) this.finishPart();
  }

  /** Compresses the last file, complete or not; for the end of a run of known length. */
  finishPart(): void {
    if (this.partGames === 0) return;
    const name = `${this.stem()}.jsonl.gz`;
    const temporary = join(this.folder, `${name}.tmp`);
    writeFileSync(temporary, gzipSync(readFileSync(this.partPath()), { level: 9 }));
    renameSync(temporary, join(this.folder, name));
    const part = this.partPath();
    const finished = { name, games: this.partGames, plies: this.partPlies };
    this.manifest = { ...this.manifest, files: [...this.manifest.files, finished] };
    this.saveManifest();
    rmSync(part);
    this.partGames = 0;
    this.partPlies = 0;
  }

  private stem(index = this.manifest.files.length): string {
    return `${this.prefix}_${String(index).padStart(4, '0')}`;
  }

  private partPath(index?: number): string {
    return join(this.folder, `${this.stem(index)}.jsonl.part`);
  }

  private saveManifest(): void {
    const path = join(this.folder, `${this.prefix}.json`);
    writeFileSync(`${path}.tmp`, `${JSON.stringify(this.manifest, null, 2)}\n`);
    renameSync(`${path}.tmp`, path);
  }

  /** Counts the games of an unfinished file and cuts off a half-written line. */
  private recoverPart(): void {
    // A kill between the manifest and the removal of a compressed file's source leaves it behind.
    if (this.manifest.files.length > 0) rmSync(this.partPath(this.manifest.files.length - 1), { force: true });
    const path = this.partPath();
    if (!existsSync(path)) return;
    const bytes = readFileSync(path);
    const length = bytes.lastIndexOf(10) + 1;
    truncateSync(path, length);
    for (const line of bytes.toString('latin1', 0, length).split('\n')) {
      if (line === '') continue;
      this.partGames++;
      this.partPlies += (JSON.parse(line) as LabelledGameRecord).plies.length;
    }
    if (this.partPlies >= this.pliesPerFile) this.finishPart();
  }
}
