/**
 * Applies the rules of a search about its moves (`MoveRule`, KataGo's avoidMoves and allowMoves). Excluded moves are removed from a
 * leaf's answer before it becomes a node, so selection needs no check. Rules are for one search, over an empty tree without
 * transpositions: a node does not know at which depths other paths will reach it.
 */
import type { LeafColumns } from '../../networks/leaves/index.js';
import type { MoveRule } from '../protocol/search-protocol.js';

export class MoveFilter {
  private readonly rules: readonly (MoveRule & { readonly set: ReadonlySet<number> })[];
  private readonly depth: number;

  constructor(rules: readonly MoveRule[]) {
    this.rules = rules.map((rule) => ({ ...rule, set: new Set(rule.moves) }));
    this.depth = Math.max(0, ...rules.map(({ untilDepth }) => untilDepth));
  }

  /**
   * Filters the moves of an answered leaf, `count` of them from `offset` on: moves the remaining ones to the front, in their
   * order. If none would remain, all do.
   * @param depth plies from the root to the leaf
   * @returns the number of moves left
   */
  apply(
    { edgeMoves, edgePriors }: Pick<LeafColumns, 'edgeMoves' | 'edgePriors'>,
    offset: number,
    count: number,
    depth: number,
  ): number {
    if (depth >= this.depth) return count;
    let kept = 0;
    for (let i = offset; i < offset + count; i++) if (this.isKept(edgeMoves[i], depth)) kept++;
    if (kept === 0 || kept === count) return count;
    let next = offset;
    for (let i = offset; i < offset + count; i++) {
      if (!this.isKept(edgeMoves[i], depth)) continue;
      edgeMoves[next] = edgeMoves[i];
      edgePriors[next++] = edgePriors[i];
    }
    return kept;
  }

  private isKept(move: number, depth: number): boolean {
    return this.rules.every(
      ({ parity, untilDepth, set, isAllowList }) =>
        depth >= untilDepth || (depth & 1) !== parity || set.has(move) === isAllowList,
    );
  }
}
