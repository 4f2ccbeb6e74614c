/**
 * Sequential halving at the root, in place of PUCT (Danihelka et al. 2022, "Policy improvement by planning with Gumbel"). It
 * starts with the k moves of the highest g + logit. In each phase all candidates get the same number of new visits, then the
 * worse half is dropped; log2(k) phases share the visits of the search evenly, and the last two moves get the rest. The score
 * that decides who is dropped, and which move is played, is g + logit + σ(q) with σ(q) = (offset + most visits of a move) · scale
 * · q and q in [0, 1]. `RootMoves` has put the Gumbel noise g into the priors, so log(prior) is g + logit; without noise the
 * search is deterministic. Below the root nothing changes.
 */

import { MAX_EDGES } from '../../networks/leaves/index.js';
import type { SearchParams } from '../protocol/params.js';
import { getOutcome, getPrior, getRecordQ, getRecordVisits, getVisitedRecord } from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';

export class SequentialHalving {
  /** By edge: the visits, finished and in flight, that a move has at the end of this phase; 0 = it is no candidate. */
  readonly targets = new Uint32Array(MAX_EDGES);

  private readonly phases: number;
  private candidates: number[];

  /**
   * @param edges moves that may be searched
   * @param budget visits that this search will make
   */
  constructor(
    private readonly tree: Tree,
    private readonly params: SearchParams,
    edges: readonly number[],
    private readonly budget: number,
  ) {
    const prior = (edge: number): number => getPrior(tree, tree.rootNode, edge);
    const count = Math.max(1, Math.min(params.gumbelCandidates, budget));
    this.candidates = [...edges].sort((a, b) => prior(b) - prior(a) || a - b).slice(0, count);
    this.phases = Math.max(1, Math.ceil(Math.log2(this.candidates.length)));
    this.startPhase(budget);
  }

  /** Visits of this phase that are still to be made. */
  get remaining(): number {
    return this.candidates.reduce((sum, edge) => sum + Math.max(0, this.targets[edge] - this.getVisits(edge)), 0);
  }

  /**
   * Starts the next phase if this one is done.
   * @param budget visits that the search has left
   * @param drawScore value of a draw for the root's mover
   */
  advance(budget: number, drawScore: number): void {
    if (this.remaining > 0) return;
    const count = this.candidates.length;
    if (count > 2) {
      const scores = this.computeScores(drawScore);
      this.candidates.sort((a, b) => scores[b] - scores[a] || a - b);
      this.candidates.length = Math.max(2, count >> 1);
    }
    this.startPhase(budget);
  }

  /** The best candidate; -1 when all are lost or unvisited. */
  findBest(drawScore: number): number {
    const scores = this.computeScores(drawScore);
    let best = -1;
    for (const edge of this.candidates) {
      if (scores[edge] > (best < 0 ? Number.NEGATIVE_INFINITY : scores[best])) best = edge;
    }
    return best;
  }

  private startPhase(budget: number): void {
    const { candidates, targets } = this;
    const count = candidates.length;
    const share = count <= 2 ? Math.ceil(budget / count) : Math.max(1, Math.floor(this.budget / (this.phases * count)));
    targets.fill(0);
    for (const edge of candidates) targets[edge] = this.getVisits(edge) + Math.max(0, share);
  }

  /** g + logit + σ(q) by edge; -Infinity for lost and unvisited moves. */
  private computeScores(drawScore: number): Float64Array {
    const { tree, params, candidates } = this;
    const root = tree.rootNode;
    const most = Math.max(...candidates.map((edge) => this.getVisits(edge)));
    const scale = (params.gumbelVisitOffset + most) * params.gumbelValueScale;
    const scores = new Float64Array(MAX_EDGES);
    for (const edge of candidates) {
      const record = getVisitedRecord(tree, root, edge);
      if (record === -1 || getOutcome(tree, record) < 0) scores[edge] = Number.NEGATIVE_INFINITY;
      else
        scores[edge] = Math.log(getPrior(tree, root, edge)) + (scale * (1 + getRecordQ(tree, record, drawScore))) / 2;
    }
    return scores;
  }

  private getVisits(edge: number): number {
    return getRecordVisits(this.tree, getVisitedRecord(this.tree, this.tree.rootNode, edge));
  }
}
