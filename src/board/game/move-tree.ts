/**
 * A game with its variations: what the move list shows and what PGN holds. The first child of a node is the main line. Nodes
 * are changed in place; whoever shows them must be told.
 */

import { type Result, success, unwrap } from '../../base/util/index.js';
import { type JudgedPosition, type PgnMoveNode, readVariant } from '../../chess/pgn/index.js';
import {
  formatFen,
  formatSan,
  formatUciMove,
  hasChess960Castling,
  type Move,
  NO_MOVE,
  type Position,
  parseFen,
  passTurn,
  START_FEN,
} from '../../chess/rules/index.js';
import type { PositionText } from '../protocol/requests.js';

/** What a review has found out about a position. */
export interface Judgement extends Omit<JudgedPosition, 'played'> {
  /** Whose it is, and after how many visits; earlier versions did not say. */
  readonly network?: string;
  readonly nodes?: number;
}

export interface MoveNode {
  /** Unique within the tree. */
  readonly id: number;
  readonly parent: MoveNode | null;
  /** Plies from the start of the tree. */
  readonly depth: number;
  /** Plies from move 1 of White, for move numbers. */
  readonly gamePly: number;
  /** NO_MOVE for the root and for null moves, which analyses use to show a threat. */
  readonly move: Move;
  /** Castling is king takes rook. */
  readonly uci: string;
  readonly san: string;
  readonly fen: string;
  readonly children: MoveNode[];
  /** After the move, without commands such as [%clk 0:01:00]. */
  comment: string;
  /** Numeric annotation glyphs of PGN. */
  nags: number[];
  /** Of the position after the move; null = no review has looked at it. */
  judgement: Judgement | null;
  /** What the file has around the move that the page does not show. It is written back. */
  readonly source: {
    /** The comment before the first move of a variation. */
    commentBefore: string;
    /** Those of `nags` that stand before the first move of a line. */
    nagsBefore: number[];
    /** The comment after the move, with its commands. */
    comment: string;
    /** Lines that begin with an illegal move. `isMainUnread`: the main line is the first of them. */
    unread: PgnMoveNode[];
    isMainUnread: boolean;
  };
}

/** The nodes that start with the tree's root and end at a node. */
type MovePath = readonly MoveNode[];

export class MoveTree {
  readonly root: MoveNode;
  readonly startFen: string;
  /** Castling starts from other squares than in standard chess. */
  readonly isChess960: boolean;
  /** PGN headers, in order. */
  readonly headers: Map<string, string>;
  private count = 0;

  private constructor(start: Position, headers: ReadonlyMap<string, string>) {
    this.startFen = formatFen(start);
    const variant = readVariant(headers);
    this.isChess960 = hasChess960Castling(start) || (variant.ok && variant.value);
    this.headers = new Map(headers);
    this.root = this.createNode(null, NO_MOVE, '', start);
  }

  /** The error is the sentence for the user. @param notes receives a sentence for everything that was dropped from the FEN */
  static create(
    fen: string = START_FEN,
    headers: ReadonlyMap<string, string> = new Map(),
    notes: string[] = [],
  ): Result<MoveTree> {
    const start = parseFen(fen, notes);
    return start.ok ? success(new MoveTree(start.value, headers)) : start;
  }

  /** The position of a node, with all moves since the start or the last null move in its history. */
  createPosition(node: MoveNode): Position {
    const { fen, moves } = this.findStart(node);
    const position = unwrap(parseFen(fen));
    for (const { move } of moves) position.makeMove(move);
    return position;
  }

  /** The position of a node with its history, for the engine. */
  describePosition(node: MoveNode): PositionText {
    const { fen, moves } = this.findStart(node);
    return { fen, moves: moves.map(({ uci }) => uci) };
  }

  /** A position and the moves from it to a node: from the start of the tree, or from the last null move. */
  private findStart(node: MoveNode): { readonly fen: string; readonly moves: MovePath } {
    const path = getPath(node);
    const start = path.findLastIndex(({ move }) => move === NO_MOVE);
    return { fen: start === 0 ? this.startFen : path[start].fen, moves: path.slice(start + 1) };
  }

  /** The child with this move, made when there is none. @param move legal */
  add(parent: MoveNode, move: Move): MoveNode {
    const known = parent.children.find((child) => child.move === move);
    return known ?? this.append(parent, move, this.createPosition(parent));
  }

