/**
 * The door of unpack/: packed files of games, positions and records → their bytes. It takes chunks of bytes and touches no file, so
 * it also runs in a browser.
 */
export { BrokenArchive, hasTarMagic, readTarMembers, TAR_HEAD_BYTES } from './archives.js';
export { BOOK_ENDINGS, findFileKind, GAME_ENDINGS, type InputKind, nameInputKind, readGameFile } from './game-file.js';
export { type Chunks, CutOff, PackedBytes } from './packed-bytes.js';
export { RECORD_LIMIT, UnpackLimit, unpack } from './unpack.js';
