/** Whole conversations with tablebases: the real engine over the hash evaluator, which knows nothing of endgames. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { computeOutcome, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import { createOptionStore } from '#sardonyx/engine/app/all-options.js';
import { enginePorts } from '#sardonyx/engine/app/evaluator-network.js';
import { UciSession } from '#sardonyx/engine/uci/index.js';
import { findShared } from '../../support/shared-folder.js';
import { createWonTables, withTableFolder } from '../../support/table-folder.js';

const { path: shared, skip } = findShared('syzygy');
const QUEEN = '8/8/8/4k3/8/8/3QK3/8 w - -';

interface Talk {
  /** Lines said until one begins with `end`. */
  say(end: string, ...lines: string[]): Promise<string[]>;
}

async function talk(use: (talk: Talk) => Promise<void>): Promise<void> {
  const options = createOptionStore();
  unwrap(options.set('Backend', 'hash'));
  unwrap(options.set('Threads', '1'));
  let said: string[] = [];
  let wanted: { end: string; resolve: () => void } | null = null;
  let hasEnded: () => void = () => undefined;
  const ended = new Promise<void>((resolve) => {
    hasEnded = resolve;
  });
  const session = new UciSession({
    version: '1',
    showHidden: false,
    options,
    ports: enginePorts,
    writeLine: (line) => {
      said.push(line);
      if (wanted !== null && line.startsWith(wanted.end)) wanted.resolve();
    },
    bench: null,
    onFault: (error) => said.push(String(error)),
    onEnd: () => hasEnded(),
  });
  try {
    await use({
      say: async (end, ...lines) => {
        said = [];
        const done = new Promise<void>((resolve) => {
          wanted = { end, resolve };
        });
        for (const line of lines) session.receive(line);
        await done;
        return said;
      },
    });
  } finally {
    session.receive('quit');
    await ended;
  }
}

function readInfo(lines: readonly string[]): { score: string; tbHits: number; move: string } {
  const last = lines.filter((line) => line.startsWith('info depth')).at(-1) ?? '';
  return {
    score: /score (\w+ -?\d+)/.exec(last)?.[1] ?? '',
    tbHits: Number(/tbhits (\d+)/.exec(last)?.[1]),
    move: lines.at(-1)?.split(' ')[1] ?? '',
  };
}

test('a won endgame at the root keeps the moves that win, and says so', async () => {
  await withTableFolder(createWonTables('Q'), async (folder) => {
    await talk(async ({ say }) => {
      const start = await say('readyok', `setoption name SyzygyPath value ${folder}`, 'isready');
      assert.deepEqual(start, [
        'info string Found 1 WDL, 1 DTZ tables of up to 3 men',
        'info string Network hash, 1 thread',
        'readyok',
      ]);
      const lines = await say(
        'bestmove',
        'setoption name MultiPV value 100',
        `position fen ${QUEEN} 0 1`,
        'go nodes 400',
      );
      const firstMoves = lines
        .map((line) => / multipv \d+ pv (\w+)/.exec(line)?.[1])
        .filter((move) => move !== undefined);
      assert.ok(firstMoves.length > 20);
      for (const hanging of ['d2d4', 'd2d5', 'd2f4', 'd2d6']) assert.ok(!firstMoves.includes(hanging), hanging);
      const { score, tbHits } = readInfo(lines);
      assert.deepEqual([score, tbHits], ['cp 12800', 1]);
      const board = await say('Tablebases', 'd');
      assert.equal(board.at(-1), 'Tablebases: WDL 2 (win), DTZ 1');
    });
  });
});

test('a capture into a won table is found below the root, and counted', async () => {
  await withTableFolder(createWonTables('R'), async (folder) => {
    await talk(async ({ say }) => {
      const go = ['position fen 3n3k/8/8/8/8/8/8/2KR4 w - - 0 1', 'go nodes 300'];
      await say('readyok', 'isready');
      assert.equal(readInfo(await say('bestmove', ...go)).tbHits, 0);
      // The tree of the search before must not be kept: it does not know the table.
      const { score, move, tbHits } = readInfo(
        await say('bestmove', `setoption name SyzygyPath value ${folder}`, ...go),
      );
      assert.equal(move, 'd1d8');
      assert.match(score, /^mate 1\d\d$/);
      assert.ok(tbHits > 0);
      const limited = ['setoption name SyzygyProbeLimit value 2', ...go];
      assert.equal(readInfo(await say('bestmove', ...limited)).tbHits, 0);
      const weak = ['setoption name SyzygyProbeLimit value 7', 'setoption name Skill Level value 1', ...go];
      assert.equal(readInfo(await say('bestmove', ...weak)).tbHits, 0);
    });
  });
});

