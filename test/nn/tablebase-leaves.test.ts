import assert from 'node:assert/strict';
import { test } from 'node:test';
import { EVALUATED, EvaluatorPool, LeafQueue, TABLEBASE } from '#sardonyx/nn/index.js';
import { NO_TABLEBASES } from '#sardonyx/syzygy/index.js';
import { evaluateLeaves, type TestLeaf } from '../support/leaf-driver.js';
import { createWonTables, withTableFolder } from '../support/table-folder.js';

const KNIGHT_HANGS = '3n3k/8/8/8/8/8/8/2KR4 w - - 0 1';
const KNIGHT_IS_GUARDED = '2kn4/8/8/8/8/8/8/2KR4 w - - 0 1';
/** Root, a quiet move, a good capture, a capture that loses the rook, a capture after a quiet move. */
const LEAVES: readonly TestLeaf[] = [
  { fen: KNIGHT_HANGS },
  { fen: KNIGHT_HANGS, path: 'd1e1' },
  { fen: KNIGHT_HANGS, path: 'd1d8' },
  { fen: KNIGHT_IS_GUARDED, path: 'd1d8' },
  { fen: KNIGHT_HANGS, path: 'd1d2 h8g8 d2d8' },
  { fen: '3r3k/8/8/8/8/8/8/2KN4 b - - 0 1', path: 'd8d1' },
];

test('leaves right after a capture are answered by tablebases, captures that follow included', async () => {
  await withTableFolder(createWonTables('R'), async (paths) => {
    const pool = await EvaluatorPool.create({ backend: 'hash', threads: 1 });
    const queue = new LeafQueue(pool.handle);
    const ask = async (leaves = LEAVES): Promise<(readonly [kind: number, wl: number, d: number])[]> => {
      const answers = await evaluateLeaves(queue, leaves);
      return answers.map(({ kind, valueWl, valueD }) => {
        return kind === TABLEBASE ? ([kind, valueWl, valueD] as const) : ([kind, 0, 0] as const);
      });
    };
    const network = [EVALUATED, 0, 0];
    const lost = [TABLEBASE, -1, 0];
    try {
      assert.deepEqual(
        await ask(),
        LEAVES.map(() => network),
      );
      pool.configure({ tablebases: { ...NO_TABLEBASES, paths } });
      // KxR after the fourth leads to bare kings; the last is White's loss.
      assert.deepEqual(await ask(), [network, network, lost, [TABLEBASE, 0, 1], lost, [TABLEBASE, 0, 1]]);
      assert.deepEqual(
        await ask(LEAVES.map((leaf) => ({ ...leaf, skipsTablebases: true }))),
        LEAVES.map(() => network),
      );
      pool.configure({ tablebases: { ...NO_TABLEBASES, paths, menLimit: 2 } });
      assert.deepEqual(
        await ask(),
        LEAVES.map(() => network),
      );
      pool.configure({ tablebases: NO_TABLEBASES });
      assert.deepEqual(
        await ask(),
        LEAVES.map(() => network),
      );
    } finally {
      await pool.dispose();
    }
  });
});
