/** ONNX Runtime as `#platform/onnx-runtime.js` offers it: onnxruntime-node in Node, onnxruntime-web in a page. */

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
  /** Rejects when the provider cannot be used here or cannot run the model. */
  openSession(request: SessionRequest): Promise<RuntimeSession>;
  /** Whether CUDA can be tried without an error on stderr. */
  hasCudaProvider(): boolean;
}
