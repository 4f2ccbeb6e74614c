/**
 * Settings of the root that hold for one search: `searchmoves`, the moves that tablebases choose, and noise on
 * the priors. All of them reorder the root's unvisited edges, so that selection finds them as in any node: sorted by prior, the
 * allowed ones first. `restore` undoes this after the search, because the tree is used again. `SequentialHalving` shares visits
 * among the root's moves in place of PUCT.
 */

import { drawGamma, type Prng } from '../../base/util/index.js';
import { decodePrior, encodePrior, MAX_EDGES } from '../../networks/leaves/index.js';
import type { SearchParams } from '../protocol/params.js';
import { getEdgeMove, getEdgePrior, NO_NODE, packEdge } from '../tree/layout.js';
import {
  countChildren,
  findBestEdge,
  getChildRecord,
  getEdgeCount,
  getFirstEdge,
  getOutcome,
  getRecordVisits,
  getVisitedRecord,
  setRecordPrior,
} from '../tree/read-tree.js';
import type { Tree } from '../tree/tree.js';
import { SequentialHalving } from './sequential-halving.js';

export class RootMoves {
  /** Edges from this number on are not searched; they are unvisited. */
  edgeLimit = MAX_EDGES;
  /** The best move so far, a child number; -1 = none. With smart pruning, moves more than `remainingPlayouts` visits behind it are skipped. */
  bestChild = -1;
  remainingPlayouts = Number.POSITIVE_INFINITY;
  /** Moves that are proven to win get no more visits, because other moves must be searched for their lines. */
  skipsWins = false;
  halving: SequentialHalving | null = null;

  /** By edge: 1 = a visited move that is not searched. */
  private readonly excluded = new Uint8Array(MAX_EDGES);
  private readonly ownPriors = new Map<number, number>();

  constructor(private readonly tree: Tree) {}

  /** Lifts all restrictions. */
  reset(): void {
    this.edgeLimit = MAX_EDGES;
    this.excluded.fill(0);
    this.bestChild = -1;
    this.remainingPlayouts = Number.POSITIVE_INFINITY;
    this.skipsWins = false;
    this.halving = null;
    this.ownPriors.clear();
  }

  /** Sequential halving, by edge: the visits, finished and in flight, that a move may have; null without halving. */
  get visitTargets(): Uint32Array | null {
    return this.halving?.targets ?? null;
  }

  isAllowed(edge: number): boolean {
    return edge < this.edgeLimit && this.excluded[edge] === 0;
  }

  /** Whether selection must not choose a move. @param started visits of the move, finished and in flight */
  isSkipped(move: number, started: number): boolean {
    const { tree, bestChild, visitTargets } = this;
    if (visitTargets !== null && started >= visitTargets[move]) return true;
    if (this.excluded[move] !== 0) return true;
    const record = getVisitedRecord(tree, tree.rootNode, move);
    if (this.skipsWins && getOutcome(tree, record) > 0) return true;
    if (visitTargets !== null || bestChild < 0 || move === bestChild) return false;
    const bestVisits = getRecordVisits(tree, getChildRecord(tree, tree.rootNode, bestChild));
    return this.remainingPlayouts < bestVisits - getRecordVisits(tree, record);
  }

  /** Finished visits of excluded moves, from earlier searches. */
  countExcludedVisits(): number {
    const { tree, excluded } = this;
    let visits = 0;
    for (let edge = 0; edge < MAX_EDGES; edge++) {
      if (excluded[edge] !== 0) visits += getRecordVisits(tree, getVisitedRecord(tree, tree.rootNode, edge));
    }
    return visits;
  }

  /** The move to play, temperature aside. @param drawScore value of a draw for the root's mover */
  findBest(drawScore: number): number {
    const { tree, halving } = this;
    const best = findBestEdge(tree, tree.rootNode, drawScore, (edge) => this.isAllowed(edge));
    if (halving === null || best < 0 || getOutcome(tree, getVisitedRecord(tree, tree.rootNode, best)) > 0) return best;
    const candidate = halving.findBest(drawScore);
    return candidate < 0 ? best : candidate;
  }

  /** Starts sequential halving; call `apply` first. @param budget visits that this search will make */
  startHalving(params: SearchParams, budget: number): void {
    const edges = Array.from({ length: getEdgeCount(this.tree, this.tree.rootNode) }, (_, edge) => edge);
    const allowed = edges.filter((edge) => this.isAllowed(edge));
    if (allowed.length > 0) this.halving = new SequentialHalving(this.tree, params, allowed, budget);
  }

