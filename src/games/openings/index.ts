/** The door of openings/: books and lists of start positions. */
export { type Book, createOpeningPosition, type Opening, openBook } from './book.js';
export { createGameOpenings, createMatchOpenings } from './choose-openings.js';
