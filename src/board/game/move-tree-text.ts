/** Game trees of the page → PGN text, and what comments hold: commands, drawings, clocks, evaluations. */

import { DEMANDED_TAGS, formatEvaluation, formatPgn, PgnMoveNode, PgnNode } from '../../chess/pgn/index.js';
import { START_FEN } from '../../chess/rules/index.js';
import type { Line, ScoreText } from '../protocol/replies.js';
import type { Judgement, MoveNode, MoveTree } from './move-tree.js';
import { formatCount, formatScore, isBlacksTurn, splitEngineNote } from './page-text.js';

export function joinComments(comments: readonly string[] = []): string {
  return [...new Set(comments)].filter((comment) => comment !== '').join(' ');
}

/** Such as [%eval 0.3], [%clk 0:01:00] and arrows. */
export const COMMAND = /\[%\w+ [^\][]*\]/g;

export function hideCommands(comment: string): string {
  return comment.includes('[%') ? comment.replace(COMMAND, '').replace(/ {2,}/g, ' ').trim() : comment.trim();
}

/** The comment on a move as a file has it: as it was read, or after an edit its commands and the new text. */
export function writeComment({ comment, source }: MoveNode): string {
  if (hideCommands(source.comment) === comment) return source.comment;
  return joinComments([...(source.comment.match(COMMAND) ?? []), comment]);
}

/** The comment that stands before the first move of a line, without commands. */
export function readCommentBefore({ source }: MoveNode): string {
  return hideCommands(source.commentBefore);
}

export function writeCommentBefore({ source }: MoveNode, text: string): void {
  source.commentBefore = joinComments([...(source.commentBefore.match(COMMAND) ?? []), text]);
}

/** An arrow, or a circle without `dest`. */
export interface Drawing {
  readonly orig: string;
  readonly dest?: string;
  readonly brush: 'green' | 'red' | 'blue' | 'yellow';
}

const DRAWING = /\[%c[as]l ([^\][]*)\]/g;
const BRUSHES = { G: 'green', R: 'red', B: 'blue', Y: 'yellow' } as const;

/** The arrows and circles on a move: [%cal Ge2e4] and [%csl Rd5], as lichess and ChessBase write them. */
export function readDrawings({ source }: MoveNode): Drawing[] {
  const items = [...source.comment.matchAll(DRAWING)].flatMap(([, list]) => list.split(','));
  return items.flatMap((item) => {
    const [, brush, orig, dest] = /^\s*([GRBY])([a-h][1-8])([a-h][1-8])?\s*$/.exec(item) ?? [];
    if (orig === undefined) return [];
    return [{ orig, brush: BRUSHES[brush as keyof typeof BRUSHES], ...(dest === undefined ? {} : { dest }) }];
  });
}

