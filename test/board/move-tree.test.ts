import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { createDests, describeLine, findDroppedMoves, parseTypedMove } from '#sardonyx/board/game/board-moves.js';
import { createChess960Fen, findLineEnd, listUciMoves, MoveTree } from '#sardonyx/board/game/move-tree.js';
import { parseTree } from '#sardonyx/board/game/move-tree-reader.js';
import { formatTree, readClock, readDrawings, writeDrawings } from '#sardonyx/board/game/move-tree-text.js';
import { countMaterial, describeBoard } from '#sardonyx/board/game/page-text.js';
import { parseFen, START_FEN } from '#sardonyx/chess/rules/index.js';

function readGame(text: string): MoveTree {
  return unwrap(parseTree(text)).tree;
}

const GAME = `[Event "Test"]
[White "A"]
[Black "B"]
[Result "1-0"]

{ Before } 1. e4! { King's pawn } 1... e5 (1... c5 2. Nf3 (2. c3 d5) 2... d6) 2. Nf3 $6 { [%eval 0.3] } 2... Nc6 1-0
`;

test('a PGN with variations, comments and glyphs is read and written again', () => {
  const tree = readGame(GAME);
  const [e4] = tree.root.children;
  assert.equal(tree.root.comment, 'Before');
  assert.equal(e4.san, 'e4');
  assert.deepEqual(e4.nags, [1]);
  assert.equal(e4.comment, "King's pawn");
  assert.deepEqual(
    e4.children.map(({ san }) => san),
    ['e5', 'c5'],
  );
  const [nf3] = e4.children[0].children;
  assert.equal(nf3.comment, '');
  const text = formatTree(tree);
  assert.equal(formatTree(readGame(text)), text);
  assert.match(text, /\[White "A"\]/);
  assert.match(text.replace(/\s+/g, ' '), /\(1\.\.\. c5 2\. Nf3 \(2\. c3 d5\) 2\.\.\. d6\)/);
});

test('a wrong move ends the game there, with a sentence; no game at all is an error', () => {
  const { tree, problem } = unwrap(parseTree('1. e4 e5 2. Ke3 Nc6'));
  assert.equal(findLineEnd(tree.root).san, 'e5');
  assert.match(problem ?? '', /Ke3/);
  assert.equal(parseTree('nothing').ok, false);
  assert.equal(parseTree('').ok, false);
});

test('a move is added once; variations are promoted and removed', () => {
  const tree = unwrap(MoveTree.create());
  const play = (from: string, to: string) =>
    tree.add(tree.root, findDroppedMoves(tree.createPosition(tree.root), from, to, false)[0]);
  const e4 = play('e2', 'e4');
  const d4 = play('d2', 'd4');
  assert.equal(play('e2', 'e4'), e4);
  tree.promote(d4);
  assert.deepEqual(tree.root.children, [d4, e4]);
  assert.equal(tree.remove(d4), tree.root);
  assert.deepEqual(tree.root.children, [e4]);
  assert.deepEqual(listUciMoves(e4), ['e2e4']);
});

test('castling can be dropped on the rook and, in the standard set-up, on the king’s new square', () => {
  const fen = 'r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1';
  const position = unwrap(MoveTree.create(fen)).createPosition(unwrap(MoveTree.create(fen)).root);
  const targets = createDests(position, false).get('e1') ?? [];
  for (const square of ['g1', 'h1', 'c1', 'a1']) assert.ok(targets.includes(square), square);
  assert.ok(!(createDests(position, true).get('e1') ?? []).includes('g1'));
  assert.deepEqual(findDroppedMoves(position, 'e1', 'g1', false), findDroppedMoves(position, 'e1', 'h1', false));
});

test('a pawn on the last rank may become four pieces', () => {
  const tree = unwrap(MoveTree.create('8/P6k/8/8/8/8/8/K7 w - - 0 1'));
  assert.equal(findDroppedMoves(tree.createPosition(tree.root), 'a7', 'a8', false).length, 4);
});

test('moves are typed as SAN or UCI, carelessly too', () => {
  const position = unwrap(MoveTree.create('r3k2r/7P/8/8/8/5N2/8/R3K2R w KQkq - 0 1'));
  const at = position.createPosition(position.root);
  for (const text of ['Nd4', 'nd4', 'f3d4', 'O-O', 'o-o', '0-0', 'e1g1', 'Ke2+', 'hxg8=q'.replace('hxg8', 'h8')]) {
    const move = parseTypedMove(at, text);
    if (text === 'h8=q') assert.equal(move.ok, false);
    else assert.ok(move.ok, text);
  }
  assert.match(String((parseTypedMove(at, 'Qa1') as { error: string }).error), /no legal move/);
  const pawn = unwrap(parseFen('1n6/P6k/8/8/8/8/8/K7 w - - 0 1'));
  for (const [text, written] of [
    ['a8', 'a8=Q'],
    ['a7a8', 'a8=Q'],
    ['A8', 'a8=Q'],
    ['a8+', 'a8=Q'],
    ['axb8', 'axb8=Q'],
  ]) {
    const move = parseTypedMove(pawn, text);
    assert.equal(move.ok ? '' : move.error, `${text} needs a piece: ${written}`);
  }
});

test('a line is described up to its first illegal move', () => {
  const tree = unwrap(MoveTree.create());
  const line = describeLine(tree.createPosition(tree.root), ['e2e4', 'e7e5', 'e1e3', 'a7a6']);
  assert.deepEqual(
    line.map(({ number, san }) => number + san),
    ['1.e4', 'e5'],
  );
});

test('the 960 start positions: 518 is the standard one, all differ, all are legal', () => {
  assert.equal(createChess960Fen(518), START_FEN);
  assert.match(createChess960Fen(0), /^bbqnnrkr\//);
  assert.match(createChess960Fen(959), /^rkrnnqbb\//);
  const all = new Set(Array.from({ length: 960 }, (_, number) => createChess960Fen(number)));
  assert.equal(all.size, 960);
  for (const fen of all) assert.ok(MoveTree.create(fen).ok, fen);
});

test('a position in words', () => {
  assert.equal(
    describeBoard('4k3/8/8/8/8/8/PP6/4K2R w K - 0 1'),
    'White to move. White: king e1, rook h1, pawns a2 b2. Black: king e8.',
  );
});

test('arrows and circles are read from comments, changed, and written beside clock and words', () => {
  const tree = readGame('1. e4 { [%clk 0:01:30] [%cal Ge2e4,Rd8h4] [%csl Yd5] Best by test } *');
  const [e4] = tree.root.children;
  assert.equal(readClock(e4), '1:30');
  assert.deepEqual(readDrawings(e4), [
    { orig: 'e2', brush: 'green', dest: 'e4' },
    { orig: 'd8', brush: 'red', dest: 'h4' },
    { orig: 'd5', brush: 'yellow' },
  ]);
  writeDrawings(e4, [{ orig: 'a1', brush: 'blue' }]);
  const [again] = readGame(formatTree(tree)).root.children;
  assert.deepEqual(readDrawings(again), [{ orig: 'a1', brush: 'blue' }]);
  assert.deepEqual([readClock(again), again.comment], ['1:30', 'Best by test']);
});

test('material is what one side has more than the other', () => {
  const fen = 'rn1qkbnr/pppppppp/8/8/8/8/1PPPPPPP/RNBQKBNR w KQkq - 0 1';
  assert.deepEqual(countMaterial(fen, 'white'), { ahead: '♝', lead: 2 });
  assert.deepEqual(countMaterial(fen, 'black'), { ahead: '♟', lead: -2 });
});
