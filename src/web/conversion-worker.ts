/**
 * The thread of page-network.ts: it inflates a network, converts it if it is one of lc0's, and ends. A network of 40 MB
 * takes more than a second, so it must not happen where UCI is answered or the page is drawn.
 */
import { endThread, getThreadData, postToParent } from '#platform/threads.js';
import { failure, inflate, type Result, success } from '../base/util/index.js';
import { hasNetworkHead, type Lc0LoadOptions, loadLc0Network } from '../networks/lc0/index.js';
import { readPrecision } from '../networks/nn/index.js';

export interface ConversionTask {
  /** A network's file; shared memory. */
  readonly file: Uint8Array;
  /** For messages. */
  readonly name: string;
  readonly lc0: Pick<Lc0LoadOptions, 'policyHead' | 'valueHead' | 'precision'>;
}

/** An ONNX model in shared memory, or one sentence for the user. Of an exception `convertNetwork` makes that sentence. */
export type ConversionAnswer = Result<Uint8Array>;

async function convert({ file, name, lc0 }: ConversionTask): Promise<ConversionAnswer> {
  const inflated = await inflate(file);
  if (!inflated.ok) return failure(`Cannot read the network ${name}: ${inflated.error}`);
  if (readPrecision(inflated.value) !== null) return success(share(inflated.value));
  if (!hasNetworkHead(inflated.value)) {
    return failure(`Cannot read the network ${name}: it is neither an ONNX file nor one of lc0's`);
  }
  const network = await loadLc0Network(inflated.value, lc0);
  return network.ok ? success(share(network.value.onnx)) : failure(`${name}: ${network.error}`);
}

function share(bytes: Uint8Array): Uint8Array {
  const shared = new Uint8Array(new SharedArrayBuffer(bytes.length));
  shared.set(bytes);
  return shared;
}

postToParent(await convert(await getThreadData<ConversionTask>()));
endThread();
