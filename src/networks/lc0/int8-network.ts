/**
 * Networks in 8 bits: what a CPU gains by them is measured once for each file and kept, with the converted model, in the cache of
 * converted networks. A network that gains nothing stays in single precision, and the cache keeps the reason.
 */

import { type Result, success } from '../../base/util/index.js';
import {
  addsWidely,
  decodeModel,
  encodeModel,
  type ModelSource,
  openOnCpu,
  readPrecision,
  runSession,
} from '../nn/index.js';
import { createSpeedSample, type Difference, quantiseModel } from '../onnx/index.js';
import { ModelCache } from './model-cache.js';

/** Raise it when the same network would give another file. */
const QUANTISER_VERSION = 3;
/** Metadata entry with the report, as JSON. A cached model without a graph holds only the report: why the network stays in f32. */
const REPORT_KEY = 'sardonyx.int8';
/** Smaller gains are not worth another network's answers. */
const LEAST_GAIN = 1.1;
/** Calls of each network when their speeds are compared. The fastest counts, so other work on the machine matters little. */
const TIMED_CALLS = 8;

/** What 8 bits give on this CPU. Without `onnx` single precision is used, and `report` says why. */
export interface Int8Network {
  readonly onnx: Uint8Array | undefined;
  /** One sentence without its full stop. */
  readonly report: string;
}

/** The network in single precision, in the form that rounding needs and in the fastest form. */
export interface ExactEditions {
  /** Everything that decides the content of `plain`. */
  readonly key: readonly string[];
  /** ONNX's own operators, with the weights inside. */
  plain(): Promise<Result<ModelBytes>>;
  fastest(): Promise<Result<ModelBytes>>;
}

/** What a CPU does with 8 bits. */
export interface Int8Machine {
  addsWidely(): Promise<boolean>;
  /** How many times as fast the first network is. */
  compareSpeeds(first: ModelBytes, second: ModelBytes): Promise<number>;
}

type ModelBytes = Pick<ModelSource, 'bytes' | 'weightsFolder'>;

/** @param cacheFolder by default the user's cache; null keeps nothing */
export async function loadInt8Network(
  editions: ExactEditions,
  cacheFolder?: string | null,
  machine: Int8Machine = { addsWidely, compareSpeeds },
): Promise<Result<Int8Network>> {
  if (!(await machine.addsWidely())) {
    return success(refuse('this CPU has no fast products of 8-bit numbers (VNNI or the like)'));
  }
  const key = ['int8', String(QUANTISER_VERSION), ...editions.key];
  const cache = await ModelCache.open(cacheFolder, key);
  const cached = await cache?.read();
  const known = cached?.metadata.get(REPORT_KEY);
  if (cached !== undefined && known !== undefined) {
    return success({ onnx: readPrecision(cached.onnx) === 'int8' ? cached.onnx : undefined, report: known });
  }
  const made = await makeInt8(editions, machine).catch((error: Error) =>
    success(refuse(`the network cannot be run in 8 bits (${error.message})`)),
  );
  if (made.ok) await cache?.write(made.value.onnx ?? createMarker(made.value.report));
  return made;
}

async function makeInt8(editions: ExactEditions, machine: Int8Machine): Promise<Result<Int8Network>> {
  const plain = await editions.plain();
  if (!plain.ok) return plain;
  const quantised = await quantiseModel(plain.value.bytes);
  if (!quantised.ok) return success(refuse(quantised.error));
  const fastest = await editions.fastest();
  if (!fastest.ok) return fastest;
  const { onnx, difference } = quantised.value;
  const gain = await machine.compareSpeeds({ bytes: onnx }, fastest.value);
  if (gain < LEAST_GAIN) {
    return success(refuse(`8 bits take ${Math.round(100 / gain)} % of the time that single precision takes here`));
  }
  const report = `int8 with ${describeDifference(difference)}; ${gain.toFixed(1)} times the evaluations/s of f32`;
  return success({ onnx: addEntry(onnx, report), report });
}

function refuse(reason: string): Int8Network {
  return { onnx: undefined, report: `datatype=int8 is not used, because ${reason}; the network stays in f32` };
}

function describeDifference({ positions, sameMove, divergence, value }: Difference): string {
  return `the same first move as f32 in ${(100 * sameMove).toFixed(1)} % of ${positions} positions, policy divergence ${divergence.toFixed(4)}, W − L off by ${value.toFixed(3)}`;
}

async function compareSpeeds(first: ModelBytes, second: ModelBytes): Promise<number> {
  const sample = await createSpeedSample(first.bytes);
  const sessions = [await openOnCpu(first.bytes), await openOnCpu(second.bytes, 1, second.weightsFolder)];
  const least = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
  try {
    for (let call = 0; call < TIMED_CALLS; call++) {
      for (const [i, session] of sessions.entries()) {
        const startedAt = performance.now();
        await runSession(session, sample, session.outputNames);
        least[i] = Math.min(least[i], performance.now() - startedAt);
      }
    }
  } finally {
    for (const session of sessions) await session.release();
  }
  return least[1] / least[0];
}

function addEntry(onnx: Uint8Array, report: string): Uint8Array {
  const model = decodeModel(onnx);
  const metadataProps = [...(model?.metadataProps ?? []), { key: REPORT_KEY, value: report }];
  return encodeModel({ ...model, metadataProps });
}

/** A model without weights that only carries the report. */
function createMarker(report: string): Uint8Array {
  const node = [{ opType: 'Identity', name: 'none', input: ['none'], output: ['nothing'] }];
  return encodeModel({
    irVersion: 8,
    graph: { name: 'none', node },
    metadataProps: [{ key: REPORT_KEY, value: report }],
  });
}

/** The report of a model that `loadInt8Network` made; undefined for others. */
export function readInt8Report(bytes: Uint8Array): string | undefined {
  return decodeModel(bytes)?.metadataProps?.find(({ key }) => key === REPORT_KEY)?.value;
}
