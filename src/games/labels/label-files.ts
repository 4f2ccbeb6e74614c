/**
 * The output of a labelling run: files `PREFIX_0000.jsonl.gz`, … of about `pliesPerFile` plies each, the unfinished file as
 * `….jsonl.part`, and `PREFIX.json` with the settings and the finished files. Played games are written in order of their number,
 * so the number of lines on disk is the number of the next game. A source game may become several lines, of which the last one
 * holds the number of the next source. A killed run loses only the running games and repeats no other.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createFolder } from '#platform/folders.js';
import { decodeText, failure, type Result, readLines, success } from '../../base/util/index.js';
import { readChunks } from '../records/index.js';
import { countScored, type LabelledGameRecord } from './label-record.js';
import type { LabelSettings, PositionSettings } from './label-settings.js';

interface FinishedFile {
  readonly name: string;
  readonly games: number;
  readonly plies: number;
  /** Number of the source after the file's last one; absent where games were played. */
  readonly next?: number;
  /** Plies with scores; absent where games were played. */
  readonly scored?: number;
}

type Settings = LabelSettings | PositionSettings;

interface Manifest {
  readonly settings: Settings;
  readonly files: readonly FinishedFile[];
}

export class LabelFiles {
  private partGames = 0;
  private partPlies = 0;
  private partScored = 0;
  /** Of the unfinished file; undefined where games are played, and before its first line. */
  private partNext: number | undefined;

  private constructor(
    private readonly folder: string,
    private readonly prefix: string,
    private readonly pliesPerFile: number,
    private manifest: Manifest,
  ) {}

  /** Starts a run, or resumes one with the same settings. */
  static open(folder: string, prefix: string, settings: Settings, pliesPerFile: number): Result<LabelFiles> {
    createFolder(folder);
    const path = join(folder, `${prefix}.json`);
    let manifest: Manifest = { settings, files: [] };
    if (existsSync(path)) {
      try {
        manifest = JSON.parse(readFileSync(path, 'utf8')) as Manifest;
        if (!Array.isArray(manifest.files)) throw new Error('it lists no files');
      } catch (error) {
        return failure(`${path} is damaged: ${(error as Error).message}`);
      }
      if (!isDeepStrictEqual(manifest.settings, settings)) {
        return failure(`${path} belongs to a run with other settings; choose another --prefix or --out`);
      }
    }
    const files = new LabelFiles(folder, prefix, pliesPerFile, manifest);
    files.saveManifest();
    try {
      files.recoverPart();
    } catch (error) {
      return failure(`${files.partPath()} is damaged: ${(error as Error).message}`);
    }
    return success(files);
  }

  /** Games on disk, which is the number of the next game. */
  get games(): number {
    return this.partGames + this.manifest.files.reduce((sum, file) => sum + file.games, 0);
  }

  get plies(): number {
    return this.partPlies + this.manifest.files.reduce((sum, file) => sum + file.plies, 0);
  }

  /** Plies with scores, of a run that labels positions. */
  get scored(): number {
    return this.partScored + this.manifest.files.reduce((sum, file) => sum + (file.scored ?? 0), 0);
  }

  /** Sources that are done, of a run that labels positions. */
  get finishedSources(): number {
    return this.partNext ?? this.manifest.files.at(-1)?.next ?? 0;
  }

  /** Adds the game whose number is `games`, or all lines of a source. */
  append(records: readonly LabelledGameRecord[]): void {
    appendFileSync(this.partPath(), records.map((record) => `${JSON.stringify(record)}\n`).join(''));
    for (const record of records) this.count(record);
    if (this.partPlies >= this.pliesPerFile) this.finishPart();
  }

  /** All lines on disk, in order. */
  async *readRecords(): AsyncGenerator<LabelledGameRecord> {
    const paths = this.manifest.files.map(({ name }) => join(this.folder, name));
    if (this.partGames > 0) paths.push(this.partPath());
    for (const path of paths) {
      for await (const { text } of readLines(decodeText(readChunks(path, 'labels'))))
        yield JSON.parse(text) as LabelledGameRecord;
    }
  }

  private count(record: LabelledGameRecord): void {
    this.partGames++;
    this.partPlies += record.plies.length;
    this.partScored += countScored(record);
    this.partNext = record.next ?? this.partNext;
  }

  /** Compresses the last file, complete or not; for the end of a run of known length. */
  finishPart(): void {
    if (this.partGames === 0) return;
    const name = `${this.stem()}.jsonl.gz`;
    const temporary = join(this.folder, `${name}.tmp`);
    writeFileSync(temporary, gzipSync(readFileSync(this.partPath()), { level: 9 }));
    renameSync(temporary, join(this.folder, name));
    const part = this.partPath();
    const next = this.partNext === undefined ? {} : { next: this.partNext, scored: this.partScored };
    const finished = { name, games: this.partGames, plies: this.partPlies, ...next };
    this.manifest = { ...this.manifest, files: [...this.manifest.files, finished] };
    this.saveManifest();
    rmSync(part);
    this.partGames = 0;
    this.partPlies = 0;
    this.partScored = 0;
    this.partNext = undefined;
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

  /** Counts the games of an unfinished file and cuts off a half-written line, or a source whose last line is missing. */
  private recoverPart(): void {
    // A kill between the manifest and the removal of a compressed file's source leaves it behind.
    if (this.manifest.files.length > 0) rmSync(this.partPath(this.manifest.files.length - 1), { force: true });
    const path = this.partPath();
    if (!existsSync(path)) return;
    const bytes = readFileSync(path);
    const lines = bytes.toString('latin1', 0, bytes.lastIndexOf(10) + 1).split('\n');
    const records = lines.filter((line) => line !== '').map((line) => JSON.parse(line) as LabelledGameRecord);
    if ('from' in this.manifest.settings) {
      while (records.length > 0 && records[records.length - 1].next === undefined) records.pop();
    }
    truncateSync(
      path,
      lines.slice(0, records.length).reduce((sum, line) => sum + line.length + 1, 0),
    );
    for (const record of records) this.count(record);
    if (this.partPlies >= this.pliesPerFile) this.finishPart();
  }
}
