/** Commands about one position: `sardonyx eval`, the network's evaluation without search, `perft` and `encode`. */
import { unwrap } from '../../base/util/index.js';
import {
  formatFen,
  formatUciMove,
  hasChess960Castling,
  listLegalMoves,
  type Move,
  type Position,
  perft,
  perftDivide,
} from '../../chess/rules/index.js';
import { enginePorts } from '../../engine/app/index.js';
import {
  Analyst,
  computeRootScore,
  getMovesLeft,
  type RootStats,
  writesKingTakesRook,
} from '../../engine/core/index.js';
import { formatEvalAnswer } from '../../engine/uci/index.js';
import {
  getInputEncoding,
  getPolicyEncoding,
  type HistoryFill,
  listInputEncodings,
  listPolicyEncodings,
  transformSquare,
} from '../../networks/encoding/index.js';
import { computeWdl, type ScoreType } from '../../search/index.js';
import { choice, declareCommand, onOff, type ValuesOf, whole } from '../declare-command.js';
import { readEngineFlags } from '../engine-flags.js';
import { printJson, printLine, printNote } from '../output.js';
import { POSITION_FLAGS, POSITION_WORDS, readPosition } from '../search-flags.js';

export const evalCommand = declareCommand({
  command: 'eval [position..]',
  describe: 'Print the network’s evaluation of a position, without search',
  words: POSITION_WORDS,
  flags: {
    ...POSITION_FLAGS,
    json: onOff('Print the result as JSON'),
  },
  engineFlags: 'named',
  run: async (args, given) => {
    const { fen, moves, position } = readPosition(args);
    const options = await readEngineFlags(given);
    const chess960 = writesKingTakesRook(options, position);
    const scoreType = options.getString('ScoreType') as ScoreType;
    const analyst = new Analyst(options, enginePorts, printNote);
    try {
      await analyst.load();
      const stats = await analyst.evaluate(fen, moves);
      if (stats === null) throw new Error('There is nothing to evaluate: the game is over');
      if (args.json) printJson(summarise(stats, scoreType, chess960));
      else for (const line of formatEvalAnswer(stats, scoreType, chess960)) printLine(line);
    } finally {
      await analyst.engine.dispose();
    }
  },
});

function summarise(stats: RootStats, scoreType: ScoreType, chess960: boolean): object {
  const { node, moves } = stats;
  const policy = [...moves].sort((a, b) => b.prior - a.prior);
  return {
    score: computeRootScore(stats, scoreType),
    q: node.q,
    wdl: computeWdl(node.wl ?? node.q, node.d ?? 0),
    movesLeft: getMovesLeft(stats),
    policy: policy.map(({ move, prior }) => ({ move: formatUciMove(move as Move, chess960), prior })),
  };
}

// `sardonyx perft`: counts sequences of legal moves, the test of every move generator.

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
});

// `sardonyx encode`: prints the input planes and policy indices of a position, for scripts without rules of chess.

interface EncodedPosition {
  readonly fen: string;
  readonly sideToMove: 'white' | 'black';
  readonly encoding: string;
  readonly policy: string;
  /** One 64-bit mask a plane as 16 hexadecimal digits; bit s = the encoding's square s (a1 = 0). */
  readonly masks: readonly string[];
  /** One factor a plane. */
  readonly values: readonly number[];
  /** FEN letters by square of the board, a1 first; '.' is empty. */
  readonly board: string;
  /** The board's square for each of the encoding's squares. */
  readonly squares: readonly number[];
  readonly legal: readonly { readonly move: string; readonly index: number }[];
}

const MIRRORED_RANKS = 56;

// biome-ignore format: a row a flag
const FLAGS = {
  ...POSITION_FLAGS,
  encoding: choice(listInputEncodings(), 'lc0-112', 'Encoding of the input planes'),
  policy: choice(listPolicyEncodings(), 'lc0-1858', 'Numbering of the moves'),
  'history-fill': choice(['no', 'fen_only', 'always'], 'fen_only', 'What fills the planes of positions before the first one'),
  chess960: onOff('Write castling as king takes rook'),
  json: onOff('Print the result as JSON'),
};

type EncodeArguments = ValuesOf<typeof FLAGS>;

export const encodeCommand = declareCommand({
  command: 'encode [position..]',
  describe: 'Print the input planes and policy indices of a position',
  words: POSITION_WORDS,
  flags: FLAGS,
  run: (args) => {
    const { position } = readPosition(args);
    const encoded = encode(position, args);
    if (args.json) printJson(encoded);
    else for (const line of formatPlanes(encoded)) printLine(line);
  },
});

function encode(position: Position, args: EncodeArguments): EncodedPosition {
  const input = unwrap(getInputEncoding(args.encoding));
  const policy = unwrap(getPolicyEncoding(args.policy));
  const words = new Uint32Array(2 * input.planes);
  const values = new Float32Array(input.planes);
  const transform = input.writePacked(position, args['history-fill'] as HistoryFill, words, 0, values, 0);
  const spellsRook = args.chess960 || hasChess960Castling(position);
  const legal = listLegalMoves(position).map((move) => ({
    move: formatUciMove(move, spellsRook),
    index: policy.moveToIndex(position, move, transform),
  }));
  const isBlack = position.sideToMove === 1;
  const squares = new Array<number>(64);
  for (let square = 0; square < 64; square++) {
    squares[transformSquare(isBlack ? square ^ MIRRORED_RANKS : square, transform)] = square;
  }
  return {
    fen: formatFen(position),
    sideToMove: isBlack ? 'black' : 'white',
    encoding: input.name,
    policy: policy.name,
    masks: Array.from(values, (_, plane) => formatWord(words[2 * plane + 1]) + formatWord(words[2 * plane])),
    values: Array.from(values),
    board: readBoard(position),
    squares,
    legal,
  };
}

function formatWord(word: number): string {
  return word.toString(16).padStart(8, '0');
}

/** FEN's first field without its digits, ranks turned round. */
function readBoard(position: Position): string {
  const ranks = formatFen(position)
    .split(' ')[0]
    .replace(/\d/g, (digit) => '.'.repeat(Number(digit)));
  return ranks.split('/').reverse().join('');
}

/** Planes that are not empty, as rows of the encoding's board from its eighth rank down; then the moves. */
function formatPlanes({ masks, values, legal }: EncodedPosition): string[] {
  const lines: string[] = [];
  for (const [plane, mask] of masks.entries()) {
    if (/^0+$/.test(mask)) continue;
    const ranks = mask.match(/../g) ?? [];
    const rows = ranks.map((rank) =>
      Number.parseInt(rank, 16).toString(2).padStart(8, '0').split('').reverse().join(''),
    );
    lines.push(`plane ${plane} × ${values[plane]}`, ...rows.map((row) => `  ${row.replaceAll('0', '.')}`));
  }
  return [...lines, ...legal.map(({ move, index }) => `${move} ${index}`)];
}
