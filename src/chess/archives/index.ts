/**
 * The door of archives/: packed files of games, positions and records → their bytes. It takes chunks of bytes and touches no file, so
 * it also runs in a browser.
 */
export { BrokenArchive, hasTarMagic, readTarMembers, TAR_HEAD_BYTES } from './archives.js';
export { findFileKind, type InputKind, isPolyglot, nameInputKind, readGameFile } from './game-file.js';
export { type Chunks, CutOff, PackedBytes } from './packed-bytes.js';
export { unpack } from './unpack.js';
export { RECORD_LIMIT, UnpackLimit } from './unpack-limit.js';

/** Endings of names, for those who choose files; here, so that a page that only asks for a file loads no unpacker. */
const PACKED_ENDINGS = ['.gz', '.zst', '.bz2', '.zip', '.tar', '.tgz'];
export const GAME_ENDINGS = ['.pgn', '.epd', '.fen', '.txt', '.tsv', ...PACKED_ENDINGS];
export const BOOK_ENDINGS = ['.bin', ...GAME_ENDINGS];
