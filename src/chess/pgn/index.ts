/**
 * The door of pgn/: the one place that reads and writes chess games as text. It takes bytes or strings and touches no
 * file, so it also runs in a browser.
 */

export { annotateGame } from './annotate-game.js';
export {
  findGameTextKind,
  isRemarkLine,
  openGameTexts,
  readGameTexts,
  readPositionLines,
  readPositionText,
} from './game-texts.js';
export { createPgnTree, formatPgn, type PlayedPgnMove } from './pgn-format.js';
export { nameGame, type PgnGame, readPgnGame, spellMoves, walkLines } from './pgn-game.js';
export { DEMANDED_TAGS, PgnMoveNode, PgnNode, type PgnTree } from './pgn-node.js';
export type { PgnResult } from './pgn-result.js';
export { type PgnText, readPgn, splitPgn } from './pgn-text.js';
export { parsePgn, parsePgnTags } from './pgn-tree.js';
export {
  computeAccuracy,
  createRemarks,
  encodeMate,
  formatEvaluation,
  type JudgedPosition,
  MATE_BASE,
  parseEvalComment,
  type Remark,
  removeEvaluation,
} from './remarks.js';
export { readVariant } from './variant.js';
