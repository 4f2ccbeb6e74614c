/**
 * The review of a game: what the engine thought of each position of the main line, and what follows for its moves. Positions
 * may come in any order; what is not known yet is simply missing.
 */
import { parseSan } from '../../chess/index.js';
import {
  computeAccuracy,
  createRemarks,
  formatEvaluation,
  type GameAccuracy,
  type JudgedPosition,
  removeEvaluation,
} from '../../pgn/index.js';
import type { ThoughtReply } from '../protocol/replies.js';
import { describeLine } from './board-moves.js';
import { formatScore, getWhitePoints } from './board-text.js';
import type { MoveNode, MoveTree } from './move-tree.js';
import { formatTree, writeComment } from './move-tree-text.js';

/** Bad moves of one player, and percent of accuracy. */
export interface PlayerSummary {
  readonly accuracy: number | null;
  readonly inaccuracies: number;
  readonly mistakes: number;
  readonly blunders: number;
}

/** The engine's move, and the points (0 to 1) that its player may expect. */
export interface BetterMove {
  readonly uci: string;
  readonly san: string;
  readonly points: number;
}

const LAST_MOVE_GLYPH = 6;

export class GameReview {
  /** The main line from the start to the end of the game. */
  readonly nodes: readonly MoveNode[];
  private readonly judged: (JudgedPosition | null)[];
  /** White's expected points, 0 to 1; null where nothing is known. */
  private readonly points: (number | null)[];

  constructor(readonly tree: MoveTree) {
    const nodes = [tree.root];
    for (let node = tree.root; node.children.length > 0; node = node.children[0]) nodes.push(node.children[0]);
    this.nodes = nodes;
    this.judged = nodes.map(() => null);
    this.points = nodes.map(() => null);
  }

  /** White's expected points after each ply. */
  get whitePoints(): readonly (number | null)[] {
    return this.points;
  }

  /** @param index of the node in `nodes` */
  add(index: number, { best, state }: ThoughtReply): void {
    const node = this.nodes[index];
    const line = state.lines[0];
    if (line === undefined) return;
    const pvSan = describeLine(this.tree.createPosition(node), line.pv).map(({ san }) => san);
    const isBlack = isBlackToMove(node);
    this.judged[index] = {
      fen: node.fen,
      played: this.nodes[index + 1]?.uci ?? null,
      best,
      bestSan: pvSan[0] ?? null,
      score: line.score,
      wdl: line.wdl,
      lines: [{ pvSan }],
    };
    this.points[index] = getWhitePoints(line, isBlack);
  }

  /** The evaluation of the position after a move, from White's view; '' while it is unknown. */
  describeNode(node: MoveNode): string {
    const position = this.nodes[node.depth] === node ? this.judged[node.depth] : null;
    return position === null ? '' : formatScore(position.score, isBlackToMove(node));
  }

  /**
   * Writes glyphs, words and better lines of the judged moves into the tree. Glyphs and comments of the author stay; what is
   * there already is not added again.
   */
  annotate(): void {
    for (const [index, node] of this.nodes.entries()) {
      const [before, after] = [this.judged[index - 1], this.judged[index]];
      if (before == null || after === null) continue;
      const [{ nag, text, betterLine }] = createRemarks([before, after]);
      if (nag === 0) continue;
      if (!node.nags.some((known) => known >= 1 && known <= LAST_MOVE_GLYPH)) node.nags = [...node.nags, nag];
      if (!node.comment.includes(text)) node.comment = `${node.comment} ${text}`.trim();
      this.addLine(this.nodes[index - 1], betterLine);
    }
  }

  /** 6 = inaccuracy, 2 = mistake, 4 = blunder; 0 = none of them, or not known yet. @param node one of `nodes` */
  getNag({ depth }: MoveNode): number {
    const [before, after] = [this.judged[depth - 1], this.judged[depth]];
    return before == null || after === null ? 0 : createRemarks([before, after])[0].nag;
  }

  /** What was better than a bad move; null for other moves, and while the engine's move is not known. */
  getBetter(node: MoveNode): BetterMove | null {
    const before = this.judged[node.depth - 1];
    if (this.getNag(node) === 0 || before?.best == null) return null;
    const [win, draw] = before.wdl;
    return { uci: before.best, san: before.bestSan ?? before.best, points: (win + draw / 2) / 1000 };
  }

  summarise(side: 'white' | 'black'): PlayerSummary {
    const nags = this.nodes
      .filter((node) => node.depth > 0 && isBlackToMove(node) === (side === 'white'))
      .map((node) => this.getNag(node));
    const known = this.judged.slice(0, this.countKnown());
    const accuracy: GameAccuracy = computeAccuracy(known.filter((position) => position !== null));
    return {
      accuracy: accuracy[side],
      inaccuracies: nags.filter((nag) => nag === 6).length,
      mistakes: nags.filter((nag) => nag === 2).length,
      blunders: nags.filter((nag) => nag === 4).length,
    };
  }

  /** With evaluations as lichess writes them. */
  formatPgn(): string {
    return formatTree(this.tree, (node) => {
      const position = this.nodes[node.depth] === node ? this.judged[node.depth] : null;
      if (position === null) return writeComment(node);
      const evaluation = `[%eval ${formatEvaluation(position.score, isBlackToMove(node))}]`;
      return `${evaluation} ${removeEvaluation(writeComment(node))}`.trim();
    });
  }

  /** Positions from the start up to the first unknown one. */
  private countKnown(): number {
    const unknown = this.judged.indexOf(null);
    return unknown === -1 ? this.judged.length : unknown;
  }

  private addLine(from: MoveNode, sans: readonly string[]): void {
    let node = from;
    const position = this.tree.createPosition(from);
    for (const san of sans) {
      const move = parseSan(position, san);
      if (!move.ok) return;
      node = this.tree.add(node, move.value);
      position.makeMove(move.value);
    }
  }
}

function isBlackToMove({ fen }: MoveNode): boolean {
  return fen.split(' ')[1] === 'b';
}
