/** The door of uci/: the protocol as text. In engine mode only this room writes to stdout, through the function that it is given. */

export { type SessionSettings, UciSession } from './session.js';
export { formatEvalAnswer, formatGreeting } from './terminal-text.js';
