/**
 * The review of a game: what the engine thought of each position of the main line, and what follows for its moves. Positions
 * may come in any order; what is not known yet is simply missing.
 */

import {
  computeAccuracy,
  createRemarks,
  type JudgedPosition,
  type Remark,
  removeEvaluation,
} from '../../chess/pgn/index.js';
import { NO_MOVE, parseSan } from '../../chess/rules/index.js';
import type { ThoughtReply } from '../protocol/replies.js';
import { describeLine } from './board-moves.js';
import { findLineEnd, getPath, type MoveNode, type MoveTree } from './move-tree.js';
import { writeComment, writeEvaluation } from './move-tree-text.js';
import { formatScore, getExpectedPoints, getWhitePoints, isBlacksTurn } from './page-text.js';

/** Bad moves of one player, and percent of accuracy. */
export interface PlayerSummary {
  readonly accuracy: number | null;
  readonly inaccuracies: number;
  readonly mistakes: number;
  readonly blunders: number;
}

/** A bad move, and the engine's in its place with the points (0 to 1) that its player may expect. */
export interface Mistake {
  readonly played: MoveNode;
  readonly better: { readonly uci: string; readonly san: string; readonly points: number };
}

const LAST_MOVE_GLYPH = 6;
/** What a review, or lichess, says of a bad move. */
export const REMARK = /\b(Inaccuracy|Mistake|Blunder)\. (\S+) was best\./;
const REMARK_NAGS: Readonly<Record<string, number>> = { Inaccuracy: 6, Mistake: 2, Blunder: 4 };
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

  /** @param index of the node in `nodes`; @param network by its name */
  add(index: number, { best, state }: ThoughtReply, network = ''): void {
    const node = this.nodes[index];
    const line = state.lines[0];
    if (line === undefined) return;
    const pvSan = describeLine(this.tree.createPosition(node), line.pv).map(({ san }) => san);
    const { score, wdl } = line;
    node.judgement = {
      fen: node.fen,
      best,
      bestSan: pvSan[0] ?? null,
      score,
      wdl,
      lines: [{ pvSan }],
      network,
      nodes: state.nodes,
    };
  }

  /**
   * Writes evaluations, glyphs, words and better lines of the judged moves into the tree. What the author has written stays; what
   * an earlier review has written of a move gives way.
   */
  annotate(): void {
    for (const [index, node] of this.nodes.entries()) {
      if (node.judgement === null || node.parent === null) continue;
      this.removeRemark(node);
      const { nag, text, betterLine } = this.remark(index);
      if (nag !== 0 && !node.nags.some((known) => known >= 1 && known <= LAST_MOVE_GLYPH))
        node.nags = [...node.nags, nag];
      if (text !== '') node.comment = `${node.comment} ${text}`.trim();
      node.source.comment = `${writeEvaluation(node)} ${removeEvaluation(writeComment(node))}`.trim();
      this.addLine(node.parent, betterLine);
    }
  }

  /** What the review says of a move, as far as the tree does not say it: glyph (0 = none), words, and a better line. */
  remarkOn(node: MoveNode): Omit<Remark, 'evaluation'> {
    if (this.nodes[node.depth] !== node || node.parent === null) return NO_REMARK;
    const { nag, text, betterLine } = this.remark(node.depth);
    const isGlyphThere = node.nags.some((known) => known >= 1 && known <= LAST_MOVE_GLYPH);
    const isLineThere = node.parent.children.some(({ san }) => san === betterLine[0]);
    return {
      nag: isGlyphThere ? 0 : nag,
      text: node.comment.includes(text) ? '' : text,
      betterLine: isLineThere ? [] : betterLine,
    };
  }

  /** 6 = inaccuracy, 2 = mistake, 4 = blunder; 0 = none of them, or not known yet. @param node one of `nodes` */
  getNag({ depth }: MoveNode): number {
    return this.remark(depth).nag;
  }

  /** A player's bad moves for which the review knows a better one. */
  listMistakes(side: 'white' | 'black'): Mistake[] {
    return this.nodes.flatMap((played) => {
      const before = played.parent?.judgement;
      const isOwn = isBlacksTurn(played.fen) === (side === 'white');
      if (before?.best == null || !isOwn || played.move === NO_MOVE || this.getNag(played) === 0) return [];
      const { best, bestSan, wdl } = before;
      return [{ played, better: { uci: best, san: bestSan ?? best, points: getExpectedPoints(wdl) } }];
    });
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

  private judge(index: number): JudgedPosition | null {
    const judgement = this.nodes[index]?.judgement ?? null;
    return judgement === null ? null : { ...judgement, played: this.nodes[index + 1]?.uci ?? null };
  }

  private remark(index: number): Omit<Remark, 'evaluation'> {
    const [before, after] = [this.judge(index - 1), this.judge(index)];
    return before === null || after === null ? NO_REMARK : createRemarks([before, after])[0];
  }

  /** An author's line that begins alike stays as it is. */
  private addLine(from: MoveNode, sans: readonly string[]): void {
    if (from.children.some(({ san }) => san === sans[0])) return;
    let node = from;
    const position = this.tree.createPosition(from);
    for (const san of sans) {
      const move = parseSan(position, san);
      if (!move.ok) return;
      node = this.tree.append(node, move.value, position);
      position.makeMove(move.value);
    }
  }

  /** Takes an earlier review's words, glyph and better line away, if nobody has added anything to them. */
  private removeRemark(node: MoveNode): void {
    const [remark, word, best] = REMARK.exec(node.comment) ?? [];
    if (remark === undefined || node.parent === null) return;
    node.comment = node.comment.replace(remark, '').replace(/ {2,}/g, ' ').trim();
    node.nags = node.nags.filter((nag) => nag !== REMARK_NAGS[word]);
    const line = node.parent.children.find((child) => child !== node && child.san === best);
    if (line !== undefined && isBare(line)) this.tree.remove(line);
  }
}

/** A line without comments, glyphs and variations. */
function isBare(line: MoveNode): boolean {
  for (let node = line; ; node = node.children[0]) {
    if (writeComment(node) !== '' || node.nags.length > 0 || node.children.length > 1) return false;
    if (node.children.length === 0) return true;
  }
}

/** The evaluation of the position after a move, from White's view; '' while it is unknown. */
export function describeJudgement(node: MoveNode): string {
  return node.judgement === null ? '' : formatScore(node.judgement.score, isBlacksTurn(node.fen));
}
