/** Reading, compressing and hashing bytes: `#platform/files.js`, `#platform/byte-streams.js` and `#platform/inflate.js`. */

export type ByteChunks = AsyncIterable<Uint8Array> | Iterable<Uint8Array>;

/** Files by path in Node, by URL in a page. A failure carries Node's code (ENOENT, EACCES, …) where there is one. */
export interface FilePort {
  readFile(path: string): Promise<Uint8Array>;
  /** The content piece by piece. */
  streamFile(path: string): AsyncIterable<Uint8Array>;
  getFileSize(path: string): Promise<number>;
  /** At most `length` bytes from `position` on; fewer where the file ends. */
  readFilePart(path: string, position: number, length: number): Promise<Uint8Array>;
  /** The last part of a path. */
  getFileName(path: string): string;
  /** Why a file cannot be read or written; part of a sentence for the user. */
  describeReadFailure(error: unknown): string;
  describeWriteFailure(error: unknown): string;
}

export interface ByteStreamPort {
  /** Of all the bytes together, in hexadecimal. */
  computeSha256(chunks: ByteChunks): Promise<string>;
  gzip(bytes: Uint8Array): Promise<Uint8Array>;
  /**
   * Inflates gzipped data piece by piece; members that follow each other are one content.
   * @throws an Error with zlib's code: Z_BUF_ERROR when the data end too early, another Z_… when they are damaged; and what
   * `chunks` throws
   */
  gunzip(chunks: ByteChunks): AsyncIterable<Uint8Array>;
}

export interface Inflated {
  readonly pieces: readonly Uint8Array[];
  /** The data have ended. */
  readonly isAtEnd: boolean;
  /** Number of bytes of the step behind the end. */
  readonly unusedBytes: number;
}

/** Deflate data (RFC 1951), and the checksum of gzip and ZIP. */
export interface InflatePort {
  readonly Inflater: new () => {
    /**
     * @param step bytes that follow those of the step before; none = nothing follows
     * @returns null when the data are damaged; what the step held before the damage is lost, so that all sides give the same
     */
    inflate(step: Uint8Array): Promise<Inflated | null>;
    /** Gives the memory back. */
    close(): void;
  };
  /** @param crc of the bytes before; 0 at first */
  crc32(bytes: Uint8Array, crc: number): number;
}
