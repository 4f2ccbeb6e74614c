/**
 * PGN text → game trees of the page, with comments, glyphs and variations. What the page cannot show (commands in comments,
 * illegal moves and what follows them) stays with the tree, so that saving gives the file back. A page that shows no file yet
 * does without this code: it is fetched with the first game.
 */

import { failure, type Result, success, unwrap } from '../../base/util/index.js';
import {
  type PgnMoveNode,
  type PgnNode,
  type PgnText,
  type PgnTree,
  readPgnGame,
  splitPgn,
  walkLines,
} from '../../chess/pgn/index.js';
import { type Move, parseFen } from '../../chess/rules/index.js';
import { type Judgement, type MoveNode, MoveTree, restoreJudgements } from './move-tree.js';
import {
  COMMAND,
  type Describe,
  type ExportParts,
  formatTree,
  hideCommands,
  joinComments,
  writeComment,
  writeEvaluation,
} from './move-tree-text.js';
import { splitEngineNote } from './page-text.js';

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
