/**
 * Sequential halving at the root, in place of PUCT (Danihelka et al. 2022, "Policy improvement by planning with
 * Gumbel"): of the k moves with the highest g + logit each gets the same number of new visits, the worse half goes, and
 * so on for log2(k) phases that share the visits of the search evenly; the last two have all that is left. What goes and
 * what is played in the end is decided by g + logit + σ(q), σ(q) = (offset + most visits of a move) · scale · q with q in
 * [0, 1]. The Gumbel noise g is the one that `RootMoves` has put into the priors, so that log(prior) is g + logit; without
 * it the search is deterministic. Below the root nothing changes.
 */
import { MAX_EDGES } from '../../nn/index.js';
import { getOutcome, getPrior, getRecordQ, getRecordVisits, getVisitedRecord } from '../best-move.js';
import type { SearchParams } from '../params.js';
import type { Tree } from '../tree/tree.js';

export class SequentialHalving {
  /** By edge: visits, finished and in flight, with which the move has had its share of the phase; 0 = it is out. */
  readonly targets = new Uint32Array(MAX_EDGES);

  private readonly tree: Tree;
  private readonly params: SearchParams;
  private readonly budget: number;
  private readonly phases: number;
  private candidates: number[];

  /**
   * @param edges moves that may be searched
   * @param budget visits that this search will make
   */
  constructor(tree: Tree, params: SearchParams, edges: readonly number[], budget: number) {
    this.tree = tree;
    this.params = params;
    this.budget = budget;
    const prior = (edge: number): number => getPrior(tree, tree.rootNode, edge);
    const count = Math.max(1, Math.min(params.gumbelCandidates, budget));
    this.candidates = [...edges].sort((a, b) => prior(b) - prior(a) || a - b).slice(0, count);
    this.phases = Math.max(1, Math.ceil(Math.log2(this.candidates.length)));
    this.startPhase(budget);
  }

  /** Visits of this phase that are not finished. */
  get remaining(): number {
    return this.candidates.reduce((sum, edge) => sum + Math.max(0, this.targets[edge] - this.getVisits(edge)), 0);
  }

  /**
   * Begins the next phase if this one is done.
   * @param budget visits that are left
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
