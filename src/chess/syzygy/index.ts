/** The door of syzygy/: reads Syzygy tablebases of three to seven men (pieces, kings and pawns included). */

export { MOST_MEN } from './material.js';
export { NO_VALUE } from './table.js';
export { NO_TABLEBASES, type RootRanking, rankRootMoves, type TablebaseSettings, Tablebases } from './tablebases.js';