test('the fifty-move rule counts at the root, unless Syzygy50MoveRule is off', async () => {
  // 41 plies to zeroing.
  await withTableFolder(createWonTables('Q', 20), async (folder) => {
    await talk(async ({ say }) => {
      await say('readyok', `setoption name SyzygyPath value ${folder}`, 'isready');
      const ask = async (count: number): Promise<string> => {
        return readInfo(await say('bestmove', `position fen ${QUEEN} ${count} 90`, 'go nodes 50')).score;
      };
      assert.equal(await ask(0), 'cp 12800');
      assert.equal(await ask(70), 'cp 0');
      await say('readyok', 'setoption name Syzygy50MoveRule value false', 'isready');
      assert.equal(await ask(70), 'cp 12800');
    });
  });
});

test('paths without tables cost one sentence, and searching goes on', async () => {
  await withTableFolder({}, async (folder) => {
    await talk(async ({ say }) => {
      const lines = await say('readyok', `setoption name SyzygyPath value ${folder}`, 'isready');
      assert.deepEqual(lines, [
        `info string SyzygyPath: no tables (.rtbw, .rtbz) in ${folder}`,
        'info string Network hash, 1 thread',
        'readyok',
      ]);
      assert.match((await say('bestmove', `position fen ${QUEEN} 0 1`, 'go nodes 20')).at(-1) ?? '', /^bestmove \w{4}/);
      assert.deepEqual(await say('readyok', 'setoption name SyzygyPath value <empty>', 'isready'), ['readyok']);
    });
  });
});

test('a damaged table is named once in a conversation, and the network plays', async () => {
  const { 'KQvK.rtbw': table } = createWonTables('Q');
  await withTableFolder({ 'KQvK.rtbw': Buffer.alloc(table.length) }, async (folder) => {
    await talk(async ({ say }) => {
      await say('readyok', `setoption name SyzygyPath value ${folder}`, 'isready');
      const lines = [
        ...(await say('bestmove', `position fen ${QUEEN} 0 1`, 'go nodes 100')),
        ...(await say('bestmove', 'position fen 3n3k/8/8/8/8/8/8/2KQ4 w - - 0 1', 'go nodes 100')),
      ];
      const warnings = lines.filter((line) => line.includes('Tablebase'));
      assert.equal(warnings.length, 1, warnings.join('\n'));
      assert.match(warnings[0], /^info string Tablebase .*KQvK.rtbw left out: it does not begin like a table$/);
    });
  });
});

test('with real tables a capture that gives the win away is not played', { skip }, async () => {
  await talk(async ({ say }) => {
    await say('readyok', `setoption name SyzygyPath value ${shared}`, 'isready');
    // The rook is guarded by the king: taking it draws.
    const lines = await say(
      'bestmove',
      'setoption name MultiPV value 100',
      'position fen 8/8/2kr4/8/8/8/8/3Q2K1 w - - 0 1',
      'go nodes 300',
    );
    assert.ok(lines.every((line) => !/ pv d1d6/.test(line)));
    assert.equal(readInfo(lines).score, 'cp 12800');
  });
});

test('with real tables bishop and knight mate, though the evaluator knows nothing', { skip }, async () => {
  const fen = '8/8/8/3k4/8/8/2BNK3/8 w - - 0 1';
  const position = unwrap(parseFen(fen));
  const moves: string[] = [];
  await talk(async ({ say }) => {
    await say('readyok', `setoption name SyzygyPath value ${shared}`, 'isready');
    while (computeOutcome(position) === 'ongoing') {
      const list = moves.length === 0 ? '' : ` moves ${moves.join(' ')}`;
      const { move } = readInfo(await say('bestmove', `position fen ${fen}${list}`, 'go nodes 60'));
      position.makeMove(unwrap(parseUciMove(position, move)));
      moves.push(move);
    }
  });
  // Any sure win will do until a position comes back; from then on the distance leads.
  assert.equal(computeOutcome(position), 'checkmate', moves.join(' '));
  assert.ok(moves.length <= 101);
});
