/** The door of uci/: the protocol as text. In engine mode only this room writes to stdout. */

export { formatOption } from './options.js';
export { type SessionSettings, UciSession } from './session.js';
export {
  formatBestMove,
  formatBoard,
  formatEvalAnswer,
  formatGreeting,
  formatInfo,
  formatMoveStats,
  type InfoStyle,
  parseCommand,
} from './uci-text.js';
