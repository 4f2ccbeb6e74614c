/** The second, light door of uci/: the options of the conversation and the answer to `uci`, without loading what runs. */
export { conversationOptions } from './conversation-options.js';
export { formatIdentity, formatOption } from './format-identity.js';
