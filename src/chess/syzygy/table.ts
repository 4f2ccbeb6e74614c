/**
 * The tables: one file, and the set of those that were found. A table reads its header and the value of a position. A WDL file stores both sides to move, a DTZ file one of
 * them. If both sides have the same pieces, it stores White to move only. With pawns, it has a part for each file of
 * the leading pawn. Values ignore captures and en passant; tablebases.ts corrects them.
 *
 *   magic (4) | flags | for each part: order of groups, pieces (low half byte: White to move, high: Black) | padding |
 *   headers of the compressed values | DTZ: lists of values | sparse indices | block lengths | blocks | checksum (16)
 */

import { KING, PAWN } from '../rules/index.js';
import { CompressedValues, FLAG_SIDE } from './compressed-values.js';
import { DtzMap } from './dtz-map.js';
import { DamagedTable, FileBytes, type FileMemory } from './file-bytes.js';
import { HeaderReader } from './header-reader.js';
import { type Material, MOST_MEN } from './material.js';
import type { PieceList } from './piece-list.js';
import { computePositionIndex, createPieceGroups, NO_SECOND_PAWNS, type PieceGroups } from './position-index.js';
import { PAWN_ORDER } from './square-numbers.js';

export type TableKind = 'wdl' | 'dtz';

/** Returned instead of a value if a DTZ file holds only positions in which the other side is to move. */
export const OTHER_SIDE = -32768;

const MAGIC: Readonly<Record<TableKind, number>> = { wdl: 0x5d23e871, dtz: 0xa50c66d7 };
const FLAG_TWO_SIDES = 1;
const FLAG_PAWNS = 2;
/** No header is longer. */
const HEAD_BYTES = 2 ** 20;
const CHECKSUM_BYTES = 16;
const ALIGNMENT = 64;
const BLACK_CODE = 8;

/** The values for one side to move and one file of the leading pawn. */
interface TablePart {
  /** Piece codes in the order in which the index takes their squares. */
  readonly pieces: Uint8Array;
  readonly groups: PieceGroups;
  readonly values: CompressedValues;
  readonly map: DtzMap | null;
}

/** Whether a file of this size can be a table: a whole number of 64-byte blocks and the checksum. */
export function isTableSize(sizeBytes: number): boolean {
  return sizeBytes >= ALIGNMENT + CHECKSUM_BYTES && sizeBytes % ALIGNMENT === CHECKSUM_BYTES;
}

export class Table {
  private readonly file: FileBytes;
  private readonly sides: number;
  /** Index: file of the leading pawn * sides + side to move. */
  private readonly parts: readonly TablePart[];
  private part: TablePart;
  private readonly squares = new Int32Array(MOST_MEN);

  /** Opens a file and reads its header. Throws if the file cannot be read or is not this table. */
  constructor(
    path: string,
    private readonly material: Material,
    private readonly kind: TableKind,
    memory: FileMemory,
  ) {
    this.file = new FileBytes(path, memory);
    if (!isTableSize(this.file.sizeBytes)) throw new DamagedTable('its size is wrong');
    this.sides = kind === 'wdl' && !material.isSymmetric ? 2 : 1;
    const header = new HeaderReader(this.file.readHead(HEAD_BYTES));
    if (header.readUint32() !== MAGIC[kind]) throw new DamagedTable('it does not begin like a table');
    this.parts = this.readParts(header);
    this.part = this.parts[0];
    this.placeData(header.offset);
  }

  /**
   * The stored value of a position. Throws DamagedTable.
   * @param pieces pieces of the position, which have this table's material, possibly with colours swapped
   * @param blackToMove whether Black is to move in the position
   * @param wdl for a DTZ table: result of the position, not a draw
   * @returns WDL: −2 … 2 for the side to move; DTZ: plies, at least 1, or OTHER_SIDE
   */
  read(pieces: PieceList, blackToMove: boolean, wdl: number): number {
    const index = this.locate(pieces, blackToMove);
    if (index === OTHER_SIDE) return OTHER_SIDE;
    const { values, map } = this.part;
    const value = values.read(this.file, index);
    if (map !== null) return map.toPlies(value, wdl);
    if (value > 4) throw new DamagedTable('it holds an impossible value');
    return value - 2;
  }

  /** Sets `part` to the position's part of the table and returns its index there, or OTHER_SIDE. */
  locate(pieces: PieceList, blackToMove: boolean): number {
    const { material, kind, squares } = this;
    const isMirrored = pieces.key !== material.key || (material.isSymmetric && blackToMove);
    const side = blackToMove !== isMirrored ? 1 : 0;
    const leaderFile = material.hasPawns ? this.findLeader(pieces, isMirrored) : 0;
    const part = this.parts[leaderFile * this.sides + (this.sides === 2 ? side : 0)];
    this.part = part;
    // With equal material and no pawns, swapping colours makes either side the one to move.
    const hasBothSides = kind === 'wdl' || (material.isSymmetric && !material.hasPawns);
    if (!hasBothSides && (part.values.flags & FLAG_SIDE) !== side) return OTHER_SIDE;
    this.arrange(pieces, part.pieces, isMirrored);
    if (material.hasPawns) this.putLeaderFirst(part.groups.lengths[0]);
    return computePositionIndex(material, part.groups, squares, pieces.count);
  }