  /**
   * Applies restrictions and noise to the root, once it has edges: Dirichlet noise, or Gumbel noise if its scale is above 0.
   * @param searchMoves empty = all moves
   */
  apply(searchMoves: readonly number[], params: SearchParams, random: Prng): void {
    const root = this.tree.rootNode;
    const edgeCount = getEdgeCount(this.tree, root);
    if (edgeCount === 0) return;
    if (params.gumbelNoiseScale > 0) this.addGumbelNoise(params.gumbelNoiseScale, random, edgeCount);
    else if (params.dirichletNoiseEpsilon > 0) this.addDirichletNoise(params, random, edgeCount);
    const list = this.listEdges();
    const childCount = countChildren(this.tree, root);
    const wanted = new Set(searchMoves);
    const some = list.some((edge) => wanted.has(getEdgeMove(edge)));
    const isWanted = (edge: number): boolean => !some || wanted.has(getEdgeMove(edge));
    this.sortUnvisited(isWanted);
    this.excluded.fill(0);
    for (let i = 0; i < childCount; i++) this.excluded[i] = isWanted(list[i]) ? 0 : 1;
    this.edgeLimit = edgeCount;
    while (this.edgeLimit > childCount && !isWanted(list[this.edgeLimit - 1])) this.edgeLimit--;
  }

  /** Takes the noise out, sorts the unvisited edges as in any other node and lifts all restrictions. */
  restore(): void {
    const root = this.tree.rootNode;
    if (root === NO_NODE) return;
    if (this.ownPriors.size > 0) {
      // A prior of 0 may come from a proven loss, which keeps it, or from the noise.
      const isLost = (edge: number): boolean => getOutcome(this.tree, getVisitedRecord(this.tree, root, edge)) < 0;
      this.writePriors((move, code, edge) => (code === 0 && isLost(edge) ? 0 : (this.ownPriors.get(move) ?? code)));
      this.ownPriors.clear();
    }
    this.sortUnvisited(() => true);
    this.reset();
  }

  /** prior · e^(scale · g), normalised, with g from the Gumbel distribution (Danihelka et al. 2022). */
  private addGumbelNoise(scale: number, random: Prng, edgeCount: number): void {
    const factors = Float64Array.from({ length: edgeCount }, () => Math.exp(scale * drawGumbel(random)));
    let total = 0;
    this.listEdges().forEach((edge, i) => {
      total += factors[i] * decodePrior(getEdgePrior(edge));
    });
    if (!(total > 0 && Number.isFinite(total))) return;
    let next = 0;
    this.changePriors((code) => (decodePrior(code) * factors[next++]) / total);
  }

  private addDirichletNoise(params: SearchParams, random: Prng, edgeCount: number): void {
    const { dirichletNoiseAlpha: alpha, dirichletNoiseEpsilon: epsilon } = params;
    const samples = Float64Array.from({ length: edgeCount }, () => drawGamma(alpha, random));
    const total = samples.reduce((sum, sample) => sum + sample, 0);
    if (total < Number.MIN_VALUE) return;
    let next = 0;
    this.changePriors((code) => decodePrior(code) * (1 - epsilon) + (epsilon * samples[next++]) / total);
  }

  /** Changes the priors until `restore`. @param compute the new prior for the code of the old one, in edge order */
  private changePriors(compute: (code: number) => number): void {
    this.writePriors((move, code) => {
      if (!this.ownPriors.has(move)) this.ownPriors.set(move, code);
      return encodePrior(compute(code));
    });
  }

  private writePriors(compute: (move: number, code: number, edge: number) => number): void {
    const { tree } = this;
    const edges = this.listEdges();
    const childCount = countChildren(tree, tree.rootNode);
    edges.forEach((edge, i) => {
      const move = getEdgeMove(edge);
      const code = compute(move, getEdgePrior(edge), i);
      edges[i] = packEdge(move, code);
      if (i < childCount) setRecordPrior(tree, getChildRecord(tree, tree.rootNode, i), decodePrior(code));
    });
  }

  private sortUnvisited(isWanted: (edge: number) => boolean): void {
    const unvisited = this.listEdges().subarray(countChildren(this.tree, this.tree.rootNode));
    unvisited.sort((a, b) => Number(isWanted(b)) - Number(isWanted(a)) || getEdgePrior(b) - getEdgePrior(a));
  }

  /** The root's edges themselves: what is written there changes the tree. */
  private listEdges(): Int32Array {
    const { tree } = this;
    const first = getFirstEdge(tree, tree.rootNode);
    return tree.store.edges.subarray(first, first + getEdgeCount(tree, tree.rootNode));
  }
}

/** A sample of the standard Gumbel distribution. */
function drawGumbel(random: Prng): number {
  return -Math.log(-Math.log(Math.max(random.nextFloat(), 1e-12)));
}
