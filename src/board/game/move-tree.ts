/**
 * A game with its variations: what the move list shows and what PGN holds. The first child of a node is the main line. Nodes
 * are changed in place; whoever shows them must be told.
 */
import {
  formatFen,
  formatSan,
  formatUciMove,
  hasChess960Castling,
  type Move,
  NO_MOVE,
  type Position,
  parseFen,
  START_FEN,
} from '../../chess/index.js';
import { type Result, success, unwrap } from '../../util/index.js';

export interface MoveNode {
  /** Unique within the tree. */
  readonly id: number;
  readonly parent: MoveNode | null;
  /** Plies from the start of the tree. */
  readonly depth: number;
  /** Plies from move 1 of White, for move numbers. */
  readonly gamePly: number;
  /** NO_MOVE for the root. */
  readonly move: Move;
  /** Castling is king takes rook. */
  readonly uci: string;
  readonly san: string;
  readonly fen: string;
  readonly isCheck: boolean;
  readonly children: MoveNode[];
  /** After the move. */
  comment: string;
  /** Numeric annotation glyphs of PGN. */
  nags: number[];
}

/** The nodes that start with the tree's root and end at a node. */
export type MovePath = readonly MoveNode[];

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
    this.isChess960 = hasChess960Castling(start) || /960|fischer/i.test(headers.get('Variant') ?? '');
    this.headers = new Map(headers);
    this.root = this.createNode(null, NO_MOVE, '', start);
  }

  /** The error is the sentence for the user. */
  static create(fen: string = START_FEN, headers: ReadonlyMap<string, string> = new Map()): Result<MoveTree> {
    const start = parseFen(fen);
    return start.ok ? success(new MoveTree(start.value, headers)) : start;
  }

  /** The position of a node, with all moves before it in its history. */
  createPosition(node: MoveNode): Position {
    const position = unwrap(parseFen(this.startFen));
    for (const { move } of getPath(node).slice(1)) position.makeMove(move);
    return position;
  }

  /** The child with this move, made when there is none. @param move legal */
  add(parent: MoveNode, move: Move): MoveNode {
    const known = parent.children.find((child) => child.move === move);
    if (known !== undefined) return known;
    const position = this.createPosition(parent);
    const san = formatSan(position, move);
    position.makeMove(move);
    const child = this.createNode(parent, move, san, position);
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
      uci: move === NO_MOVE ? '' : formatUciMove(move, true),
      san,
      fen: formatFen(position),
      isCheck: position.inCheck(),
      children: [],
      comment: '',
      nags: [],
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

/** UCI moves from the start to a node. */
export function listUciMoves(node: MoveNode): string[] {
  return getPath(node)
    .slice(1)
    .map(({ uci }) => uci);
}
