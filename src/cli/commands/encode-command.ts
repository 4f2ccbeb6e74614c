/** `sardonyx encode`: prints the input planes and policy indices of a position, for scripts without rules of chess. */

import { unwrap } from '../../base/util/index.js';
import {
  formatFen,
  formatPiece,
  formatUciMove,
  hasChess960Castling,
  listLegalMoves,
  type Position,
} from '../../chess/rules/index.js';
import {
  getInputEncoding,
  getPolicyEncoding,
  listInputEncodings,
  listPolicyEncodings,
  transformSquare,
} from '../../networks/encoding/index.js';
import { choice, declareCommand, onOff, type ValuesOf } from '../declare-command.js';
import { printJson, printLine } from '../output.js';
import { POSITION_FLAGS, POSITION_WORDS, readPosition } from '../search-flags.js';

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
  const transform = input.writePacked(position, args['history-fill'], words, 0, values, 0);
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
    board: formatBoard(position),
    squares,
    legal,
  };
}

function formatWord(word: number): string {
  return word.toString(16).padStart(8, '0');
}

function formatBoard({ board }: Position): string {
  return Array.from(board, formatPiece).join('').replaceAll(' ', '.');
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
