/** `sardonyx perft`: counts sequences of legal moves, the test of every move generator. */

import { formatUciMove, hasChess960Castling, perft, perftDivide } from '../../chess/rules/index.js';
import { declareCommand, onOff, whole } from '../declare-command.js';
import { printJson, printLine } from '../output.js';
import { POSITION_FLAGS, POSITION_WORDS, readPosition } from '../search-flags.js';

export const perftCommand = declareCommand({
  command: 'perft <depth> [position..]',
  describe: 'Count the sequences of legal moves from a position',
  words: {
    depth: whole({ min: 0 }, 'Length of the sequences in plies'),
    ...POSITION_WORDS,
  },
  flags: {
    ...POSITION_FLAGS,
    divide: onOff('Print the count of each first move'),
    chess960: onOff('Write castling as king takes rook'),
    json: onOff('Print the result as JSON'),
  },
  run: (args) => {
    const { depth = 0 } = args;
    const { position } = readPosition(args);
    const startedAt = performance.now();
    const moves = args.divide && depth > 0 ? [...perftDivide(position, depth)] : null;
    const nodes = moves === null ? perft(position, depth) : moves.reduce((sum, move) => sum + move.nodes, 0);
    const seconds = (performance.now() - startedAt) / 1000;
    const nps = Math.round(nodes / Math.max(seconds, 1e-9));
    const spellsRook = args.chess960 || hasChess960Castling(position);
    const named = moves?.map((move) => ({ move: formatUciMove(move.move, spellsRook), nodes: move.nodes }));
    if (args.json) {
      printJson({ nodes, seconds, nps, depth, ...(named === undefined ? {} : { moves: named }) });
      return;
    }
    for (const { move, nodes: count } of named ?? []) printLine(`${move}: ${count}`);
    printLine(`Nodes searched: ${nodes}`);
    printLine(`Time: ${seconds.toFixed(3)} s, ${nps} nodes/s`);
  },
});