  /** A new last child. @param move legal, or NO_MOVE to pass; @param position the parent's, left as it was */
  append(parent: MoveNode, move: Move, position: Position): MoveNode {
    const isPass = move === NO_MOVE;
    const san = isPass ? '--' : formatSan(position, move);
    const after = isPass ? unwrap(passTurn(position)) : position;
    if (!isPass) position.makeMove(move);
    const child = this.createNode(parent, move, san, after);
    if (!isPass) position.unmakeMove();
    parent.children.push(child);
    return child;
  }

  /** @returns the parent, where one should go on */
  remove(node: MoveNode): MoveNode {
    const { parent } = node;
    if (parent === null) return node;
    parent.children.splice(parent.children.indexOf(node), 1);
    return parent;
  }

  /** Makes the variation that holds the node one step more important; at the top it is the main line. */
  promote(node: MoveNode): void {
    for (let child = node; child.parent !== null; child = child.parent) {
      const { children } = child.parent;
      const index = children.indexOf(child);
      if (index === 0) continue;
      children.splice(index, 1);
      children.splice(index - 1, 0, child);
      return;
    }
  }

  private createNode(parent: MoveNode | null, move: Move, san: string, position: Position): MoveNode {
    return {
      id: this.count++,
      parent,
      depth: parent === null ? 0 : parent.depth + 1,
      gamePly: position.gamePly,
      move,
      uci: parent === null ? '' : formatUciMove(move, true),
      san,
      fen: formatFen(position),
      children: [],
      comment: '',
      nags: [],
      judgement: null,
      source: { commentBefore: '', nagsBefore: [], comment: '', unread: [], isMainUnread: false },
    };
  }
}

export function getPath(node: MoveNode): MovePath {
  const path: MoveNode[] = [];
  for (let at: MoveNode | null = node; at !== null; at = at.parent) path.push(at);
  return path.reverse();
}

/** The last node of the line that goes on from a node by first children. */
export function findLineEnd(node: MoveNode): MoveNode {
  let end = node;
  while (end.children.length > 0) end = end.children[0];
  return end;
}

/** The first node that fits, lines before their variations. */
export function findNode(root: MoveNode, fits: (node: MoveNode) => boolean): MoveNode | null {
  for (const node of walkNodes(root)) if (fits(node)) return node;
  return null;
}

function* walkNodes(root: MoveNode): Generator<MoveNode, void, void> {
  const rest = [root];
  for (let node = rest.pop(); node !== undefined; node = rest.pop()) {
    yield node;
    rest.push(...node.children.toReversed());
  }
}

/** Of all moves, which PGN cannot hold. */
export function listJudgements({ root }: MoveTree): Judgement[] {
  return [...walkNodes(root)].flatMap(({ judgement }) => judgement ?? []);
}

/** Gives the positions of a tree what `listJudgements` took from it. A FEN has the number of the move: it names few others. */
export function restoreJudgements({ root }: MoveTree, judgements: readonly Judgement[]): void {
  const known = new Map(judgements.map((judgement) => [judgement.fen, judgement]));
  for (const node of walkNodes(root)) node.judgement = known.get(node.fen) ?? null;
}

/** UCI moves from the start to a node. */
export function listUciMoves(node: MoveNode): string[] {
  return getPath(node)
    .slice(1)
    .map(({ uci }) => uci);
}

/** Two of the five squares that are free. */
const KNIGHT_PLACES = [0, 1, 2, 3].flatMap((first) =>
  [1, 2, 3, 4].filter((second) => second > first).map((second) => [first, second] as const),
);

/** A start position by its number, 0 to 959, in Reinhard Scharnagl's scheme: 518 is the standard one. */
export function createChess960Fen(number: number): string {
  const rank: string[] = Array.from({ length: 8 }, () => '');
  /** Puts a piece on the free square with this number. */
  const place = (piece: string, index: number): void => {
    const free = rank.flatMap((own, file) => (own === '' ? [file] : []));
    rank[free[index]] = piece;
  };
  rank[2 * (number % 4) + 1] = 'B';
  rank[2 * ((number >> 2) % 4)] = 'B';
  place('Q', (number >> 4) % 6);
  const [first, second] = KNIGHT_PLACES[Math.floor(number / 96)];
  place('N', first);
  // One free square less than before.
  place('N', second - 1);
  for (const piece of ['R', 'K', 'R']) place(piece, 0);
  const white = rank.join('');
  const files = rank.flatMap((piece, file) => (piece === 'R' ? ['ABCDEFGH'[file]] : [])).reverse();
  const castling = white === 'RNBQKBNR' ? 'KQ' : files.join('');
  return `${white.toLowerCase()}/pppppppp/8/8/8/8/PPPPPPPP/${white} w ${castling}${castling.toLowerCase()} - 0 1`;
}
