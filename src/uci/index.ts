/** The door of uci/: the protocol as text. In engine mode only this room writes to stdout. */
export {
  formatBestMove,
  formatBoard,
  formatEvalAnswer,
  formatGreeting,
  formatInfo,
  formatMoveStats,
  type InfoStyle,
} from './format-info.js';
export { formatOption } from './options.js';
export { parseCommand } from './parse-command.js';
export { type SessionSettings, UciSession } from './session.js';
