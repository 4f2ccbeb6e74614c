/**
 * Adds remarks to the main line of a game, in the form of the games that lichess.org exports. A remark replaces an older
 * `[%eval …]`; all other comments stay. Adding the same remarks twice changes nothing.
 */

import { unwrap } from '../../base/util/index.js';
import { formatFen, formatSan, hasChess960Castling, NO_MOVE, parseFen } from '../rules/index.js';
import { type PgnGame, walkLines } from './pgn-game.js';
import { type PgnMoveNode, PgnNode, type PgnNodeData, type PgnTree } from './pgn-node.js';
import { type Remark, removeEvaluation } from './remarks.js';
import { readVariant } from './variant.js';

/** Glyphs up to this one judge a move (! ? !! ?? !? ?!); a move has one of them at most. */
const LAST_MOVE_GLYPH = 6;

/**
 * A copy of the game's tree with its moves in standard SAN.
 * @param remarks on the first moves, as many as there are
 */
export function annotateGame(game: PgnGame, remarks: readonly Remark[] = []): PgnTree {
  const tree = spellTree(game);
  let before: PgnNode = tree.moves;
  for (const remark of remarks.slice(0, game.moves.length)) {
    const [played, ...variations] = before.children;
    played.data = annotateMove(played.data, remark);
    before.children = [played, ...variations, ...createVariation(remark.betterLine, variations)];
    before = played;
  }
  return tree;
}

function annotateMove(data: PgnNodeData, { evaluation, nag, text }: Remark): PgnNodeData {
  const nags = data.nags ?? [];
  const isJudged = [...(data.startingNags ?? []), ...nags].some((known) => known >= 1 && known <= LAST_MOVE_GLYPH);
  const comments = (data.comments ?? []).map(removeEvaluation).filter((comment) => comment !== '');
  if (text !== '' && !comments.some((comment) => comment.includes(text))) comments.push(text);
  return {
    ...data,
    nags: nag === 0 || isJudged ? nags : [...nags, nag],
    comments: addEvaluation(comments, `[%eval ${evaluation}]`),
  };
}

/** The tree with its FEN and all moves in standard form, variations too. Lines keep their spelling from an illegal move on. */
function spellTree({ tree, startFen }: PgnGame): PgnTree {
  const moves = new PgnNode();
  const start = unwrap(parseFen(startFen));
  const headers = new Map(tree.headers);
  if (headers.get('FEN')) headers.set('SetUp', '1').set('FEN', formatFen(start));
  const variant = readVariant(headers);
  if (hasChess960Castling(start) && !(variant.ok && variant.value)) headers.set('Variant', 'Chess960');
  walkLines(tree.moves, start, moves, (parent, node, move, position) => {
    const san = move === null ? node.data.san : move === NO_MOVE ? '--' : formatSan(position, move);
    const copy = parent.add({ ...node.data, san });
    if (move === null) copy.children = node.children;
    return copy;
  });
  return { ...tree, headers, moves };
}

/** Puts the command before the first other one, such as `[%clk …]`; if there is none, into a comment of its own. */
function addEvaluation(comments: readonly string[], command: string): string[] {
  const index = comments.findIndex((comment) => comment.includes('[%'));
  if (index < 0) return [...comments, command];
  return comments.with(index, comments[index].replace('[%', `${command} [%`));
}

/** The better line as a variation; none when the author has a variation that begins with the same move. */
function createVariation(line: readonly string[], variations: readonly PgnMoveNode[]): PgnMoveNode[] {
  const [first = ''] = line;
  if (variations.some(({ data }) => data.san === first)) return [];
  const start = new PgnNode();
  let end = start;
  for (const san of line) end = end.add({ san });
  return start.children;
}
