/**
 * The path of a visit, from the root to where the walk stands. Step i leads from `nodes[i]`, at depth i, to that node's
 * child number `children[i]` by the move `moves[i]`. The arrays are as long as the longest path that evaluators accept;
 * what lies beyond the current depth is left over from earlier walks.
 */
import type { NodeIndex } from './layout.js';

export class VisitPath {
  readonly nodes: Int32Array;
  readonly children: Uint8Array;
  readonly moves: Uint16Array;
  /** Option TwoFoldDraws: a position that occurs a second time on the path is a draw. */
  twoFoldDraws = true;

  constructor(readonly maxDepth: number) {
    this.nodes = new Int32Array(maxDepth);
    this.children = new Uint8Array(maxDepth);
    this.moves = new Uint16Array(maxDepth);
  }

  /** @param move 0 when only the nodes of the path matter */
  setStep(depth: number, node: NodeIndex, child: number, move: number): void {
    this.nodes[depth] = node;
    this.children[depth] = child;
    this.moves[depth] = move;
  }
}
