/**
 * What the ports promise that both Node and a page have: the files of node/ and of browser/ offer the functions of one interface each,
 * and test/platform/ports.test.ts lets the compiler compare them. Only Node has `folders` and `program-files`, which have no interface
 * here, and only Node reads tablebases.
 */

// Threads and turns of their event loops (`#platform/threads.js`): worker_threads in Node, Web Workers in a page.

export interface ThreadOptions {
  /** Shown by debuggers and profilers. */
  readonly name?: string;
  /** What `getThreadData` returns in the thread; copied, except for shared memory. */
  readonly data?: unknown;
}

export interface ThreadEvents<FromThread> {
  onMessage(message: FromThread): void;
  /** An exception that the thread did not catch. The thread ends. */
  onError?(error: Error): void;
}

/** A running thread, as the thread that started it sees it. */
export interface Thread<ToThread> {
  /** Resolves when the thread has ended, for whatever reason, and all its messages have arrived. Never rejects. */
  readonly ended: Promise<void>;
  post(message: ToThread): void;
  /** Whether the process stays alive as long as this thread runs; at first it does. Without effect in a page. */
  keepProcessAlive(does: boolean): void;
  /** Ends the thread at once, also in the middle of a computation. */
  terminate(): Promise<void>;
}

/** The functions of `#platform/threads.js`. */
export interface ThreadPort {
  /**
   * Starts a thread.
   * @param script written as `new URL(…, import.meta.url)` of a file `./*-worker.js`, so that packaging finds it
   */
  startThread<ToThread, FromThread>(
    script: URL,
    options: ThreadOptions,
    events: ThreadEvents<FromThread>,
  ): Thread<ToThread>;
  /** In a thread: the data it was started with. */
  getThreadData<Data>(): Promise<Data>;
  /** In a thread: sends a message to the thread that started it. */
  postToParent(message: unknown): void;
  /** In a thread: handles messages from the thread that started it. Messages that came earlier are not lost. */
  onParentMessage<ToThread>(handle: (message: ToThread) => void): void;
  /** In a thread, when its work is done and it waits for no message: lets it end. */
  endThread(): void;
  /** Calls `work` after the messages, timers and pipes that are due were served. */
  runNextTurn(work: () => void): void;
  /** Resolves after the messages, timers and pipes that are due were served. */
  nextTurn(): Promise<void>;
  /** A timer that does not keep the process alive. @returns ends it */
  repeatEvery(milliseconds: number, work: () => void): () => void;
}

// Reading, compressing and hashing bytes: `#platform/files.js` and `#platform/byte-streams.js`.

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

export interface Inflated {
  readonly pieces: readonly Uint8Array[];
  /** The data have ended. */
  readonly isAtEnd: boolean;
  /** Number of bytes of the step behind the end. */
  readonly unusedBytes: number;
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
  /** Of deflate data (RFC 1951). */
  readonly Inflater: new () => {
    /**
     * @param step bytes that follow those of the step before; none = nothing follows
     * @returns null when the data are damaged; what the step held before the damage is lost, so that all sides give the same
     */
    inflate(step: Uint8Array): Promise<Inflated | null>;
    /** Gives the memory back. */
    close(): void;
  };
  /** The checksum of gzip and ZIP. @param crc of the bytes before; 0 at first */
  crc32(bytes: Uint8Array, crc: number): number;
}

// Log lines for people (`#platform/log-file.js`): to a file or stderr in Node, to the console in a page.

export interface Logger {
  log(line: string): void;
}

export interface LoggerSettings {
  readonly maxFileBytes?: number;
  /** Called once, when a line cannot be written. */
  onFailure?(sentence: string): void;
}

export interface LogFilePort {
  /** The path of the log file; null when the target is not a file. */
  getLogPath(target: string): string | null;
  /**
   * @param target '' = silent, '<stderr>' = standard error (lc0's spelling), anything else = a file appended to, in which %p stands
   * for the process id
   */
  createLogger(target: string, settings?: LoggerSettings): Logger;
}

// Cache files (`#platform/cache-files.js`) save work and may be deleted at any time. In Node they are in the user's cache folder, in
// a page in Cache Storage. A file appears complete or not at all.

export interface CacheFile {
  readonly name: string;
  readonly bytes: number;
  /** When it was written or touched last. */
  readonly modifiedAtMs: number;
}

