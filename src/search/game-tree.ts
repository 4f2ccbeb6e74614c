/**
 * The tree of a game in progress: which position its root stands for, and how much of it a new position can keep. The
 * subtree of the moves played since is kept; a step back or another game starts an empty tree.
 */
import type { PositionMessage } from './protocol.js';
import type { StoreOptions } from './tree/store.js';
import { Tree } from './tree/tree.js';

export class GameTree {
  readonly tree: Tree;
  private position: PositionMessage | null = null;

  /** @param sharesNodes a graph */
  constructor(options: StoreOptions, sharesNodes: boolean) {
    this.tree = new Tree(options, sharesNodes);
  }

  /** @returns whether the position continues the one before */
  setPosition(position: PositionMessage): boolean {
    const before = this.position;
    this.position = position;
    const continues =
      before !== null &&
      before.rootFen === position.rootFen &&
      before.chess960 === position.chess960 &&
      before.moves.length <= position.moves.length &&
      before.moves.every((move, i) => move === position.moves[i]);
    if (!continues) {
      this.tree.clear();
      return false;
    }
    for (let i = before.moves.length; i < position.moves.length; i++) this.tree.advanceRoot(position.moves[i]);
    return true;
  }

  clear(): void {
    this.tree.clear();
  }
}
