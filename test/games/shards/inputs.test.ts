/** The law of inputs: a position has the same planes wherever it comes from: play, records with or without gaps, PGN or labels. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { tableFromIPC } from 'apache-arrow';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import {
  formatFen,
  formatSan,
  formatUciMove,
  listLegalMoves,
  type Move,
  moveFrom,
  moveTo,
  type Position,
  parseFen,
} from '#sardonyx/chess/rules/index.js';
import { attachGameLine, V6GameRecorder } from '#sardonyx/games/records/index.js';
import { createShards } from '#sardonyx/games/shards/index.js';
import {
  getInputEncoding,
  type HistoryFill,
  LC0_FORMATS,
  listInputEncodings,
} from '#sardonyx/networks/encoding/index.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-inputs-'));
after(() => rmSync(folder, { recursive: true }));

// SARDONYX_SLOW_TESTS=1: 48 longer games, some 10,000 records in every encoding.
const [PLIES, ROUNDS] = process.env.SARDONYX_SLOW_TESTS ? [300, 12] : [60, 1];
const STARTS = [
  'startpos',
  'nrbqbkrn/pppppppp/8/8/8/8/PPPPPPPP/NRBQBKRN w GBgb - 0 1', // the h-side rook does not stand in the corner
  '1r2k1r1/pppppppp/8/8/8/8/PPPPPPPP/1R2K1R1 w GBgb - 3 17',
  'r3k2r/8/8/3pP3/8/8/8/R3K2R w KQkq d6 0 90',
];

interface PlayedGame {
  readonly fen: string;
  readonly start: Position;
  readonly moves: readonly Move[];
}

/** A random game in which men like to go back where they came from, so that positions repeat. */
function playRandomGame(fen: string, seed: number): PlayedGame {
  const prng = createPrng(seed);
  const position = unwrap(parseFen(fen));
  const moves: Move[] = [];
  for (let ply = 0; ply < PLIES; ply++) {
    const legal = listLegalMoves(position);
    if (legal.length === 0) break;
    const own = moves.at(-2);
    const back = legal.find(
      (move) => own !== undefined && moveFrom(move) === moveTo(own) && moveTo(move) === moveFrom(own),
    );
    const move = back !== undefined && prng.nextFloat() < 0.4 ? back : legal[prng.nextBelow(legal.length)];
    moves.push(move);
    position.makeMove(move);
  }
  return { fen, start: unwrap(parseFen(fen)), moves };
}

/** @returns the position before each move, with its history */
function listPositions({ start, moves }: PlayedGame): Position[] {
  const position = start.clone();
  return moves.map((move) => {
    const before = position.clone();
    position.makeMove(move);
    return before;
  });
}

/** The records of the given plies. */
function record(game: PlayedGame, plies: readonly number[], format: string, fill: HistoryFill): Buffer {
  const recorder = new V6GameRecorder(format, fill);
  const positions = listPositions(game);
  const value = { wl: 0, d: 0.5, m: 40 };
  for (const ply of plies) {
    const moves = listLegalMoves(positions[ply]);
    const [played, visits] = [game.moves[ply], moves.map(() => 1)];
    const values = { root: value, bestValue: value, playedValue: value, isBestProven: false, rootVisits: 20 };
    recorder.add(positions[ply], ply, { moves, visits, played, best: played, ...values });
  }
  return recorder.finish({ whiteResult: 0, plies: game.moves.length, isAdjudicated: false, isTooLong: false });
}

async function readShards(
  out: string,
  inputs: string[],
  encoding: string,
): Promise<{ masks: Buffer; values: number[] }[]> {
  const warnings: string[] = [];
  const settings = {
    shares: [1, 0, 0] as const,
    filter: { minElo: 0, skipPlies: 0 },
    validationFiles: [],
    testFiles: [],
  };
  const format = { input: encoding, policy: 'lc0-1858', historyFill: 'fen_only' as const };
  const limits = { maxPositions: Number.POSITIVE_INFINITY, threads: 1 };
  const events = { onProgress: () => undefined, onWarning: (text: string) => warnings.push(text) };
  unwrap(await createShards({ inputs, folder: join(folder, out), ...format, ...settings, ...limits }, events));
  assert.deepEqual(warnings, []);
  const path = join(folder, out, 'train');
  return readdirSync(path).flatMap((name) => {
    const table = tableFromIPC(readFileSync(join(path, name)));
    return Array.from({ length: table.numRows }, (_, i) => {
      const row = table.get(i)?.toJSON() as { masks: Uint8Array; values: Iterable<number> };
      return { masks: Buffer.from(row.masks), values: [...row.values] };
    });
  });
}

