/**
 * The search as a textbook would write it: objects, one playout at a time, every edge looked at, nothing cached. The
 * fast search has to visit the same nodes in the same numbers. Written from the formulas (lc0: search.cc, node.cc) and
 * not from the fast code; only the prior's 16-bit code and single precision of D and M are shared, because they
 * decide ties.
 */

import { decodePrior } from '#sardonyx/networks/leaves/index.js';
import { computeFastLog } from '#sardonyx/search/formulas/puct.js';
import type { SearchParams } from '#sardonyx/search/index.js';
import type { LeafAnswer } from './hash-game.js';

/** What the search needs to know of a game: see HashGame.evaluate. */
export interface Game {
  evaluate(moves: ArrayLike<number>, depth: number): LeafAnswer;
}

export interface ReferenceNode {
  readonly move: number;
  prior: number;
  visits: number;
  /** Views of the player who moved into the node. */
  wl: number;
  d: number;
  m: number;
  own: { wl: number; d: number; m: number } | null;
  terminal: 'no' | 'end' | 'tablebase' | 'twoFold';
  lower: -1 | 0 | 1;
  upper: -1 | 0 | 1;
  children: ReferenceNode[];
}

function createNode(move: number, prior: number): ReferenceNode {
  const none = { visits: 0, wl: 0, d: 0, m: 0, own: null, children: [] };
  return { move, prior, ...none, terminal: 'no', lower: -1, upper: 1 };
}

export class ReferenceSearch {
  root = createNode(0, 1);
  private played: number[] = [];
  private readonly game: Game;
  private readonly params: SearchParams;
  private readonly hasMovesLeft: boolean;

  constructor(game: Game, params: SearchParams, hasMovesLeft = true) {
    this.game = game;
    this.params = params;
    this.hasMovesLeft = hasMovesLeft;
  }

  play(move: number): void {
    this.played.push(move);
    this.root = this.root.children.find((child) => child.move === move) ?? createNode(move, 1);
    if (this.root.visits === 0) this.root = createNode(move, 1);
    if (this.root.terminal === 'no') return;
    if (this.root.own === null || this.root.children.length === 0) {
      this.root = createNode(move, 1);
      return;
    }
    // A proven root is searched like any other: its value becomes the average of what was found below.
    const root = this.root;
    root.terminal = 'no';
    root.lower = -1;
    root.upper = 1;
    let { wl, d, m } = root.own ?? { wl: 0, d: 0, m: 0 };
    root.visits = 1;
    for (const child of root.children) {
      root.visits += child.visits;
      wl -= child.wl * child.visits;
      d += child.d * child.visits;
      m += (child.m + 1) * child.visits;
    }
    root.wl = wl / root.visits;
    root.d = Math.fround(d / root.visits);
    root.m = Math.fround(m / root.visits);
  }

  /** Runs until the root has this many visits. */
  run(visits: number, blackToMove: boolean): void {
    const best = { child: null as ReferenceNode | null };
    while (this.root.visits < visits) {
      if (this.root.terminal !== 'no') return;
      const remaining = this.params.smartPruningFactor > 0 ? visits - this.root.visits : Number.POSITIVE_INFINITY;
      this.playout(blackToMove, remaining, best);
    }
  }

  private playout(blackToMove: boolean, remaining: number, best: { child: ReferenceNode | null }): void {
    const path = [this.root];
    let node = this.root;
    while (node.children.length > 0 && node.terminal === 'no') {
      const depth = path.length - 1;
      const child = this.select(node, depth, blackToMove, remaining, best.child);
      if (child.terminal === 'twoFold' && depth + 1 < child.m) this.revert(path, child);
      path.push(child);
      node = child;
    }
    const moves = [...this.played, ...path.slice(1).map(({ move }) => move)];
    if (node.terminal === 'no') this.expand(path, this.game.evaluate(moves, path.length - 1));
    const settled = this.backUp(path);
    const top = path[1];
    if (top !== undefined && (settled || (top !== best.child && (best.child?.visits ?? 0) <= top.visits))) {
      best.child = this.findBest(blackToMove);
    }
  }

  private drawScore(depth: number, blackToMove: boolean): number {
    return (depth % 2 === 1) === blackToMove ? this.params.drawScore : -this.params.drawScore;
  }

