export { findCacheFolder, listCacheFolders, openCacheFolder } from './cache-folders.js';
export { getConfigFolder } from './config-folder.js';
export { decodeFloat16, encodeFloat16, FLOAT16_INFINITY, FLOAT16_LARGEST } from './float16.js';
export { LineReader } from './line-reader.js';
export { createLogger, type Logger } from './logger.js';
export { type OptionSpec, type OptionValue, parseOptionValue } from './options.js';
export { createPrng, drawSeed, type Prng } from './prng.js';
export { getProgramFolder, hasProgramFile, isPackaged, readProgramFile } from './program-files.js';
export { failure, type Result, success, unwrap } from './result.js';