/** A file open for reading, or for writing and reading what was written. */
export interface OpenCacheFile {
  getSize(): Promise<number>;
  /** At most `length` bytes from `position` on; fewer where the file ends. The next call overwrites them. */
  read(position: number, length: number): Promise<Uint8Array>;
}

export interface NewCacheFile extends OpenCacheFile {
  write(bytes: Uint8Array, position: number): Promise<void>;
}

export interface CacheFilePort {
  /** The place for files of one kind; undefined when nothing can be kept. */
  findCacheFolder(kind: string): string | undefined;
  /** Files without folders; none where the folder cannot be read. */
  listCacheFiles(folder: string): Promise<CacheFile[]>;
  /** Rejects when it is not there. */
  readCacheFile(folder: string, name: string): Promise<Uint8Array>;
  /** Rejects when it is not there. */
  withCacheFile<Answer>(folder: string, name: string, use: (file: OpenCacheFile) => Promise<Answer>): Promise<Answer>;
  /** Marks the file as used now, if it exists. */
  touchCacheFile(folder: string, name: string): Promise<void>;
  /** Removes it if that is possible. */
  removeCacheFile(folder: string, name: string): Promise<void>;
  /**
   * Writes a file, and creates the folder if it is missing.
   * @returns whether the file was written: a full or read-only disk is no error. Other errors of `fill` are passed on.
   */
  writeCacheFile(folder: string, name: string, fill: (file: NewCacheFile) => Promise<void>): Promise<boolean>;
}

// ONNX Runtime (`#platform/onnx-runtime.js`): onnxruntime-node in Node, onnxruntime-web in a page.

/** A tensor of the runtime's own; made by a session and passed back to it. */
export interface RuntimeTensor {
  readonly data: unknown;
}

export type NamedTensors = Readonly<Record<string, RuntimeTensor>>;

export interface SessionRequest {
  /** An ONNX model; may lie in shared memory. */
  readonly model: Uint8Array;
  /** Folder of the file with the model's weights, where the model refers to one. */
  readonly weightsFolder?: string | undefined;
  /** Execution provider by ONNX Runtime's name, and its options. */
  readonly provider: { readonly name: string } & Readonly<Record<string, unknown>>;
  /** CPU threads for the operators of one run. */
  readonly intraOpThreads: number;
  /** Graph optimisation: 0 none … 3 all. */
  readonly optimization: number;
  /** Sums of two 8-bit products may exceed 16 bits, so CPUs without VNNI must use slower, exact code. */
  readonly needsWideSums: boolean;
}

export interface RuntimeSession {
  readonly outputNames: readonly string[];
  /** In the same order, as the runtime infers them; a name stands for an open dimension. */
  readonly outputShapes: readonly (readonly (number | string)[])[];
  /** A view: the runtime reads and writes `data` itself. A Uint16Array holds half-precision numbers (float16). */
  createTensor(data: Float32Array | Uint16Array, dims: readonly number[]): RuntimeTensor;
  /**
   * Runs the network on `inputs` and fills `outputs`. A null stands for a tensor that the runtime is to make. Rejects when the device
   * fails. One run at a time.
   * @returns the outputs by name
   */
  run(inputs: NamedTensors, outputs: Readonly<Record<string, RuntimeTensor | null>>): Promise<unknown>;
  release(): Promise<void>;
}

export interface OnnxRuntimePort {
  /**
   * Sets the environment that the runtime's libraries read when they are loaded. Call it on the main thread, before the first
   * session.
   * @param usesTf32 CUDA and TensorRT may multiply matrices of 32-bit numbers with 10 bits of mantissa
   */
  prepareRuntime(usesTf32: boolean): void;
  /** The address from which each thread downloads what it needs for this provider; null = nothing. */
  findRuntime(provider: string): string | null;
  /** Rejects when the provider cannot be used here or cannot run the model. */
  openSession(request: SessionRequest): Promise<RuntimeSession>;
  /** Whether CUDA can be tried without an error on stderr. */
  hasCudaProvider(): boolean;
}

/** Facts about the machine: `#platform/machine.js`. */
export interface MachinePort {
  /** Memory that this process may use, in bytes: the machine's, or the lowest limit of its containers. */
  getMemoryBytes(): number;
  /** Logical cores that this process may use, at least 1. */
  getCoreCount(): number;
  /** Whether native code runs here on an x86-64 processor. */
  hasX64Kernels(): boolean;
  /** Node's name of the operating system (linux, darwin, win32, …), or `browser`. */
  getSystem(): string;
  /** How this program was started, for hints that name another command of it. */
  getProgramCommand(): string;
}
