import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { type Table, tableFromIPC } from 'apache-arrow';
import { Chess } from 'chess.js';
import { createShards, type ShardsOptions } from '#sardonyx/data/index.js';
import { splitPgnText } from '#sardonyx/data/pgn-split.js';
import { isTagLine, parseEvalComment, parsePgnMoves, parsePgnTags } from '#sardonyx/data/pgn-tokens.js';
import { createPrng, unwrap } from '#sardonyx/util/index.js';

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

test('movetext of the wild becomes moves, scores and a result', () => {
  const text = `1. e4 {[%eval 0.24] [%clk 0:01:00]} e5 $1 2.Nf3! (2. f4 exf4 (2... d5 {a (comment}) 3. Nf3) 2...Nc6?!
3. Bb5 ; a comment to the end of the line 4. Nonsense
% an escaped line 5. Qh5
a6 {[%eval #-3]} 4.Ba4 ... Nf6 5. 0-0 { no close } b5 !? 6. exd6 e.p. 1/2-1/2 7. ignored`;
  const { moves, whiteScores, result } = parsePgnMoves(text, 0);
  assert.deepEqual(moves, ['e4', 'e5', 'Nf3!', 'Nc6?!', 'Bb5', 'a6', 'Ba4', 'Nf6', '0-0', 'b5', 'exd6']);
  assert.deepEqual([whiteScores[0], whiteScores[1], whiteScores[5]], [24, Number.NaN, -31994]);
  assert.equal(result, '1/2-1/2');
  assert.equal(parsePgnMoves('1. e4 e5', 0).result, '');
});

test('eval comments are centipawns for White, mates as 32000 - 2n, and clamped', () => {
  assert.equal(parseEvalComment('{ [%eval -1.5] }'), -150);
  assert.equal(parseEvalComment('{[%eval #2]}'), 31996);
  assert.equal(parseEvalComment('{[%eval 412.03,18]}'), 20000);
  assert.ok(Number.isNaN(parseEvalComment('{[%clk 0:03:00] better is Nf3}')));
});

test('tags are read with escapes; a wrapped comment is no tag', () => {
  const { tags, end } = parsePgnTags('[Event "a \\"b\\" \\\\"]\n  [WhiteElo  "2300" ]\n\n1. e4');
  assert.deepEqual(
    [...tags],
    [
      ['Event', 'a "b" \\'],
      ['WhiteElo', '2300'],
    ],
  );
  assert.equal('[Event "a \\"b\\" \\\\"]\n  [WhiteElo  "2300" ]\n\n1. e4'.slice(end), '1. e4');
  assert.ok(!isTagLine('[%eval 0.3] } e5'));
});

test('games are cut at tags, and at blank lines behind a result', () => {
  const text = [
    '% an escaped line',
    '\xef\xbb\xbf[Event "one"]\r',
    '\r',
    '1. e4 {a comment',
    '',
    '[%eval 0.3] over lines} 1-0\r',
    '[Event "two"]',
    '[Site "?"]',
    '1. d4 d5',
    '',
    '',
    '[Event "three"]',
    '',
    '*',
    '',
    '1. c4 c5 0-1',
    '',
    '1. f4',
    '',
  ].join('\n');
  const games = splitPgnText(text);
  assert.deepEqual(
    games.map((game) => parsePgnMoves(game, parsePgnTags(game).end).moves),
    [['e4'], ['d4', 'd5'], [], ['c4', 'c5'], ['f4']],
  );
});

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
  assert.equal(damaged, 1);
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
