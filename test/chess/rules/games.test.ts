import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { Chess } from 'chess.js';
import { createPrng, unwrap } from '#sardonyx/base/util/index.js';
import {
  computeOutcome,
  formatFen,
  formatSan,
  formatUciMove,
  type Move,
  type Position,
  parseFen,
  parseUciMove,
} from '#sardonyx/chess/rules/index.js';
import { repositoryRoot } from '../../support/shared-folder.js';

function listMoves(position: Position): Move[] {
  const moves = new Uint16Array(256);
  return Array.from(moves.subarray(0, position.generateLegalMoves(moves)), (move) => move as Move);
}

/** chess.js's reasons in our words. */
function outcomeOf(chess: Chess): string {
  if (chess.isCheckmate()) return 'checkmate';
  if (chess.isStalemate()) return 'stalemate';
  if (chess.isInsufficientMaterial()) return 'insufficient-material';
  if (chess.isDrawByFiftyMoves()) return 'fifty-moves';
  return chess.isThreefoldRepetition() ? 'threefold' : 'ongoing';
}

const STARTS = [
  'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1',
  'r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1',
  '7k/PPPP4/8/8/8/8/4pppp/K7 w - - 0 1',
  '8/8/5k2/8/2n5/3K4/4R3/8 w - - 90 80',
  '8/8/3bk3/8/8/3K4/6P1/8 w - - 0 1',
];
for (let seed = 1; seed <= 15; seed++) {
  test(`Random game ${seed} goes as chess.js has it: moves, SAN, FEN, check and the reason it ends`, () => {
    const prng = createPrng(seed);
    const start = STARTS[seed % STARTS.length];
    const position = unwrap(parseFen(start));
    const chess = new Chess(start);
    for (let ply = 0; ply < 120; ply++) {
      assert.equal(formatFen(position), chess.fen());
      assert.equal(position.inCheck(), chess.inCheck());
      assert.equal(computeOutcome(position), outcomeOf(chess), chess.fen());
      const moves = listMoves(position);
      const theirs = chess.moves({ verbose: true });
      const pairs = moves.map((move) => `${formatUciMove(move, false)} ${formatSan(position, move)}`);
      assert.deepEqual(pairs.sort(), theirs.map((move) => `${move.lan} ${move.san}`).sort(), chess.fen());
      if (moves.length === 0) return;
      const move = moves[prng.nextBelow(moves.length)];
      chess.move(formatUciMove(move, false));
      position.makeMove(move);
    }
  });
}

interface GoldenGame {
  readonly fen: string;
  readonly chess960: boolean;
  readonly moves: string;
  readonly sha256: string;
  readonly outcome: string;
}

test('Eighty games, most of Chess960, go as python-chess has them: moves, FEN, check, repetitions and outcome', () => {
  const file = join(repositoryRoot, 'test', 'chess', 'rules', 'golden', 'games.json');
  for (const game of JSON.parse(readFileSync(file, 'utf8')) as GoldenGame[]) {
    const position = unwrap(parseFen(game.fen));
    const transcript = createHash('sha256');
    const describe = (): void => {
      const moves = listMoves(position).map((move) => formatUciMove(move, game.chess960));
      const fen = formatFen(position, game.chess960 ? 'shredder' : 'x-fen');
      const facts = [fen, computeOutcome(position), position.repetitions(), Number(position.inCheck())];
      transcript.update(`${facts.join(' ')} ${moves.sort().join(' ')}\n`);
    };
    const moves = game.moves.split(' ');
    for (const text of moves) {
      describe();
      position.makeMove(unwrap(parseUciMove(position, text)));
    }
    // A game that was cut off has no line for its last position.
    const isOver = moves.length < 220;
    if (isOver) describe();
    assert.equal(transcript.digest('hex'), game.sha256, game.fen);
    assert.equal(computeOutcome(position), game.outcome, game.fen);
  }
});
