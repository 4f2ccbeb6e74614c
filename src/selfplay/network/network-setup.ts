/** A network and how it is to search, ready to use: made of a user's flags by the command line. */
import { EvaluatorPool, LeafQueue, type PoolOptions, ROOT_ROWS } from '../../nn/index.js';
import type { SearchParams } from '../../search/index.js';

export interface NetworkSetup {
  /** Shown when neither the user nor a file gives it a name. */
  readonly name: string;
  /** Equal keys share one pool of evaluators. */
  readonly poolKey: string;
  /** Its model knows the hash of its file. */
  readonly pool: PoolOptions;
  readonly params: SearchParams;
  readonly timeManager: string;
  readonly moveOverheadMs: number;
}

/** Enough to tell networks apart, and short enough for a line of text. */
const DIGEST_DIGITS = 12;

/** One pool of evaluators with its producer's side and the rows of its root table. */
export class NetworkPool {
  readonly queue: LeafQueue;
  private readonly freeRows = Array.from({ length: ROOT_ROWS }, (_, i) => ROOT_ROWS - 1 - i);

  private constructor(readonly evaluators: EvaluatorPool) {
    this.queue = LeafQueue.attach(evaluators.handle);
  }

  /** Rejects with one sentence for the user. */
  static async open(options: PoolOptions): Promise<NetworkPool> {
    return new NetworkPool(await EvaluatorPool.create(options));
  }

  /**
   * Begin of the SHA-256 of the file that is really played with, since another network may come under the same path, and a
   * backend that takes another's place may have a network of its own; null for evaluators without a file.
   */
  get weightsDigest(): string | null {
    return this.evaluators.network.fileSha256?.slice(0, DIGEST_DIGITS) ?? null;
  }

  /** By the file that is really played with, for the same reason; null without one. */
  get networkName(): string | null {
    const { fileName } = this.evaluators.network;
    return fileName === '' ? null : fileName.replace(/\.(onnx|pb)(\.gz)?$/i, '');
  }

  /** Why no position can be evaluated any more; null while it can. */
  async findLoss(): Promise<string | null> {
    // The last thread says why before it leaves, but its message is slower.
    return this.queue.liveEvaluators === 0 ? this.evaluators.loss : null;
  }

  acquireRow(): number {
    const row = this.freeRows.pop();
    if (row === undefined) throw new Error(`More than ${ROOT_ROWS} games cannot share one pool of evaluators`);
    return row;
  }

  releaseRow(row: number): void {
    this.freeRows.push(row);
  }

  close(): Promise<void> {
    return this.evaluators.dispose();
  }
}

/** Opens each pool once, however many players use it. */
export class NetworkPools {
  private readonly pools = new Map<string, Promise<NetworkPool>>();

  open({ poolKey, pool }: Pick<NetworkSetup, 'poolKey' | 'pool'>): Promise<NetworkPool> {
    let opened = this.pools.get(poolKey);
    if (opened === undefined) {
      opened = NetworkPool.open(pool);
      this.pools.set(poolKey, opened);
    }
    return opened;
  }

  async close(): Promise<void> {
    const pools = [...this.pools.values()];
    this.pools.clear();
    await Promise.all(pools.map((pool) => pool.then((opened) => opened.close()).catch(() => undefined)));
  }
}
