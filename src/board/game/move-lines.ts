/**
 * How the list of moves lays out variations, as lichess does: a line goes on as long as it has no fork. A single short alternative
 * stands in brackets; at any other fork the line ends, and each of its moves begins a line of its own, one step further in.
 */
import { REMARK } from './game-review.js';
import type { MoveNode } from './move-tree.js';
import { readCommentBefore } from './move-tree-text.js';

/** A piece of a line: a move with or without its number, a comment, or a bracket. */
export type LinePart =
  | { readonly node: MoveNode; readonly hasNumber: boolean }
  | { readonly comment: MoveNode; readonly isBefore: boolean }
  | '('
  | ')';

export interface MoveLine {
  /** Of the nesting, from 1. */
  readonly depth: number;
  readonly parts: readonly LinePart[];
  /** A review's better line, to which nobody has added anything. */
  readonly isComputer: boolean;
}

/** Plies of an alternative in brackets that have no fork. */
const BRACKET_PLIES = 6;

/** All variations of the move that a node goes on with. */
export function layOutVariations(parent: MoveNode): MoveLine[] {
  const lines: MoveLine[] = [];
  const best = REMARK.exec(parent.children[0]?.comment ?? '')?.[2];
  const rest = parent.children.slice(1).map((node) => ({ node, depth: 1 }));
  rest.reverse();
  for (let next = rest.pop(); next !== undefined; next = rest.pop()) {
    const { node, depth } = next;
    if (readCommentBefore(node) !== '')
      lines.push({ depth, parts: [{ comment: node, isBefore: true }], isComputer: false });
    const { parts, forks } = layOutLine(node);
    const isBare = forks.length === 0 && parts.every((part) => typeof part === 'object' && 'node' in part);
    lines.push({ depth, parts, isComputer: isBare && depth === 1 && node.san === best });
    for (const fork of forks.toReversed()) rest.push({ node: fork, depth: depth + 1 });
  }
  return lines;
}

/** What is still to be written, the next last. */
type Step = { readonly node: MoveNode; readonly isShown: boolean } | '(' | ')';

/** @returns `forks`: the moves that begin a line each, where the line ends at a fork */
function layOutLine(start: MoveNode): { readonly parts: LinePart[]; readonly forks: readonly MoveNode[] } {
  const parts: LinePart[] = [];
  const steps: Step[] = [{ node: start, isShown: false }];
  let brackets = 0;
  for (let step = steps.pop(); step !== undefined; step = steps.pop()) {
    if (typeof step === 'string') {
      brackets += step === '(' ? 1 : -1;
      parts.push(step);
      continue;
    }
    const { node, isShown } = step;
    if (!isShown) addMove(parts, node, node !== start);
    const [next, ...others] = node.children;
    if (next === undefined) continue;
    if (others.length === 0) {
      steps.push({ node: next, isShown: false });
      continue;
    }
    if (brackets === 0 && (others.length > 1 || !isShort(others[0]))) return { parts, forks: node.children };
    addMove(parts, next, true);
    steps.push({ node: next, isShown: true });
    for (const other of others.toReversed()) steps.push(')', { node: other, isShown: false }, '(');
  }
  return { parts, forks: [] };
}

function addMove(parts: LinePart[], node: MoveNode, showsBefore: boolean): void {
  if (showsBefore && readCommentBefore(node) !== '') parts.push({ comment: node, isBefore: true });
  const last = parts.at(-1);
  const isBehindMove = typeof last === 'object' && 'node' in last;
  parts.push({ node, hasNumber: !isBehindMove || node.gamePly % 2 === 1 });
  if (node.comment !== '') parts.push({ comment: node, isBefore: false });
}

function isShort(line: MoveNode): boolean {
  let node: MoveNode | undefined = line;
  if (readCommentBefore(line) !== '') return false;
  for (let plies = 0; plies < BRACKET_PLIES && node !== undefined; plies++) {
    if (node.children.length > 1) return false;
    [node] = node.children;
  }
  return true;
}