function assertPlanes(rows: { masks: Buffer; values: number[] }[], positions: readonly Position[], name: string): void {
  const encoding = unwrap(getInputEncoding(name));
  const masks = new Uint32Array(2 * encoding.planes);
  const values = new Float32Array(encoding.planes);
  assert.equal(rows.length, positions.length);
  for (const [i, position] of positions.entries()) {
    encoding.writePacked(position, 'fen_only', masks, 0, values, 0);
    assert.deepEqual(rows[i].masks, Buffer.from(masks.buffer), `${name}, ${formatFen(position)}`);
    assert.deepEqual(
      rows[i].values,
      encoding.valuePlanes.map((plane) => values[plane]),
    );
  }
}

const games = Array.from({ length: ROUNDS }, () => STARTS)
  .flat()
  .map((fen, i) => playRandomGame(fen, 7 + i));
const played = games.flatMap(listPositions);
const prng = createPrng(5);
/** Plies that a playout cap recorded; surprising ones stand twice. */
const recorded = games.map(({ moves }) =>
  [...moves.keys()].flatMap((ply) => [[], [ply], [], [ply, ply]][prng.nextBelow(4)]),
);
const recordedPositions = games.flatMap((game, i) => {
  const positions = listPositions(game);
  return recorded[i].map((ply) => positions[ply]);
});

/** The games as three kinds of input. */
function writeRecords(format: string): string {
  const path = join(folder, `records-${format}`);
  mkdirSync(path, { recursive: true });
  games.forEach((game, i) => {
    const line = { fen: game.fen, moves: game.moves.map((move) => formatUciMove(move, true)), plies: recorded[i] };
    const bytes = attachGameLine(gzipSync(record(game, recorded[i], format, 'no')), line);
    writeFileSync(join(path, `game_${String(i).padStart(6, '0')}.gz`), bytes);
  });
  return path;
}

function writePgn(): string {
  const texts = games.map(({ fen, start, moves }) => {
    const position = start.clone();
    const sans = moves.map((move) => {
      const san = formatSan(position, move);
      position.makeMove(move);
      return san;
    });
    const tags = fen === 'startpos' ? '' : `[SetUp "1"]\n[FEN "${fen}"]\n[Variant "Chess960"]\n`;
    return `[Event "law"]\n${tags}\n${sans.join(' ')} *\n\n`;
  });
  const path = join(folder, 'games.pgn');
  writeFileSync(path, texts.join(''));
  return path;
}

function writeLabels(): string {
  const lines = games.map(({ start, moves }) => {
    const plies = moves.map((move) => [formatUciMove(move, true), [[formatUciMove(move, true), 10]]]);
    return `${JSON.stringify({ fen: formatFen(start), result: '*', plies })}\n`;
  });
  const path = join(folder, 'games.jsonl');
  writeFileSync(path, lines.join(''));
  return path;
}

const [pgn, labels] = [writePgn(), writeLabels()];

for (const [number, name] of listInputEncodings().entries()) {
  test(`${name}: records with gaps, PGN and labels give the planes of play`, async () => {
    const formats = [...new Set([LC0_FORMATS[0].name, LC0_FORMATS[number % LC0_FORMATS.length].name])];
    const rows = await readShards(name, [...formats.map(writeRecords), pgn, labels], name);
    assertPlanes(rows, [...formats.flatMap(() => recordedPositions), ...played, ...played], name);
  });
}

test('records of other programs get the history of their boards and the move number of their plies left', async () => {
  const [game] = games;
  const positions = listPositions(game);
  const plies = [0, 1, 4, 5, 5, 11, 19, 20, 27]; // a record knows the boards of the last seven plies
  const formats = LC0_FORMATS.filter(({ canonical }) => !canonical);
  const paths = formats.map(({ id, name }) => {
    const path = join(folder, `foreign-${id}.v6`);
    writeFileSync(path, record(game, plies, name, 'fen_only'));
    return path;
  });
  const wanted = formats.flatMap(() => plies.map((ply) => positions[ply]));
  for (const name of ['neuralmate-68', 'lc0-112', 'mini-19', 'attacks-50'])
    assertPlanes(await readShards(`foreign-${name}`, paths, name), wanted, name);
});
