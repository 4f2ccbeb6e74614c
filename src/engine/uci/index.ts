/** The door of uci/: the protocol as text. In engine mode only this room writes to stdout, through the function that it is given. */

export { formatBestMove, formatInfo } from './info-text.js';
export { formatMoveStats } from './move-stats-text.js';
export { formatOption } from './options.js';
export { parseCommand } from './parse-command.js';
export { type SessionSettings, UciSession } from './session.js';
export { formatBoard, formatEvalAnswer, formatGreeting } from './terminal-text.js';