  private select(
    node: ReferenceNode,
    depth: number,
    blackToMove: boolean,
    remaining: number,
    best: ReferenceNode | null,
  ): ReferenceNode {
    const { params } = this;
    const drawScore = this.drawScore(depth, blackToMove);
    const isRoot = depth === 0;
    // Every number of lc0's selection is a float.
    const { fround } = Math;
    const [init, factor, base] = [fround(params.cpuct), fround(params.cpuctFactor), fround(params.cpuctBase)];
    const cpuct = fround(init + factor * computeFastLog(fround((node.visits + base) / base)));
    const exploration = fround(cpuct * Math.sqrt(Math.max(1, node.visits - 1)));
    let visitedPrior = 0;
    for (const child of node.children) if (child.visits > 0) visitedPrior = fround(visitedPrior + child.prior);
    const parentQ = fround(-(node.wl - fround(drawScore * node.d)));
    const fpuValue = fround(params.fpuValue);
    const fpu =
      params.fpuStrategy === 'absolute' ? fpuValue : fround(parentQ - fpuValue * fround(Math.sqrt(visitedPrior)));
    let chosen: ReferenceNode | null = null;
    let chosenScore = -Infinity;
    for (const child of node.children) {
      if (isRoot && best !== null && child !== best && remaining < best.visits - child.visits) continue;
      const q = child.visits > 0 ? fround(child.wl + fround(drawScore * child.d)) : fpu;
      const bonus = child.visits > 0 ? this.movesLeftBonus(node, child, q) : 0;
      const score = fround(fround(fround(child.prior * exploration) / (1 + child.visits)) + fround(q + bonus));
      if (score > chosenScore) {
        chosen = child;
        chosenScore = score;
      }
    }
    if (chosen === null) throw new Error('No move to select');
    return chosen;
  }

  private movesLeftBonus(node: ReferenceNode, child: ReferenceNode, q: number): number {
    const { params } = this;
    if (!this.hasMovesLeft || Math.abs(node.wl) <= params.movesLeftThreshold) return 0;
    const cap = params.movesLeftMaxEffect;
    const raw = Math.min(cap, Math.max(-cap, params.movesLeftSlope * (child.m - node.m)));
    const size = Math.max(0, Math.abs(q) - params.movesLeftThreshold) / (1 - params.movesLeftThreshold);
    const weight =
      params.movesLeftConstantFactor +
      params.movesLeftScaledFactor * size +
      params.movesLeftQuadraticFactor * size * size;
    return (q < 0 ? raw : -raw) * weight;
  }

  private expand(path: readonly ReferenceNode[], answer: LeafAnswer): void {
    const leaf = path[path.length - 1];
    if (answer.kind === 'evaluated') {
      leaf.own = { wl: -answer.wl, d: answer.d, m: answer.m };
      leaf.children = answer.moves.map((move, i) => createNode(move, decodePrior(answer.priorCodes[i])));
      return;
    }
    const result = answer.kind === 'checkmate' ? 1 : answer.kind === 'tablebase' ? -Math.sign(answer.wl) : 0;
    leaf.terminal = answer.kind === 'tablebase' ? 'tablebase' : answer.kind === 'twoFold' ? 'twoFold' : 'end';
    leaf.wl = result + 0;
    leaf.d = result === 0 ? 1 : 0;
    leaf.m = answer.kind === 'twoFold' ? answer.m : 0;
    const parent = path[path.length - 2];
    if (answer.kind === 'tablebase' && parent !== undefined) leaf.m = Math.fround(Math.max(0, parent.m - 1));
    if (answer.kind !== 'twoFold') leaf.lower = leaf.upper = (result + 0) as -1 | 0 | 1;
    if (result === -1) leaf.prior = decodePrior(0);
  }

