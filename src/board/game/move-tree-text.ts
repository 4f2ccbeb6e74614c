/**
 * PGN text ↔ game trees of the page, with comments, glyphs and variations. What the page cannot show (commands in comments,
 * illegal moves and what follows them) stays with the tree, so that saving gives the file back.
 */

import { failure, type Result, success, unwrap } from '../../base/util/index.js';
import {
  DEMANDED_TAGS,
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
import { type MoveNode, MoveTree } from './move-tree.js';

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

/** "0:01:30" of [%clk 0:01:30]; '' = none. */
export function readClock({ source }: MoveNode): string {
  const clock = /\[%clk ([\d:.]+)\]/.exec(source.comment)?.[1] ?? '';
  // As the clocks of a running game: no hours where there are none.
  return clock.replace(/^0+:(?=\d+:)/, '').replace(/^0(?=\d:)/, '');
}

const LINE_WIDTH = 80;

/** @param describe what to write after a move; the node's own comment when left out */
export function formatTree(tree: MoveTree, describe: (node: MoveNode) => string = writeComment): string {
  const headers = new Map(DEMANDED_TAGS);
  for (const [name, value] of tree.headers) headers.set(name, value);
  if (tree.startFen !== START_FEN) {
    headers.set('SetUp', '1').set('FEN', tree.startFen);
    if (tree.isChess960) headers.set('Variant', 'Chess960');
  }
  const moves = new PgnNode();
  writeMoves(tree.root, moves, describe);
  const comment = writeComment(tree.root);
  const comments = comment === '' ? {} : { comments: [comment] };
  return formatPgn({ headers, moves, ...comments }, { lineWidth: LINE_WIDTH });
}

function writeMoves(from: MoveNode, to: PgnNode, describe: (node: MoveNode) => string): void {
  const stack: (readonly [MoveNode, PgnNode])[] = [[from, to]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [source, target] = next;
    for (const child of source.children) {
      const text = describe(child);
      const { commentBefore: before, nagsBefore } = child.source;
      const [ahead, nags] = [true, false].map((isBefore) =>
        child.nags.filter((nag) => nagsBefore.includes(nag) === isBefore),
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
    target.children = target.children.concat(source.source.unread);
  }
}
