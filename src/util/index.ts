export { isSharedPlace, listCacheFolders } from './cache-folders.js';
export { getConfigFolder } from './config-folder.js';
export { describeReadFailure, describeWriteFailure } from './file-failure.js';
export { LineReader } from './line-reader.js';
export { createLogger, getLogPath, type Logger } from './logger.js';
export { type OptionSpec, type OptionValue, parseOptionValue } from './options.js';
export { createPrng, drawSeed, type Prng } from './prng.js';
export { getProgramFolder, hasProgramFile, isPackaged, readProgramFile } from './program-files.js';
export { failure, type Result, success, unwrap } from './result.js';
