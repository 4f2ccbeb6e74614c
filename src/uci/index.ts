/** The door of uci/: the protocol as text. In engine mode only this room writes to stdout. */
export { formatBoard, formatEvalAnswer, formatGreeting } from './format-console.js';
export { formatBestMove, formatInfo, type InfoStyle } from './format-info.js';
export { formatMoveStats } from './format-move-stats.js';
export { formatOption } from './options.js';
export { parseCommand } from './parse-command.js';
export { type SessionSettings, UciSession } from './session.js';
