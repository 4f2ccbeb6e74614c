/** PGN text ↔ game trees of the page, with comments, glyphs and variations. */
import { parseSan, START_FEN } from '../../chess/index.js';
import {
  formatPgn,
  PgnMoveNode,
  PgnNode,
  type PgnNodeData,
  type PgnTree,
  readPgnGame,
  splitPgn,
} from '../../pgn/index.js';
import { failure, type Result, success } from '../../util/index.js';
import { type MoveNode, MoveTree } from './move-tree.js';

export interface ReadGame {
  readonly tree: MoveTree;
  /** Why the moves end before those of the text do; null when all could be read. */
  readonly problem: string | null;
}

/** The games of a text; those that cannot be read are left out. The error is the sentence for the user. */
export function parseGames(text: string): Result<ReadGame[]> {
  const games: ReadGame[] = [];
  let problem = 'There is no game in this text';
  for (const source of splitPgn(text)) {
    const game = readPgnGame(source);
    if (!game.ok) {
      problem = `Game ${source.number} cannot be read: ${game.error}`;
      continue;
    }
    const tree = MoveTree.create(game.value.startFen, game.value.tags);
    if (!tree.ok) continue;
    tree.value.root.comment = joinComments(game.value.tree.comments);
    readMoves(tree.value, game.value.tree);
    games.push({ tree: tree.value, problem: game.value.problem });
  }
  return games.length === 0 ? failure(problem) : success(games);
}

/** Moves that are not legal end their line. */
function readMoves(tree: MoveTree, source: PgnTree): void {
  const stack: (readonly [MoveNode, PgnNode<PgnNodeData>])[] = [[tree.root, source.moves]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [parent, written] = next;
    const position = tree.createPosition(parent);
    for (const child of written.children) {
      const { san, comments, startingComments, nags } = child.data;
      const move = parseSan(position, san);
      if (!move.ok) continue;
      const node = tree.add(parent, move.value);
      node.comment = joinComments([...(startingComments ?? []), ...(comments ?? [])]);
      node.nags = [...(nags ?? [])];
      stack.push([node, child]);
    }
  }
}

/** Commands in comments ([%eval …], [%clk …], arrows) are not for reading. */
function joinComments(comments: readonly string[] | undefined): string {
  return (comments ?? [])
    .map((comment) => comment.replace(/\[%\w+ [^\]]*\]/g, '').trim())
    .filter((comment) => comment !== '')
    .join(' ');
}

const DEMANDED_TAGS = [
  ['Event', '?'],
  ['Site', '?'],
  ['Date', '????.??.??'],
  ['Round', '?'],
  ['White', '?'],
  ['Black', '?'],
  ['Result', '*'],
] as const;

const LINE_WIDTH = 80;

/** @param describe what to write after a move; the node's own comment when left out */
export function formatGame(tree: MoveTree, describe: (node: MoveNode) => string = (node) => node.comment): string {
  const headers = new Map<string, string>();
  for (const [name, value] of DEMANDED_TAGS) headers.set(name, tree.headers.get(name) ?? value);
  for (const [name, value] of tree.headers) headers.set(name, value);
  if (tree.startFen !== START_FEN) {
    headers.set('SetUp', '1').set('FEN', tree.startFen);
    if (tree.isChess960) headers.set('Variant', 'Chess960');
  }
  const moves = new PgnNode<PgnNodeData>();
  writeMoves(tree.root, moves, describe);
  const comments = tree.root.comment === '' ? {} : { comments: [tree.root.comment] };
  return formatPgn({ headers, moves, ...comments }, { lineWidth: LINE_WIDTH });
}

function writeMoves(from: MoveNode, to: PgnNode<PgnNodeData>, describe: (node: MoveNode) => string): void {
  const stack: (readonly [MoveNode, PgnNode<PgnNodeData>])[] = [[from, to]];
  for (let next = stack.pop(); next !== undefined; next = stack.pop()) {
    const [source, target] = next;
    for (const child of source.children) {
      const text = describe(child);
      const written = new PgnMoveNode<PgnNodeData>({
        san: child.san,
        ...(text === '' ? {} : { comments: [text] }),
        ...(child.nags.length === 0 ? {} : { nags: child.nags }),
      });
      target.children.push(written);
      stack.push([child, written]);
    }
  }
}