  /** Reads the header after its magic number. */
  private readParts(header: HeaderReader): TablePart[] {
    const { material, sides, kind } = this;
    const flags = header.readByte();
    const hasTwoSides = !material.isSymmetric;
    if (((flags & FLAG_PAWNS) !== 0) !== material.hasPawns || ((flags & FLAG_TWO_SIDES) !== 0) !== hasTwoSides) {
      throw new DamagedTable('it holds other pieces than its name says');
    }
    const files = material.hasPawns ? 4 : 1;
    const arrangements = Array.from({ length: files }, (_, file) => readArrangements(header, material, sides, file));
    header.alignTo(2);
    const heads = arrangements
      .flat()
      .map((arranged) => ({ ...arranged, values: new CompressedValues(header, arranged.groups.size) }));
    const parts = heads.map((head) => ({
      ...head,
      map: kind === 'dtz' ? new DtzMap(head.values.flags, header) : null,
    }));
    if (kind === 'dtz') header.alignTo(2);
    return parts;
  }

  /** Tells each part where its data begins in the file. */
  private placeData(headEnd: number): void {
    let offset = headEnd;
    for (const { values } of this.parts) offset = values.placeSpans(offset);
    for (const { values } of this.parts) offset = values.placeLengths(offset);
    for (const { values } of this.parts) offset = values.placeBlocks(offset);
    if (offset + CHECKSUM_BYTES > this.file.sizeBytes) throw new DamagedTable('it ends too early');
  }

  /** File of the leading pawn, mirrored to a … d. */
  private findLeader({ codes, squares, count }: PieceList, isMirrored: boolean): number {
    const leader = this.parts[0].pieces[0] ^ (isMirrored ? BLACK_CODE : 0);
    let most = -1;
    let file = 0;
    for (let i = 0; i < count; i++) {
      const square = isMirrored ? squares[i] ^ 56 : squares[i];
      if (codes[i] !== leader || PAWN_ORDER[square] <= most) continue;
      most = PAWN_ORDER[square];
      file = Math.min(square & 7, ~square & 7);
    }
    return file;
  }

  /** Fills `squares` in the order of the table's pieces, with colours swapped if the position has them so. */
  private arrange(list: PieceList, order: Uint8Array, isMirrored: boolean): void {
    const flipCode = isMirrored ? BLACK_CODE : 0;
    const flipSquare = isMirrored ? 56 : 0;
    let used = 0;
    for (let place = 0; place < list.count; place++) {
      const code = order[place] ^ flipCode;
      let i = 0;
      while (list.codes[i] !== code || ((used >> i) & 1) !== 0) i++;
      used |= 1 << i;
      this.squares[place] = list.squares[i] ^ flipSquare;
    }
  }

  /** Swaps the leading pawn to the front. */
  private putLeaderFirst(pawns: number): void {
    const { squares } = this;
    let best = 0;
    for (let i = 1; i < pawns; i++) if (PAWN_ORDER[squares[i]] > PAWN_ORDER[squares[best]]) best = i;
    const leader = squares[best];
    squares[best] = squares[0];
    squares[0] = leader;
  }
}

/** Order of pieces and groups for each side to move. */
function readArrangements(
  header: HeaderReader,
  material: Material,
  sides: number,
  file: number,
): Pick<TablePart, 'pieces' | 'groups'>[] {
  const order = header.readByte();
  const second = material.hasPawns && material.otherPawns > 0 ? header.readByte() : NO_SECOND_PAWNS * 17;
  const bytes = Array.from(material.codes, () => header.readByte());
  return Array.from({ length: sides }, (_, side) => {
    const shift = 4 * side;
    const pieces = Uint8Array.from(bytes, (byte) => (byte >> shift) & 15);
    checkPieces(material, pieces);
    const groups = createPieceGroups(material, pieces, (order >> shift) & 15, (second >> shift) & 15, file);
    return { pieces, groups };
  });
}

/** Throws unless the pieces are those of the file's name, with the first groups where they must be. */
function checkPieces(material: Material, pieces: Uint8Array): void {
  const sort = (codes: Iterable<number>): string => [...codes].sort((a, b) => a - b).join();
  const leading = pieces.subarray(0, material.leadingPawns);
  const isWell = material.hasPawns
    ? (pieces[0] & 7) === PAWN && leading.every((code) => code === pieces[0]) && hasSecondPawnsNext(material, pieces)
    : material.hasUniquePiece || ((pieces[0] & 7) === KING && (pieces[1] & 7) === KING);
  if (sort(pieces) !== sort(material.codes) || !isWell) {
    throw new DamagedTable('it holds other pieces than its name says');
  }
}

function hasSecondPawnsNext({ leadingPawns, otherPawns }: Material, pieces: Uint8Array): boolean {
  const second = pieces.subarray(leadingPawns, leadingPawns + otherPawns);
  return second.every((code) => code === (pieces[0] ^ BLACK_CODE));
}
