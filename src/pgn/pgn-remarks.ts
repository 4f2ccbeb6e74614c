/**
 * Adds an engine's remarks to the main line of a game, in the form of the games that lichess.org exports. A remark
 * replaces an older `[%eval …]`; all other comments stay. Adding the same remarks twice changes nothing.
 */
import { type PgnGame, spellTree } from './pgn-game.js';
import { PgnMoveNode, type PgnNode, type PgnNodeData, type PgnTree } from './pgn-tree.js';

export interface Remark {
  /** As in `[%eval …]`: pawns from White's view, or `#n` for mate in n. */
  readonly evaluation: string;
  /** Numeric annotation glyph (PGN standard 8.2.4), 0 = none. */
  readonly nag: number;
  /** Comment on the move; may be empty. */
  readonly text: string;
  /** The better line in SAN; may be empty. */
  readonly betterLine: readonly string[];
}

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
  const isJudged = nags.some((known) => known >= 1 && known <= LAST_MOVE_GLYPH);
  const comments = (data.comments ?? []).map(removeEvaluation).filter((comment) => comment !== '');
  if (text !== '' && !comments.some((comment) => comment.includes(text))) comments.push(text);
  return {
    ...data,
    nags: nag === 0 || isJudged ? nags : [...nags, nag],
    comments: addEvaluation(comments, `[%eval ${evaluation}]`),
  };
}

/** A comment without its `[%eval …]`. */
export function removeEvaluation(comment: string): string {
  const rest = comment.replace(/\[%eval\s[^\][]*\] ?/g, '');
  return rest === comment ? comment : rest.trim();
}

/** Puts the command before the first other one, such as `[%clk …]`; if there is none, into a comment of its own. */
function addEvaluation(comments: readonly string[], command: string): string[] {
  const index = comments.findIndex((comment) => comment.includes('[%'));
  if (index < 0) return [...comments, command];
  return comments.with(index, comments[index].replace('[%', `${command} [%`));
}

/** The better line as a variation; none when the author has a variation that begins with the same move. */
function createVariation(line: readonly string[], variations: readonly PgnMoveNode[]): PgnMoveNode[] {
  const [first, ...others] = line;
  if (first === undefined || variations.some(({ data }) => isSameMove(data.san, first))) return [];
  const start = new PgnMoveNode({ san: first });
  let end = start;
  for (const san of others) {
    const next = new PgnMoveNode({ san });
    end.children.push(next);
    end = next;
  }
  return [start];
}

/** Ignores check marks, which authors often leave out. */
function isSameMove(san: string, other: string): boolean {
  return san.replace(/[+#]/, '') === other.replace(/[+#]/, '');
}

/** The command `[%eval 0.24]` inside a comment. */
const EVAL = /\[%eval\s+(#?)([-+]?(?:\d+(?:\.\d*)?|\.\d+))/;
const MAX_CENTIPAWNS = 20_000;
/** A mate in n is ±(32000 − 2n), so that scores compare as numbers. */
const MATE_BASE = 32_000;

/**
 * The score in a comment as lichess writes it: pawns from White's view, or `#n` for mate in n.
 * @returns centipawns from White's view, at most ±20000; ±(32000 − 2n) for mate in n; NaN when there is none
 */
export function parseEvalComment(comment: string): number {
  const match = EVAL.exec(comment);
  if (match === null) return Number.NaN;
  const number = Number(match[2]);
  if (match[1] === '#') return match[2].startsWith('-') ? -MATE_BASE - 2 * number : MATE_BASE - 2 * number;
  return Math.max(-MAX_CENTIPAWNS, Math.min(MAX_CENTIPAWNS, Math.round(number * 100)));
}
