/** A game as tags and a tree of moves, all of them as they are written. */

export interface PgnNodeData {
  san: string;
  /** Before the first move of a variation. */
  startingComments?: string[];
  /** Before the first move of a line. */
  startingNags?: number[];
  comments?: string[];
  nags?: number[];
}

export class PgnNode {
  /** The first one goes on with the line, the others are variations. */
  children: PgnMoveNode[] = [];

  /** Adds a child behind the others. */
  add(data: PgnNodeData): PgnMoveNode {
    const node = new PgnMoveNode(data);
    this.children.push(node);
    return node;
  }

  *mainline(): Generator<PgnNodeData, void, void> {
    for (let node: PgnMoveNode | undefined = this.children[0]; node !== undefined; node = node.children[0])
      yield node.data;
  }
}

export class PgnMoveNode extends PgnNode {
  constructor(public data: PgnNodeData) {
    super();
  }
}

export interface PgnTree {
  readonly headers: Map<string, string>;
  /** Before the first move. */
  readonly comments?: string[];
  readonly moves: PgnNode;
}

export const DEMANDED_TAGS: ReadonlyMap<string, string> = new Map([
  ['Event', '?'],
  ['Site', '?'],
  ['Date', '????.??.??'],
  ['Round', '?'],
  ['White', '?'],
  ['Black', '?'],
  ['Result', '*'],
]);
