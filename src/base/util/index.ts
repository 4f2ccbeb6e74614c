export {
  decodeFloat16,
  encodeBfloat16,
  encodeFloat16,
  FLOAT16_INFINITY,
  FLOAT16_LARGEST,
  getFloat16Table,
} from './float16.js';
export {
  concatBytes,
  inflate,
  isGzip,
  isLfsPointer,
} from './gzip-limits.js';
export { isTooLong, LineReader } from './line-reader.js';
export { findNearWord, suggestName } from './near-word.js';
export { createPrng, drawGamma, drawSeed, mixBits, mixSeeds, type Prng, type SeededPrng } from './prng.js';
export {
  countOf,
  cutText,
  describeRefusal,
  failure,
  formatMegabytes,
  getErrorMessage,
  type Result,
  removeControls,
  showControls,
  success,
  toOneLine,
  unwrap,
} from './result.js';
export { createDeferred, type Deferred, runSideBySide } from './side-by-side.js';
export {
  BrokenInput,
  decodeText,
  RefusedInput,
  readLines,
  readUntilBreak,
  type TextLine,
  toUtf8,
} from './text-stream.js';
export { startWatchdog } from './watchdog.js';
