/**
 * The moves of a PGN game as a tree, with comments, glyphs and variations. chessops builds the tree. It looks for moves inside
 * words: it would read Sf3, a knight's move in German, as the pawn move f3. So this file checks every word first and passes on
 * only those that chessops reads correctly. It does not check whether moves are legal.
 */
import { ChildNode, defaultGame, type Game, makePgn, Node, type PgnNodeData, parsePgn } from 'chessops/pgn';

/** Tags, comments before the first move, and the moves: variations are the second and later children of a node. */
export type PgnTree = Game<PgnNodeData>;
export { ChildNode as PgnMoveNode, makePgn, Node as PgnNode, type PgnNodeData };

export type PgnResult = '1-0' | '0-1' | '1/2-1/2' | '*';

const TOKEN = /\{[^}]*\}?|;.*|^%.*|[()]|\$\d*|[^\s{}()[\];$]+(?:\([NBRQ]\)[+#]?)?/gm;
const GLYPH = /^[!?]{1,2}$/;
const MOVE_NUMBER = /^(?:\d+(?=[.…]|$))?[.…]*/;
const RESULT = /^(?:1[-–—]0|0[-–—]1|(?:1\/2|½)(?:[-–—](?:1\/2|½))?|\*)$/;
/** Moves in long or short notation, with what authors put behind them. */
const MOVE =
  /^(?:[NBRQK]?[a-h]?[1-8]?[-x:]?[a-h][1-8](?:=?\(?[NBRQnbrq]\)?)?(?:e\.p\.)?|[O0o](?:[-–—][O0o]){1,2})[+#]*[!?]*$/;
/** A word that contains a square, castling or a null move is meant as a move; other words are remarks. */
const MEANT_AS_MOVE = /[a-h][1-8]|[Oo0][-–—]|--|Z0|0000|@@@@/;
/** Marks a comment that stands for a word that is not a move. From Unicode's private area. */
const WORD_MARK = '\ue000';

/**
 * @param text of one game
 * @param from where its moves begin
 * @param tags of the game; the tree's headers begin with the seven that PGN demands
 */
export function parsePgnTree(text: string, from: number, tags: ReadonlyMap<string, string>): PgnTree {
  const { words, hasWrongMoves } = collectTokens(text, from);
  const empty = defaultGame<PgnNodeData>();
  for (const [name, value] of tags) empty.headers.set(name, name === 'Result' ? (readResult(value) ?? '*') : value);
  const [tree = empty] = parsePgn(words.join(' '), () => empty.headers);
  if (hasWrongMoves) restoreWords(tree.moves);
  return tree;
}

/** The result that a word means; null when it is none. */
export function readResult(word: string): PgnResult | null {
  if (!RESULT.test(word)) return null;
  if (word === '*') return '*';
  if (word.startsWith('1/') || word.startsWith('½')) return '1/2-1/2';
  return word.startsWith('1') ? '1-0' : '0-1';
}

/** The line of `text`, from 0, with the n-th word of the main line that is meant as a move; n from 0. */
export function findMoveLine(text: string, from: number, n: number): number {
  let rest = n;
  for (const { token, depth, index } of listTokens(text, from)) {
    if (depth === 0 && isMeantAsMove(token) && rest-- === 0) return text.slice(0, index).split('\n').length - 1;
  }
  return 0;
}

/** The tokens of the game up to its result, in chessops' spelling. */
function collectTokens(text: string, from: number): { words: string[]; hasWrongMoves: boolean } {
  const words: string[] = [];
  let hasWrongMoves = false;
  for (const { token, depth } of listTokens(text, from)) {
    const first = token[0];
    if (first === '{') words.push(token.endsWith('}') ? token : `${token}}`);
    else if (first === ';') words.push(`{${token.slice(1).replaceAll('}', '')} }`);
    else if (first === '(' || first === ')' || first === '$') words.push(token);
    else {
      const result = depth === 0 ? readResult(token) : null;
      if (result !== null) {
        words.push(result);
        break;
      }
      const word = token.replace(MOVE_NUMBER, '') || token;
      if (MOVE.test(word)) words.push(word.replace(/[()]|e\.p\./g, '').replace(':', 'x'));
      else if (GLYPH.test(word)) words.push(word);
      else if (isMeantAsMove(token)) {
        hasWrongMoves = true;
        words.push(`-- {${WORD_MARK}${word}}`);
      }
    }
  }
  return { words, hasWrongMoves };
}

function isMeantAsMove(token: string): boolean {
  return !'{;%'.includes(token[0]) && MEANT_AS_MOVE.test(token) && readResult(token) === null;
}

interface Token {
  readonly token: string;
  /** Number of variations around it. */
  readonly depth: number;
  readonly index: number;
}

function* listTokens(text: string, from: number): Generator<Token, void, void> {
  let depth = 0;
  for (const { 0: token, index } of text.slice(from).matchAll(TOKEN)) {
    if (token === ')') depth = Math.max(0, depth - 1);
    yield { token, depth, index: from + index };
    if (token === '(') depth++;
  }
}

/** Turns each placeholder back into the word that is not a move. */
function restoreWords(root: Node<PgnNodeData>): void {
  const stack: Node<PgnNodeData>[] = [root];
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    for (const child of node.children) {
      const [mark, ...comments] = child.data.comments ?? [];
      if (mark?.startsWith(WORD_MARK)) child.data = { ...child.data, san: mark.slice(1), comments };
      stack.push(child);
    }
  }
}
