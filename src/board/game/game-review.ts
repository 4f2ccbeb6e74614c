/**
 * The review of a game: what the engine thought of each position of the main line, and what follows for its moves. Positions
 * may come in any order; what is not known yet is simply missing.
 */

import {
  computeAccuracy,
  createRemarks,
  formatEvaluation,
  type JudgedPosition,
  type Remark,
  removeEvaluation,
} from '../../chess/pgn/index.js';
import { parseSan } from '../../chess/rules/index.js';
import type { ThoughtReply } from '../protocol/replies.js';
import { describeLine } from './board-moves.js';
import { findLineEnd, getPath, type MoveNode, type MoveTree } from './move-tree.js';
import { formatTree, writeComment } from './move-tree-text.js';
import { formatScore, getExpectedPoints, getWhitePoints, isBlacksTurn } from './page-text.js';

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
const NO_REMARK = { nag: 0, text: '', betterLine: [] };

export class GameReview {
  /** The main line from the start to the end of the game. */
  readonly nodes: readonly MoveNode[];

  constructor(readonly tree: MoveTree) {
    this.nodes = getPath(findLineEnd(tree.root));
  }

  get isBegun(): boolean {
    return this.nodes.some(({ judgement }) => judgement !== null);
  }

  /** White's expected points after each ply, 0 to 1; null where nothing is known. */
  get whitePoints(): readonly (number | null)[] {
    return this.nodes.map((node) =>
      node.judgement === null ? null : getWhitePoints(node.judgement, isBlacksTurn(node.fen)),
    );
  }

  /** @param index of the node in `nodes` */
  add(index: number, { best, state }: ThoughtReply): void {
    const node = this.nodes[index];
    const line = state.lines[0];
    if (line === undefined) return;
    const pvSan = describeLine(this.tree.createPosition(node), line.pv).map(({ san }) => san);
    const { score, wdl } = line;
    node.judgement = { fen: node.fen, best, bestSan: pvSan[0] ?? null, score, wdl, lines: [{ pvSan }] };
  }

  /**
   * Writes glyphs, words and better lines of the judged moves into the tree. Glyphs and comments of the author stay; what is
   * there already is not added again.
   */
  annotate(): void {
    for (const [index, node] of this.nodes.entries()) {
      const { nag, text, betterLine } = this.remark(index);
      if (nag === 0) continue;
      if (!node.nags.some((known) => known >= 1 && known <= LAST_MOVE_GLYPH)) node.nags = [...node.nags, nag];
      if (!node.comment.includes(text)) node.comment = `${node.comment} ${text}`.trim();
      this.addLine(this.nodes[index - 1], betterLine);
    }
  }

  /** 6 = inaccuracy, 2 = mistake, 4 = blunder; 0 = none of them, or not known yet. @param node one of `nodes` */
  getNag({ depth }: MoveNode): number {
    return this.remark(depth).nag;
  }

  /** What was better than a bad move; null for other moves, and while the engine's move is not known. */
  getBetter(node: MoveNode): BetterMove | null {
    const before = node.parent?.judgement;
    if (this.getNag(node) === 0 || before?.best == null) return null;
    return { uci: before.best, san: before.bestSan ?? before.best, points: getExpectedPoints(before.wdl) };
  }

  summarise(side: 'white' | 'black'): PlayerSummary {
    const nags = this.nodes
      .filter((node) => node.depth > 0 && isBlacksTurn(node.fen) === (side === 'white'))
      .map((node) => this.getNag(node));
    // From the start up to the first position that nobody has judged.
    const judged = this.nodes.map((_, index) => this.judge(index));
    const unknown = judged.indexOf(null);
    const known = judged.slice(0, unknown === -1 ? judged.length : unknown).filter((position) => position !== null);
    return {
      accuracy: computeAccuracy(known)[side],
      inaccuracies: nags.filter((nag) => nag === 6).length,
      mistakes: nags.filter((nag) => nag === 2).length,
      blunders: nags.filter((nag) => nag === 4).length,
    };
  }

  /** With evaluations as lichess writes them. */
  formatPgn(): string {
    return formatTree(this.tree, (node) => {
      const { judgement } = node;
      if (judgement === null) return writeComment(node);
      const evaluation = `[%eval ${formatEvaluation(judgement.score, isBlacksTurn(node.fen))}]`;
      return `${evaluation} ${removeEvaluation(writeComment(node))}`.trim();
    });
  }

  private judge(index: number): JudgedPosition | null {
    const judgement = this.nodes[index]?.judgement ?? null;
    return judgement === null ? null : { ...judgement, played: this.nodes[index + 1]?.uci ?? null };
  }

  private remark(index: number): Omit<Remark, 'evaluation'> {
    const [before, after] = [this.judge(index - 1), this.judge(index)];
    return before === null || after === null ? NO_REMARK : createRemarks([before, after])[0];
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

/** The evaluation of the position after a move, from White's view; '' while it is unknown. */
export function describeJudgement(node: MoveNode): string {
  return node.judgement === null ? '' : formatScore(node.judgement.score, isBlacksTurn(node.fen));
}
