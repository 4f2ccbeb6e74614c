/**
 * Mates on a real board with the bundled network: found, announced with their exact length, and carried out. A full-width
 * solver stands beside them: it says that no shorter mate exists, and it defends as long as it can.
 */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, listLegalMoves, parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import { type ChessEngine, createEngine, type InfoLine } from '#sardonyx/index.js';
import { solve, solveAfter } from '../support/mate-solver.js';
import { repositoryRoot } from '../support/shared-folder.js';

/** The network thinks little of great sacrifices: the last ones are found by the exhaustive search beside it. */
const NODES = 8000;
/** Moves that the solver looks ahead. */
const SOLVER_DEPTH = 2;

let engine: ChessEngine;
before(async () => {
  const weights = join(repositoryRoot, 'models', 'light-48x5.onnx');
  engine = await createEngine({ weights, threads: 1, options: { MinibatchSize: 8, BatchesInFlight: 1 } });
});
after(() => engine.dispose());

async function think(fen: string, moves: readonly string[]): Promise<InfoLine> {
  engine.position({ fen, moves });
  const search = engine.go({ nodes: NODES });
  let line: InfoLine | undefined;
  for await (const info of search) line = info.lines[0];
  assert.ok(line !== undefined);
  assert.equal((await search.bestMove).move, line.pv[0]);
  return line;
}

/** The engine announces a mate and plays it against the longest defence. @returns the length that it announced */
async function carryOut(fen: string): Promise<number> {
  engine.newGame();
  const position = unwrap(parseFen(fen));
  const played: string[] = [];
  const play = (text: string): void => {
    position.makeMove(unwrap(parseUciMove(position, text)));
    played.push(text);
  };
  let announced = 0;
  for (let left = Number.POSITIVE_INFINITY; ; ) {
    const { score, pv } = await think(fen, played);
    assert.equal(score.kind, 'mate', `${fen} ${played.join(' ')}: ${score.value} cp`);
    assert.ok(score.value > 0 && score.value < left, `mate ${score.value} after mate ${left}`);
    assert.equal(pv.length, 2 * score.value - 1);
    left = score.value;
    announced ||= left;
    play(pv[0]);
    const replies = listLegalMoves(position);
    if (replies.length === 0) break;
    const lengths = replies.map((reply) => solveAfter(position, reply, SOLVER_DEPTH) ?? Number.POSITIVE_INFINITY);
    play(formatUciMove(replies[lengths.indexOf(Math.max(...lengths))], false));
  }
  assert.ok(position.inCheck());
  return announced;
}

const EXACT: readonly [what: string, fen: string, length: number][] = [
  ['Légal', 'rn1qkbnr/ppp2p1p/3p2p1/4N3/2B1P3/2N5/PPPP1PPP/R1BbK2R w KQkq - 0 6', 2],
  ['on the back rank', '4r1k1/5ppp/8/q7/8/8/5PPP/2R3K1 b - - 0 1', 2],
  ['by underpromotion', '8/5P1k/5K2/8/8/8/8/8 w - - 0 1', 2],
  ['by promotion', '8/6P1/5K1k/8/8/8/8/8 w - - 0 1', 2],
  ['with a queen', '7k/8/4K3/8/8/8/8/6Q1 w - - 0 1', 2],
  ['with a rook, after a quiet move', 'k7/8/2K5/8/8/8/8/7R w - - 0 1', 2],
  ['by a rook’s sacrifice', '6k1/pp4p1/2p5/2bp4/8/P5Pb/1P3rrP/2BRRN1K b - - 0 1', 2],
  ['by three exchanges', '2rr2k1/2q2ppp/8/8/8/3Q4/3R1PPP/3R2K1 w - - 0 1', 3],
  ['by three exchanges, Black', '3r2k1/3r1ppp/3q4/8/8/8/2Q2PPP/2RR2K1 b - - 0 1', 3],
  ['Anastasia', 'r4r1k/1b2Nppp/8/2R5/7Q/8/5PPP/6K1 w - - 0 1', 2],
  ['Anderssen – Dufresne 1852', '1r4r1/pbpknp1p/1b3P2/8/8/B1PB1q2/P4PPP/3R2K1 w - - 0 22', 3],
  ['Anderssen – Kieseritzky 1851', 'r1bk2nr/p2p1pNp/n2B4/1p1NP2P/6P1/3P1Q2/P1P1K3/q5b1 w - - 1 22', 2],
  ['Morphy, Paris 1858', '4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 1 16', 2],
  ['Réti – Tartakower 1910', 'rnb1kb1r/pp3ppp/2p5/4q3/4n3/3Q4/PPPB1PPP/2KR1BNR w kq - 0 9', 3],
  ['smothered', '5r1k/6pp/7N/8/8/1Q6/8/6K1 w - - 0 1', 2],
  ['among many pieces', '2rr3k/pp3pp1/1nnqbN1p/3pN3/2pP4/2P3Q1/PPB4P/R4RK1 w - - 0 1', 2],
];

for (const [what, fen, length] of EXACT) {
  test(`mate in ${length} ${what} is announced and played`, async () => {
    assert.equal(solve(unwrap(parseFen(fen)), length - 1), null);
    assert.equal(await carryOut(fen), length);
  });
}

test('an announced mate is carried out in time', async () => {
  for (const fen of [
    'r2qk2r/pb4pp/1n2Pb2/2B2Q2/p1p5/2P5/2B2PPP/RN2R1K1 w - - 1 1',
    '8/4k3/8/8/8/R7/1R6/6K1 w - - 0 1',
  ]) {
    assert.ok((await carryOut(fen)) >= 2);
  }
});

test('the side that is mated announces it with its sign, and puts it off', async () => {
  engine.newGame();
  // After Kd8 it is mate at once, after Kf8 one move later.
  const { score, pv } = await think('4k3/R7/8/8/8/8/8/K5R1 b - - 0 1', []);
  assert.deepEqual(score, { kind: 'mate', value: -2 });
  assert.equal(pv.length, 4);
  assert.equal(pv[0], 'e8f8');
});
