/**
 * What the engine says about the moves of a game, set beside what the author said. An older `[%eval …]` gives way to
 * ours; all other comments stay. Nothing is said twice: remarks on a game that has them already change nothing. The form
 * is that of the games that lichess.org exports.
 */
import { ChildNode, Node, type PgnNodeData } from 'chessops/pgn';

export interface Remark {
  /** As `[%eval …]` has it: pawns for White, or `#n`. */
  readonly evaluation: string;
  /** Numeric annotation glyph (PGN standard 8.2.4), 0 = none. */
  readonly nag: number;
  /** Words about the move; may be empty. */
  readonly text: string;
  /** SAN of what should have been played instead; may be empty. */
  readonly betterLine: readonly string[];
}

/** Glyphs up to this one judge a move (! ? !! ?? !? ?!); a move has one of them at most. */
const LAST_MOVE_GLYPH = 6;

/** A copy of the game with a remark on each of its first moves. */
export function annotate(moves: Node<PgnNodeData>, remarks: readonly Remark[]): Node<PgnNodeData> {
  const root = new Node<PgnNodeData>();
  let before = moves;
  let after = root;
  for (const remark of remarks) {
    const [played, ...variations] = before.children;
    const move = new ChildNode(annotateMove(played.data, remark));
    after.children = [move, ...variations, ...createVariation(remark.betterLine, variations)];
    before = played;
    after = move;
  }
  after.children = before.children;
  return root;
}

function annotateMove(data: PgnNodeData, { evaluation, nag, text }: Remark): PgnNodeData {
  const nags = data.nags ?? [];
  const isJudged = nags.some((known) => known >= 1 && known <= LAST_MOVE_GLYPH);
  const comments = (data.comments ?? []).map(removeEvaluation).filter((comment) => comment !== '');
  if (text !== '' && !comments.includes(text)) comments.push(text);
  return {
    ...data,
    nags: nag === 0 || isJudged ? nags : [...nags, nag],
    comments: addEvaluation(comments, `[%eval ${evaluation}]`),
  };
}

function removeEvaluation(comment: string): string {
  const rest = comment.replace(/\[%eval\s[^\]]*\] ?/g, '');
  return rest === comment ? comment : rest.trim();
}

/** Before the first other command, such as `[%clk …]`; where there is none, in a comment of its own. */
function addEvaluation(comments: readonly string[], command: string): string[] {
  const index = comments.findIndex((comment) => comment.includes('[%'));
  if (index < 0) return [...comments, command];
  return comments.with(index, comments[index].replace('[%', `${command} [%`));
}

/** None when the author has a variation that begins with the same move. */
function createVariation(
  line: readonly string[],
  variations: readonly ChildNode<PgnNodeData>[],
): ChildNode<PgnNodeData>[] {
  const [first, ...others] = line;
  if (first === undefined || variations.some(({ data }) => isSameMove(data.san, first))) return [];
  const start = new ChildNode<PgnNodeData>({ san: first });
  let end = start;
  for (const san of others) {
    const next = new ChildNode<PgnNodeData>({ san });
    end.children.push(next);
    end = next;
  }
  return [start];
}

/** Authors often leave out the mark of a check. */
function isSameMove(san: string, other: string): boolean {
  return san.replace(/[+#]/, '') === other.replace(/[+#]/, '');
}
