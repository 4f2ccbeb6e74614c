/** The second, light door of uci/: options and the answer to `uci`. It loads no code that plays. */
export { conversationOptions, formatIdentity, formatOption } from './conversation-options.js';
