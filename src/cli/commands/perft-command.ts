/** `sardonyx perft`: counts sequences of legal moves, the test of every move generator. */
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import { formatUciMove, hasChess960Castling, parseFen, perft, perftDivide, START_FEN } from '../../chess/index.js';
import { printJson, printLine } from '../output.js';

interface PerftArguments {
  depth?: number;
  fen: string;
  divide: boolean;
  chess960: boolean;
  json: boolean;
}

export const perftCommand: CommandModule<object, PerftArguments> = {
  command: 'perft <depth>',
  describe: 'Count the sequences of legal moves from a position',
  builder: (yargs) =>
    yargs
      .positional('depth', { type: 'number', describe: 'Length of the sequences in plies' })
      .option('fen', { type: 'string', default: START_FEN, defaultDescription: 'start position', describe: 'Position' })
      .option('divide', { type: 'boolean', default: false, describe: 'Print the count of each first move' })
      .option('chess960', { type: 'boolean', default: false, describe: 'Write castling as king takes rook' })
      .option('json', { type: 'boolean', default: false, describe: 'Print the result as JSON' }) as never,
  handler: (args: ArgumentsCamelCase<PerftArguments>) => {
    const depth = Number(args.depth);
    if (!Number.isInteger(depth) || depth < 0) throw new Error('The depth of perft is a whole number from 0 up');
    const parsed = parseFen(args.fen);
    if (!parsed.ok) throw new Error(parsed.error);
    const position = parsed.value;
    const startedAt = performance.now();
    const moves = args.divide && depth > 0 ? perftDivide(position, depth) : null;
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
};
