import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, type Move, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import { isSolution, parseSuiteLine } from '#sardonyx/cli/commands/suite.js';
import { runCommand } from '../../support/run-command.js';

const BOARD = '2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - -';

function moveOf(fen: string, text: string): Move {
  return unwrap(parseUciMove(unwrap(parseFen(fen)), text));
}

test('a line gives position, name and the moves that solve it', () => {
  const position = unwrap(parseSuiteLine(`${BOARD} bm Qg6 Nxf7+; id "WAC.001"; c0 "bm in a comment";`, 7));
  assert.equal(position.id, 'WAC.001');
  assert.equal(position.task, 'bm Qg6 Nxf7+');
  assert.equal(position.fen, `${BOARD} 0 1`);
  assert.deepEqual(
    position.best.map((move) => formatUciMove(move, false)),
    ['g3g6', 'e5f7'],
  );
  assert.ok(isSolution(position, moveOf(position.fen, 'g3g6')));
  assert.ok(!isSolution(position, moveOf(position.fen, 'g3g7')));
});

test('moves to avoid leave all others; counters and UCI moves are understood', () => {
  assert.equal(unwrap(parseSuiteLine(`${BOARD} bm 1. Qg6 1...Nxf7+;`, 7)).best.length, 2);
  const position = unwrap(parseSuiteLine(`${BOARD} 3 20 am g3g7;`, 7));
  assert.equal(position.id, 'line 7');
  assert.equal(position.fen, `${BOARD} 3 20`);
  assert.ok(!isSolution(position, moveOf(position.fen, 'g3g7')));
  assert.ok(isSolution(position, moveOf(position.fen, 'g3g6')));
});

test('what is no position of a suite says why', () => {
  for (const [line, reason] of [
    [`${BOARD} id "nothing to solve";`, /neither a bm nor an am/],
    [`${BOARD} bm Qh8;`, /^bm Qh8: /],
    ['8/8/8/8 w - - bm Ka1;', /./],
  ] as const) {
    const parsed = parseSuiteLine(line, 1);
    assert.ok(!parsed.ok);
    assert.match(parsed.error, reason);
  }
});

test('a file of games, a folder and links in a circle are refused by one sentence', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-suite-'));
  try {
    writeFileSync(join(folder, 'games.epd'), '[Event "x"]\n\n1. e4 *\n');
    symlinkSync('circle.epd', join(folder, 'circle.epd'));
    const rows: [command: string[], sentence: RegExp][] = [
      [
        ['suite', 'games.epd'],
        /^games\.epd cannot be read: it holds games, and a suite is a list of positions \(EPD\)\n$/,
      ],
      [['suite', '.'], /^\. cannot be read: it is a folder\n$/],
      [['suite', 'circle.epd'], /^circle\.epd cannot be read: its links lead in a circle\n$/],
      [
        ['analyse', 'circle.epd'],
        /^"circle\.epd" is neither a FEN nor a file that can be read: its links lead in a circle\n$/,
      ],
    ];
    for (const [command, sentence] of rows) {
      const { status, stderr } = await runCommand(command, { cwd: folder });
      assert.equal(status, 1);
      assert.match(stderr, sentence);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});
