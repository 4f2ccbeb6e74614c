/**
 * PGN text ↔ game trees of the page, with comments, glyphs and variations. What the page cannot show (commands in comments,
 * illegal moves and what follows them) stays with the tree, so that saving gives the file back.
 */

import { failure, type Result, success, unwrap } from '../../base/util/index.js';
import {
  DEMANDED_TAGS,
  formatEvaluation,
  formatPgn,
  PgnMoveNode,
  PgnNode,
  type PgnText,
  type PgnTree,
  readPgnGame,
  splitPgn,
  walkLines,
} from '../../chess/pgn/index.js';
import { type Move, parseFen, START_FEN } from '../../chess/rules/index.js';
import type { Line, ScoreText } from '../protocol/replies.js';
import { type Judgement, type MoveNode, MoveTree, restoreJudgements } from './move-tree.js';
import { formatCount, formatScore, isBlacksTurn, splitEngineNote } from './page-text.js';

interface ReadTree {
  readonly tree: MoveTree;
  /** Which of the text's moves cannot be shown, in one sentence; null when all can. */
  readonly problem: string | null;
}

/** The first game of a text. The error is the sentence for the user. */
export function parseTree(text: string): Result<ReadTree> {
  const [source] = splitPgn(text);
  return source === undefined ? failure('There is no game in this text') : readGame(source);
}

/** The error is the sentence for the user. */
function readGame(source: PgnText): Result<ReadTree> {
  const game = readPgnGame(source);
  if (!game.ok) return failure(`Game ${source.number} cannot be read: ${game.error}`);
  const tree = MoveTree.create(game.value.startFen, game.value.tags);
  if (!tree.ok) return tree;
  const unread = readMoves(tree.value, game.value.tree);
  const { notes, problem } = game.value;
  const said = [...notes, problem ?? describeUnread(unread)].filter((sentence) => sentence !== null);
  return success({ tree: tree.value, problem: said.length === 0 ? null : said.join('; ') });
}

function describeUnread(count: number): string | null {
  if (count === 0) return null;
  const variations = count === 1 ? 'A variation begins' : `${count} variations begin`;
  return `${variations} with an illegal move: saved with the game, but not shown`;
}

/** @returns how many lines begin with an illegal move */
function readMoves(tree: MoveTree, source: PgnTree): number {
  let unread = 0;
  tree.root.source.comment = joinComments(source.comments);
  tree.root.comment = hideCommands(tree.root.source.comment);
  const mainLine = new Set<MoveNode>([tree.root]);
  const main = new Set<PgnNode>([source.moves]);
  for (let node: PgnNode = source.moves; node.children.length > 0; node = node.children[0]) main.add(node.children[0]);
  walkLines(source.moves, unwrap(parseFen(tree.startFen)), tree.root, (parent, written, move, position) => {
    const isMain = main.has(written);
    // Where the main line cannot be shown, a variation would be taken for it.
    if (move === null || parent.source.isMainUnread) {
      unread++;
      parent.source.isMainUnread ||= parent.children.length === 0 && parent.source.unread.length === 0;
      parent.source.unread.push(written);
      return null;
    }
    const known = isMain ? undefined : findSame(parent, move, mainLine, written);
    const node = known ?? tree.append(parent, move, position);
    if (isMain) mainLine.add(node);
    addRemarks(node, written, known !== undefined);
    return node;
  });
  return unread;
}

/** Two lines that begin alike are one, unless the main line would grow by the variation's moves. */
function findSame(
  parent: MoveNode,
  move: Move,
  mainLine: ReadonlySet<MoveNode>,
  written: PgnMoveNode,
): MoveNode | undefined {
  const same = parent.children.find((child) => child.move === move);
  const isEnd = same !== undefined && same.children.length === 0 && mainLine.has(same);
  return isEnd && written.children.length > 0 ? undefined : same;
}

function addRemarks(node: MoveNode, { data }: PgnMoveNode, isKnown: boolean): void {
  const { startingComments = [], startingNags = [], comments = [], nags = [] } = data;
  const { source } = node;
  if (!isKnown) {
    source.commentBefore = joinComments(startingComments);
    source.nagsBefore = startingNags;
  }
  source.comment = joinComments([source.comment, ...(isKnown ? startingComments : []), ...comments]);
  node.comment = hideCommands(source.comment);
  node.nags = [...new Set([...node.nags, ...startingNags, ...nags])];
}

function joinComments(comments: readonly string[] = []): string {
  return [...new Set(comments)].filter((comment) => comment !== '').join(' ');
}

/** Such as [%eval 0.3], [%clk 0:01:00] and arrows. */
const COMMAND = /\[%\w+ [^\][]*\]/g;

function hideCommands(comment: string): string {
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
interface LiveThought {
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
  live: LiveThought | null,
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

function isDeeper(live: LiveThought, { network, nodes = 0 }: Judgement): boolean {
  return live.network === network && live.nodes > nodes;
}

function describeLive({ network, nodes }: LiveThought): string {
  return `Live engine: ${network}, ${formatCount(nodes)} visits`;
}

const LINE_WIDTH = 80;

/** What to write after a move (at the root before all of them), or before the first move of a line. */
type Describe = (node: MoveNode, isBefore: boolean) => string;

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

const EVALUATION = /^\[%eval /;
const CLOCK = /^\[%(?:clk|emt|egt|mct) /;

/**
 * A game as a file has it, with the evaluations of its review as lichess writes them. A text from which nothing is left out and
 * to which nothing is added stays as it is.
 */
export function exportPgn(text: string, judgements: readonly Judgement[], parts: ExportParts): string {
  const isWhole = Object.values(parts).every((isWanted) => isWanted);
  const game = isWhole && judgements.length === 0 ? null : parseTree(text);
  if (game?.ok !== true) return text;
  const { tree } = game.value;
  restoreJudgements(tree, judgements);
  const choose = (written: string, evaluation: string): string => {
    const commands = (written.match(COMMAND) ?? []).filter((command) => {
      if (EVALUATION.test(command)) return parts.evaluations && evaluation === '';
      return CLOCK.test(command) ? parts.clocks : parts.comments;
    });
    const words = hideCommands(written);
    const isWanted = splitEngineNote(words).note === '' ? parts.comments : parts.evaluations;
    return joinComments([parts.evaluations ? evaluation : '', ...commands, isWanted ? words : '']);
  };
  const describe: Describe = (node, isBefore) =>
    isBefore ? choose(node.source.commentBefore, '') : choose(writeComment(node), writeEvaluation(node));
  return formatTree(tree, describe, parts.variations);
}

/** `[%eval 0.31]` after a move that a review has judged; '' for others. */
export function writeEvaluation({ judgement, parent, fen }: MoveNode): string {
  if (judgement === null || parent === null) return '';
  return `[%eval ${formatEvaluation(judgement.score, isBlacksTurn(fen))}]`;
}
