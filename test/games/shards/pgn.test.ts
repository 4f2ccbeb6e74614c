import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Table, tableFromIPC } from 'apache-arrow';
import { Chess } from 'chess.js';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import { createShards, type ShardsOptions } from '#sardonyx/games/shards/index.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-pgn-'));
after(() => rmSync(folder, { recursive: true }));

async function convert(
  name: string,
  text: string,
  changes: Partial<ShardsOptions> = {},
): Promise<{ table: Table; damaged: number }> {
  const path = join(folder, name);
  writeFileSync(path, name.endsWith('.gz') ? gzipSync(text) : text);
  const out = join(folder, `${name}-shards`);
  const result = await createShards(
    {
      inputs: [path],
      folder: out,
      input: 'lc0-112',
      policy: 'lc0-1858',
      historyFill: 'fen_only',
      shares: [1, 0, 0],
      filter: { minElo: 0, skipPlies: 0 },
      validationFiles: [],
      testFiles: [],
      maxPositions: Number.POSITIVE_INFINITY,
      threads: 1,
      ...changes,
    },
    { onProgress: () => undefined, onWarning: () => undefined },
  );
  const { damaged } = unwrap(result);
  return { table: tableFromIPC(readFileSync(join(out, 'train', '0000-000.arrow'))), damaged };
}

test('random games written by chess.js give a row a move, with result, score and played move', async () => {
  const prng = createPrng(5);
  let text = '';
  const played: { color: string; result: number; score: number | null }[] = [];
  for (let i = 0; i < 12; i++) {
    const game = new Chess();
    const result = ['1-0', '0-1', '1/2-1/2'][i % 3];
    game.setHeader('Result', result);
    let score: number | null = null;
    for (let ply = 0; ply < 120 && !game.isGameOver(); ply++) {
      const white = [1, -1, 0][i % 3];
      const isWhite = game.turn() === 'w';
      played.push({
        color: game.turn(),
        result: isWhite ? white : 0 - white,
        score: score === null || isWhite ? score : 0 - score,
      });
      const moves = game.moves();
      game.move(moves[prng.nextBelow(moves.length)]);
      score = ply % 3 === 0 ? prng.nextBelow(400) - 200 : null;
      if (score !== null) game.setComment(`[%eval ${(score / 100).toFixed(2)}]`);
    }
    text += `${game.pgn()}\n\n`;
  }
  const { table, damaged } = await convert('random.pgn.gz', text);
  assert.equal(damaged, 0);
  assert.equal(table.numRows, played.length);
  played.forEach((expected, i) => {
    const row = table.get(i)?.toJSON() as Record<string, unknown>;
    assert.equal(row.result, expected.result);
    assert.equal(row.cp, expected.score);
    assert.deepEqual([...(row.policy_weight as Iterable<number>)], [1]);
    const [index] = row.policy_index as Iterable<number>;
    assert.ok([...(row.legal as Iterable<number>)].includes(index));
  });
});

test('ratings, variants and the first plies are filtered; an illegal move costs the whole game', async () => {
  const game = (tags: string, moves: string): string => `${tags}\n\n${moves}\n\n`;
  const strong = '[WhiteElo "2400"]\n[BlackElo "2200"]';
  const text =
    game(strong, '1. e4 e5 2. Nf3 Nc6 1-0') +
    game('[WhiteElo "2400"]\n[BlackElo "2199"]', '1. d4 d5 1-0') +
    game('[WhiteElo "?"]\n[BlackElo "2500"]', '1. d4 d5 1-0') +
    game(`${strong}\n[Variant "Atomic"]`, '1. d4 d5 1-0') +
    game(`${strong}\n[Variant "Chess960"]\n[FEN "rk6/8/8/8/8/8/8/1K2R3 w Ea - 0 1"]`, '1. O-O Ka7 2. Kh1 *') +
    game(strong, '1. e4 e5 2. Ke3 1-0');
  const { table, damaged } = await convert('filtered.pgn', text, { filter: { minElo: 2200, skipPlies: 2 } });
  // The Atomic game is named too.
  assert.equal(damaged, 2);
  assert.equal(table.numRows, 2 + 1);
  assert.deepEqual([...(table.getChild('ply') ?? [])], [2, 3, 2]);
  assert.deepEqual([...(table.getChild('result') ?? [])], [1, -1, null]);
});

test('plies left are known when the rules end a game, not when it is resigned, agreed drawn or broken off', async () => {
  const endings = ['1. f3 e5 2. g4 Qh4# 0-1', '1. e4 e5 1-0', '1. e4 e5 1/2-1/2', '1. e4 e5 *'];
  const { table } = await convert('endings.pgn', endings.join('\n\n'));
  const unknown = Array.from({ length: 6 }, () => null);
  assert.deepEqual([...(table.getChild('plies_left') ?? [])], [4, 3, 2, 1, ...unknown]);
});
