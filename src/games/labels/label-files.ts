/**
 * The output of a labelling run: files `PREFIX_0000.jsonl.gz`, … of about `pliesPerFile` plies each, the unfinished file as
 * `….jsonl.part`, and `PREFIX.json` with the settings and the finished files. Played games are written in order of their number,
 * so the number of lines on disk is the number of the next game. A source game may become several lines, of which the last one
 * holds the number of the next source. A killed run loses only the running games and repeats no other. Also here: the lines of
 * these files, and how the move of a labelled game is chosen.
 */
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { gzipSync } from 'node:zlib';
import { createFolder } from '#platform/folders.js';
import { decodeText, failure, type Prng, type Result, readLines, success, unwrap } from '../../base/util/index.js';
import {
  computeOutcome,
  formatUciMove,
  hasChess960Castling,
  listLegalMoves,
  type Move,
  type Position,
  parseFen,
  parseUciMove,
} from '../../chess/rules/index.js';
import { EngineError, encodeScore, type UciClient, type UciInfo } from '../engines/index.js';
import type { ResultText } from '../play/index.js';
import { readChunks, type Surprise } from '../records/index.js';
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
      for await (const { text } of readLines(decodeText(readChunks(path, () => undefined, 'labels'))))
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

// The lines of label files, as they are written; games/records/labelled-games.ts reads them.

// Chooses the move of a labelled game. With best play only, a network would see few mistakes and would not learn to punish
// them. So games wander: some moves are chosen at random among the scored ones (weight exp(−loss / temperature)), and a few
// among all legal ones.

export interface ScoredMove {
  readonly move: string;
  /** Coded centipawns of the mover, see encodeScore. */
  readonly score: number;
}

export interface WanderRates {
  readonly wander: number;
  readonly blunder: number;
  readonly temperatureCp: number;
}

/**
 * @param scored best first, not empty
 * @param legal all legal moves
 */
export function chooseWanderingMove(
  prng: Prng,
  scored: readonly ScoredMove[],
  legal: readonly string[],
  rates: WanderRates,
): string {
  const dice = prng.nextFloat();
  if (dice < rates.blunder) return legal[prng.nextBelow(legal.length)];
  if (dice >= rates.blunder + rates.wander) return scored[0].move;
  const weights = scored.map(({ score }) => Math.exp((score - scored[0].score) / rates.temperatureCp));
  let rest = prng.nextFloat() * weights.reduce((sum, weight) => sum + weight, 0);
  for (let i = 0; i < scored.length; i++) {
    rest -= weights[i];
    if (rest < 0) return scored[i].move;
  }
  return scored[0].move;
}

/** Played move and scored moves of a ply; no scores where the ply is only on the way. */
export type LabelledPlyRecord = readonly [played: string, scores: readonly (readonly [string, number])[]];

export interface LabelledGameRecord {
  readonly fen: string;
  /** "*" where no game was played to its end; the value is then learned from the score alone. */
  readonly result: ResultText | '*';
  readonly plies: readonly LabelledPlyRecord[];
  /** How far a network's evaluation without search was from the scores; null at plies without them. */
  readonly surprise?: readonly (Surprise | null)[];
  /** At the last line of a source game: the number of the source with which a resumed run continues. */
  readonly next?: number;
}

/** A line before the engine has scored it. */
export interface LabelOrder {
  readonly fen: string;
  readonly result: ResultText | '*';
  /** UCI moves from the FEN, castling in any spelling. */
  readonly moves: readonly string[];
  /** Numbers of the plies to score, rising. The one after the last move is scored too if it is named; its best move is then "played". */
  readonly scoredPlies: readonly number[];
}

export function countScored({ plies }: LabelledGameRecord): number {
  return plies.reduce((sum, [, scores]) => sum + (scores.length > 0 ? 1 : 0), 0);
}

/** Throws an EngineError when the engine does not score a position. */
export async function scorePosition(
  engine: UciClient,
  fen: string,
  moves: readonly string[],
  legal: readonly string[],
  nodes: number,
): Promise<ScoredMove[]> {
  const words = `fen ${fen}${moves.length > 0 ? ` moves ${moves.join(' ')}` : ''}`;
  // A short search often ends within an iteration; its bounds are nearer to the truth than the iteration before (docs/dev/strength-log.md).
  const { lines } = await engine.go(words, { nodes, countsBounds: true });
  const scored = collectScores(lines, legal);
  if (scored.length === 0) throw new EngineError('protocol', `${engine.name} scored no move after "${words}"`);
  return scored;
}

/** Fills in the scores of an order. The engine keeps its hash table from ply to ply. */
export async function fillOrder(engine: UciClient, order: LabelOrder, nodes: number): Promise<LabelledGameRecord> {
  const { fen, result, scoredPlies } = order;
  const position = unwrap(parseFen(fen));
  const isChess960 = hasChess960Castling(position);
  const moves = spellMoves(position.clone(), order.moves, isChess960);
  engine.setChess960(isChess960);
  const wanted = new Set(scoredPlies);
  const plies: LabelledPlyRecord[] = [];
  for (let ply = 0; ply < moves.length || wanted.has(ply); ply++) {
    if (!wanted.has(ply)) plies.push([moves[ply], []]);
    else {
      const scored = await scorePosition(
        engine,
        fen,
        moves.slice(0, ply),
        listLegalUciMoves(position, isChess960),
        nodes,
      );
      plies.push([moves[ply] ?? scored[0].move, scored.map(({ move, score }) => [move, score])]);
    }
    position.makeMove(unwrap(parseUciMove(position, plies[ply][0])));
  }
  return { fen, result, plies };
}

/** Best first; lines of moves that are not legal (or repeated) are dropped. */
export function collectScores(lines: readonly UciInfo[], legal: readonly string[]): ScoredMove[] {
  const scores = new Map<string, number>();
  for (const line of lines) {
    const move = line.pv[0];
    if (legal.includes(move) && !scores.has(move)) scores.set(move, encodeScore(line.score));
  }
  return [...scores].map(([move, score]) => ({ move, score })).sort((a, b) => b.score - a.score);
}

export function listLegalUciMoves(position: Position, isChess960: boolean): string[] {
  return listLegalMoves(position).map((move) => formatUciMove(move as Move, isChess960));
}

function spellMoves(position: Position, moves: readonly string[], isChess960: boolean): string[] {
  return moves.map((text) => {
    const move = unwrap(parseUciMove(position, text));
    position.makeMove(move);
    return formatUciMove(move, isChess960);
  });
}

/** Whether a position can be scored: it has legal moves, and no rule has ended the game. */
export function isScorable(position: Position): boolean {
  return computeOutcome(position) === 'ongoing';
}
