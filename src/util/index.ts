export { createLogger, type Logger } from './logger.js';
export { type OptionSpec, type OptionValue, parseOptionValue } from './options.js';
export { createPrng, type Prng } from './prng.js';
export { failure, type Result, success, unwrap } from './result.js';
