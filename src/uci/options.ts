/** The second, light door of uci/: options and the answer to `uci`. It loads no code that plays. */
export { conversationOptions } from './conversation-options.js';
export { formatIdentity, formatOption } from './format-identity.js';
