/** The networks of this process, each with one pool of evaluators, however many players use it. */
import { LeafQueue, ROOT_ROWS } from '../../networks/leaves/index.js';
import { EvaluatorPool, type PoolOptions } from '../../networks/nn/index.js';
import type { SearchParams } from '../../search/index.js';

export interface NetworkSetup {
  /** Shown if neither the user nor the file names the network. */
  readonly name: string;
  /** Equal keys share one pool of evaluators. */
  readonly poolKey: string;
  /** `pool.model` has the hash of the network's file. */
  readonly pool: PoolOptions;
  readonly params: SearchParams;
  readonly timeManager: string;
  readonly moveOverheadMs: number;
}

/** Hexadecimal digits of the hash that are shown. */
const DIGEST_DIGITS = 12;

/** One pool of evaluators with its producer's side and the rows of its root table. */
export class NetworkPool {
  readonly queue: LeafQueue;
  private readonly freeRows = Array.from({ length: ROOT_ROWS }, (_, i) => ROOT_ROWS - 1 - i);

  private constructor(readonly evaluators: EvaluatorPool) {
    this.queue = new LeafQueue(evaluators.handle);
  }

  /** Rejects with one sentence for the user. */
  static async open(options: PoolOptions): Promise<NetworkPool> {
    return new NetworkPool(await EvaluatorPool.create(options));
  }

  /**
   * First digits of the SHA-256 of the file in use. The path does not identify it: the file may have been replaced, or a
   * fallback backend may use another edition of the network. Null for evaluators without a file.
   */
  get weightsDigest(): string | null {
    return this.evaluators.network.fileSha256?.slice(0, DIGEST_DIGITS) ?? null;
  }

  /** Name of the network in the file in use; null without a file. */
  get networkName(): string | null {
    const { fileName } = this.evaluators.network;
    return fileName === '' ? null : fileName.replace(/\.(onnx|pb)(\.gz)?$/i, '');
  }

  /** Why the pool cannot evaluate any more; null while it can. */
  async findLoss(): Promise<string | null> {
    // The last thread sends the reason before it ends, but the message may arrive later than this call.
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