  /** @returns whether the move at the root has just been settled */
  private backUp(path: readonly ReferenceNode[]): boolean {
    const leaf = path[path.length - 1];
    let { wl, d, m } = leaf.own !== null && leaf.terminal === 'no' ? leaf.own : leaf;
    let spreads = this.params.stickyEndgames && leaf.terminal !== 'no' && leaf.visits === 0;
    let fix = { visits: 0, wl: 0, d: 0, m: 0 };
    let settledAtRoot = false;
    for (let level = path.length - 1; level >= 0; level--) {
      const node = path[level];
      if (node.terminal !== 'no') ({ wl, d, m } = node);
      const n = node.visits + 1;
      const fixes = node.terminal === 'no' ? fix.visits : 0;
      node.wl = node.wl + (wl - node.wl) / n + (fixes * fix.wl) / n;
      node.d = Math.fround(node.d + (d - node.d) / n + (fixes * fix.d) / n);
      node.m = Math.fround(node.m + (m - node.m) / n + (fixes * fix.m) / n);
      node.visits = n;
      if (level === 0) break;
      const parent = path[level - 1];
      if (level === 1) settledAtRoot = spreads && node.terminal !== 'no';
      if (parent.terminal !== 'no') fix = { ...fix, visits: 0 };
      spreads = spreads && level > 1 && parent.terminal === 'no';
      if (spreads) {
        const before = { visits: parent.visits, wl: parent.wl, d: parent.d, m: parent.m };
        spreads = this.settle(parent, m);
        if (spreads && parent.terminal !== 'no') {
          fix = { visits: before.visits, wl: before.wl - parent.wl, d: parent.d - before.d, m: parent.m - before.m };
        }
      }
      wl = -wl;
      fix = { ...fix, wl: -fix.wl };
      m += 1;
    }
    return settledAtRoot;
  }

  private settle(node: ReferenceNode, childM: number): boolean {
    const isTablebase = (child: ReferenceNode): boolean => child.terminal === 'tablebase';
    const lower = Math.max(...node.children.map((child) => child.lower)) as -1 | 0 | 1;
    const upper = Math.max(...node.children.map((child) => child.upper)) as -1 | 0 | 1;
    if (lower === -1 && upper === 1) return false;
    if (lower !== upper) {
      node.lower = -upper as -1 | 0 | 1;
      node.upper = -lower as -1 | 0 | 1;
      return true;
    }
    const hasMate = node.children.some((child) => child.lower === 1 && !isTablebase(child));
    const result = upper;
    const losses = node.children.filter((child) => child.upper === -1).map((child) => child.m);
    node.terminal = !hasMate && node.children.some(isTablebase) ? 'tablebase' : 'end';
    node.lower = node.upper = (0 - result) as -1 | 0 | 1;
    node.wl = 0 - result;
    node.d = result === 0 ? 1 : 0;
    node.m = Math.fround((result === -1 ? Math.max(childM, ...losses) : childM) + 1);
    if (node.wl === -1) node.prior = decodePrior(0);
    return true;
  }

  private revert(path: readonly ReferenceNode[], draw: ReferenceNode): void {
    const n = draw.visits;
    for (let level = path.length - 1; level >= 0; level--) {
      const node = path[level];
      const left = node.visits - n;
      const m = draw.m + path.length - level;
      node.visits = left;
      if (left <= 0) continue;
      node.wl += (n / left) * node.wl;
      node.d = Math.fround(node.d + (n / left) * (node.d - 1));
      node.m = Math.fround(node.m + (n / left) * (node.m - m));
    }
    Object.assign(draw, createNode(draw.move, draw.prior));
  }

  private findBest(blackToMove: boolean): ReferenceNode | null {
    const drawScore = this.drawScore(0, blackToMove);
    const rank = (child: ReferenceNode): number => {
      if (child.visits === 0 || child.terminal === 'no' || child.wl === 0) return 0;
      return Math.sign(child.wl) * (child.terminal === 'tablebase' ? 1 : 2);
    };
    const isBetter = (a: ReferenceNode, b: ReferenceNode): boolean => {
      const rankA = rank(a);
      if (rankA !== rank(b)) return rankA > rank(b);
      if (rankA > 0) return a.m < b.m;
      if (rankA < 0) return a.m > b.m;
      if (a.visits > 0 && b.visits > 0 && a.terminal !== 'no' && b.terminal !== 'no') {
        if ((a.terminal === 'tablebase') !== (b.terminal === 'tablebase')) return b.terminal === 'tablebase';
        return a.m < b.m;
      }
      if (a.visits !== b.visits) return a.visits > b.visits;
      const qA = a.wl + drawScore * a.d;
      const qB = b.wl + drawScore * b.d;
      return qA === qB ? a.prior > b.prior : qA > qB;
    };
    let best: ReferenceNode | null = null;
    for (const child of this.root.children) if (best === null || isBetter(child, best)) best = child;
    return best;
  }
}
