/** The door of syzygy/: reads Syzygy tablebases of three to seven men (pieces, kings and pawns included). */

export { MOST_MEN } from './material.js';
export { type RootRanking, rankRootMoves } from './rank-moves.js';
export { NO_VALUE } from './table-set.js';
export { NO_TABLEBASES, type TablebaseSettings, Tablebases } from './tablebases.js';
