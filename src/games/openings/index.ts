/** The door of openings/: books and lists of start positions. */
export {
  type Book,
  createGameOpenings,
  createMatchOpenings,
  createOpeningPosition,
  type Opening,
  openBook,
} from './book.js';
