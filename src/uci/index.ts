/** The door of uci/: the protocol as text, and the only writer of stdout while the engine talks it. */
export { formatBoard } from './format-board.js';
export { formatEvaluation } from './format-eval.js';
export { formatBestMove, formatInfo, type InfoStyle } from './format-info.js';
export { formatMoveStats } from './format-move-stats.js';
export { formatGreeting } from './greeting.js';
export { formatOption } from './options.js';
export { parseCommand } from './parse-command.js';
export { type SessionSettings, UciSession } from './session.js';
