/** The door of board/: the server side of the page. The page itself is built from page/ and is no part of the program. */
export { type BoardSettings, type RunningBoard, startBoard } from './server/start-board.js';