/** Replaces the arrows and circles on a move. */
export function writeDrawings(node: MoveNode, drawings: readonly Drawing[]): void {
  const write = (command: string, isArrow: boolean): string => {
    const items = drawings.filter(({ dest }) => (dest !== undefined) === isArrow);
    const list = items.map(({ brush, orig, dest = '' }) => brush[0].toUpperCase() + orig + dest).join(',');
    return list === '' ? '' : `[%${command} ${list}]`;
  };
  const others =
    writeComment(node)
      .match(COMMAND)
      ?.filter((command) => !/^\[%c[as]l /.test(command)) ?? [];
  node.source.comment = joinComments([...others, write('csl', false), write('cal', true), node.comment]);
}

/** "1:30" of [%clk 0:01:30]; '' = none. */
export function readClock({ source }: MoveNode): string {
  const clock = /\[%clk ([\d:.]+)\]/.exec(source.comment)?.[1] ?? '';
  // As the clocks of a running game: no hours where there are none.
  return clock.replace(/^0+:(?=\d+:)/, '').replace(/^0(?=\d:)/, '');
}

/** What the live engine has found out about a position. */
export interface EngineThought {
  readonly line: Pick<Line, 'score'>;
  readonly nodes: number;
  readonly network: string;
}

/**
 * The evaluation of the position after a move, from White's view, and where it is from: the review's, the file's, a program's own
 * note, or the live engine's, which comes before the review's where the same network has looked longer. Null = nobody has said any.
 */
export function readEvaluation(
  node: MoveNode,
  hasReview: boolean,
  live: EngineThought | null,
): { readonly text: string; readonly source: string } | null {
  const { comment, source, fen } = node;
  const isBlack = isBlacksTurn(fen);
  const judgement = hasReview ? node.judgement : null;
  const said = live === null ? null : { text: formatScore(live.line.score, isBlack), source: describeLive(live) };
  if (judgement !== null && live !== null && isDeeper(live, judgement)) return said;
  if (judgement !== null) return { text: formatScore(judgement.score, isBlack), source: 'Evaluation of the review' };
  const [, mate, value] = /\[%eval (#?)([-+]?[\d.]+)/.exec(source.comment) ?? [];
  if (value !== undefined) {
    const score = mate === '#' ? { kind: 'mate', value: Number(value) } : { kind: 'cp', value: 100 * Number(value) };
    return { text: formatScore(score as ScoreText, false), source: 'Evaluation in the file' };
  }
  // The program's view is that of the player who has moved.
  const { note } = splitEngineNote(comment, !isBlack);
  return note === '' ? said : { text: note, source: 'The program’s own note' };
}

function isDeeper(live: EngineThought, { network, nodes = 0 }: Judgement): boolean {
  return live.network === network && live.nodes > nodes;
}

function describeLive({ network, nodes }: EngineThought): string {
  return `Live engine: ${network}, ${formatCount(nodes)} visits`;
}

const LINE_WIDTH = 80;

/** What to write after a move (at the root before all of them), or before the first move of a line. */
export type Describe = (node: MoveNode, isBefore: boolean) => string;

const describeAsRead: Describe = (node, isBefore) => (isBefore ? node.source.commentBefore : writeComment(node));

export function formatTree(tree: MoveTree, describe = describeAsRead, hasVariations = true): string {
  const headers = new Map(DEMANDED_TAGS);
  for (const [name, value] of tree.headers) headers.set(name, value);
  if (tree.startFen !== START_FEN) {
    headers.set('SetUp', '1').set('FEN', tree.startFen);
    if (tree.isChess960) headers.set('Variant', 'Chess960');
  }
  const moves = new PgnNode();
  writeMoves(tree.root, moves, describe, hasVariations);
  const comment = describe(tree.root, false);
  const comments = comment === '' ? {} : { comments: [comment] };
  return formatPgn({ headers, moves, ...comments }, { lineWidth: LINE_WIDTH });
}

function writeMoves(from: MoveNode, to: PgnNode, describe: Describe, hasVariations: boolean): void {
  const stack: (readonly [MoveNode, PgnNode])[] = [[from, to]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [source, target] = next;
    for (const child of hasVariations ? source.children : source.children.slice(0, 1)) {
      const [before, text] = [describe(child, true), describe(child, false)];
      const [ahead, nags] = [true, false].map((isBefore) =>
        child.nags.filter((nag) => child.source.nagsBefore.includes(nag) === isBefore),
      );
      const written = new PgnMoveNode({
        san: child.san,
        ...(before === '' ? {} : { startingComments: [before] }),
        ...(text === '' ? {} : { comments: [text] }),
        ...(ahead.length === 0 ? {} : { startingNags: ahead }),
        ...(nags.length === 0 ? {} : { nags }),
      });
      target.children.push(written);
      stack.push([child, written]);
    }
    const { unread, isMainUnread } = source.source;
    target.children.push(...unread.slice(0, hasVariations ? undefined : Number(isMainUnread)));
  }
}

/** Parts of a game that a person may leave out of what is saved. */
export const EXPORT_PARTS = {
  comments: 'Comments',
  variations: 'Variations',
  evaluations: 'Evaluations',
  clocks: 'Clocks',
} as const;
export type ExportParts = Readonly<Record<keyof typeof EXPORT_PARTS, boolean>>;

/** `[%eval 0.31]` after a move that a review has judged; '' for others. */
export function writeEvaluation({ judgement, parent, fen }: MoveNode): string {
  if (judgement === null || parent === null) return '';
  return `[%eval ${formatEvaluation(judgement.score, isBlacksTurn(fen))}]`;
}
