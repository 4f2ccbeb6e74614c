/** The door of records/: games as files hold them, labelled games, PGN and lc0’s V6 records, and the training rows they become. */
export { collectChunks, findInputKind, ReadingProblems, readChunks } from './game-files.js';
export {
  type EncodedRow,
  formatResult,
  type GameFilter,
  type GameFormat,
  type GameSink,
  type TrainingRow,
} from './game-format.js';
export { attachGameLine, type GameLine } from './game-line.js';
export {
  type LabelledPly,
  labelledGames,
  parseLabelledGame,
  resolveMoves,
  type ScoredMove,
  type Surprise,
} from './labelled-games.js';
export { pgnGames } from './pgn-games.js';
export { isV6Folder, readV6Games, TAR_FILE, v6Games } from './v6-games.js';
export { PositionFinder, setV6Position, v6Policy } from './v6-position.js';
export {
  createV6Record,
  isCut,
  knowsMovesLeft,
  readV6Record,
  V6_ADJUDICATED,
  V6_DELETED,
  V6_MOVES,
  V6_PROVEN_BEST,
  V6_TOO_LONG,
  type V6Record,
  writeV6Record,
} from './v6-record.js';
export { type SearchedPosition, V6GameRecorder } from './v6-recorder.js';
export type { RawV6Game } from './v6-rows.js';
