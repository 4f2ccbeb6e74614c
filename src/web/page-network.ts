/**
 * The network of a page: a URL in WeightsFile, or the network that lies beside the scripts. The content of a file, not its
 * name, decides whether it is read as lc0's format or as ONNX.
 */

import { findRuntime } from '#platform/onnx-runtime.js';
import { type OptionSpec, OptionStore } from '../base/options/index.js';
import { type Result, success, unwrap } from '../base/util/index.js';
import { createPoolNetwork, type EnginePorts, MateClient, readPoolOptions } from '../engine/core/index.js';
import { acceptedOptions, engineOptions, isStrengthLimited } from '../engine/core/options.js';
import { conversationOptions } from '../engine/uci/options.js';
import {
  EvaluatorPool,
  isFilelessBackend,
  type ModelSource,
  type PoolOptions,
  parseNetworkChoice,
} from '../networks/nn/index.js';
import { networkOptions } from '../networks/nn/options.js';
import { SearchClient } from '../search/index.js';
import { searchOptions } from '../search/options.js';
import { convertNetwork } from './convert-network.js';
import {
  type DownloadWatch,
  describeAddress,
  describeProgress,
  PROVIDED_NETWORKS,
  readBody,
  readNetworkFile,
} from './stored-networks.js';

const SLOW_DOWNLOAD_MS = 1000;

/** @param watch told of downloads; without it, warnings tell of slow ones */
export function createPagePorts(watch?: DownloadWatch): EnginePorts {
  return {
    createNetwork: async (options, warn, avoidsDevice, tell) => {
      const pool = await createPagePool(options, warn, avoidsDevice, watch ?? warnOfSlowDownloads(tell));
      return createPoolNetwork(await EvaluatorPool.create(pool));
    },
    describeChoice: (options) => (needsMeasuredLevels(options) && mayUseGpu(options) ? 'levels' : ''),
    createSearch: (events) => new SearchClient(events),
    createMateSearch: () => new MateClient(),
    createSpareOptions: (options) => {
      const spare = options.clone();
      for (const name of ['WeightsFile', 'BackendOptions']) unwrap(spare.set(name, ''));
      unwrap(spare.set('Backend', 'auto'));
      return spare;
    },
  };
}

/** The evaluators that the options ask for; their network is loaded when they are created. */
export async function createPagePool(
  options: OptionStore,
  warn: (text: string) => void,
  avoidsDevice: boolean,
  watch: DownloadWatch,
): Promise<PoolOptions> {
  const backend = await chooseBackend(options.getString('Backend'), avoidsDevice);
  const pool = { ...readPoolOptions(options, warn), backend, avoidsDevice };
  if (isFilelessBackend(backend)) return pool;
  const threads = backend === 'webgpu' ? 1 : options.getNumber('Threads');
  return {
    ...pool,
    threads,
    model: async ({ provider, precision }) => {
      if (precision === 'int8')
        warn('datatype=int8 is not used: 8 bits gain nothing in a page, so the network stays in f32');
      const model = await findModel(options, provider, precision === 'f16' ? 'f16' : 'f32', watch);
      if (model.ok) await obtainRuntime(provider, watch);
      return model;
    },
  };
}

const obtained = new Set<string>();

/**
 * Downloads ONNX Runtime into the browser's cache, from where each thread loads it by itself: there nobody could watch the
 * download, and its time would count as the thread's.
 */
async function obtainRuntime(provider: string, watch: DownloadWatch): Promise<void> {
  const address = findRuntime(provider);
  if (address === null || obtained.has(address)) return;
  obtained.add(address);
  // Of a failure the thread will tell.
  await fetch(address)
    .then((response) => readBody(response, 'Engine', watch))
    .catch(() => undefined);
}

/** One line a second. */
function warnOfSlowDownloads(warn: (text: string) => void): DownloadWatch {
  let reportedAt = performance.now();
  return (progress) => {
    if (performance.now() - reportedAt < SLOW_DOWNLOAD_MS) return;
    reportedAt = performance.now();
    warn(`Downloading ${progress.name}: ${describeProgress(progress)}`);
  };
}

async function chooseBackend(wanted: string, avoidsDevice: boolean): Promise<string> {
  if (wanted === WASM) return 'cpu';
  if (wanted !== 'auto') return wanted;
  hardware ??= hasHardwareAdapter();
  hasGpu = await hardware;
  return !avoidsDevice && hasGpu ? 'webgpu' : 'cpu';
}

/** Asked once: a browser without an adapter says so in its console each time. */
let hardware: Promise<boolean> | undefined;
/** Its answer. */
let hasGpu = false;

/** Otherwise levels and full strength play with the same network, and none is loaded anew between them. */
function mayUseGpu(options: OptionStore): boolean {
  const wanted = options.getString('Backend');
  return wanted === 'webgpu' || (wanted === 'auto' && hasGpu);
}

/** A software adapter is slower than WebAssembly. */
async function hasHardwareAdapter(): Promise<boolean> {
  try {
    const adapter = await navigator.gpu?.requestAdapter();
    return adapter !== null && adapter !== undefined && !adapter.info.isFallbackAdapter;
  } catch {
    return false;
  }
}

/** The user has named no network. */
function isOwn(options: OptionStore): boolean {
  const named = options.getString('WeightsFile');
  return named === '' || named.startsWith('<');
}

/** As on the command line: limited strength plays with the network whose levels were measured, `light.onnx`. */
function needsMeasuredLevels(options: OptionStore): boolean {
  return isOwn(options) && isStrengthLimited(options);
}

async function findModel(
  options: OptionStore,
  provider: string,
  precision: 'f16' | 'f32',
  watch: DownloadWatch,
): Promise<Result<ModelSource>> {
  const isLarge = provider === 'webgpu' && !needsMeasuredLevels(options);
  const own = PROVIDED_NETWORKS[isLarge ? 'default.onnx' : 'light.onnx'];
  const address = isOwn(options) ? own : options.getString('WeightsFile');
  const name = describeAddress(address);
  const choice = parseNetworkChoice(options.getString('BackendOptions'));
  if (!choice.ok) return choice;
  const { policyHead, valueHead } = choice.value;
  const heads = { ...(policyHead && { policyHead }), ...(valueHead && { valueHead }) };
  const file = await readNetworkFile(address, watch);
  if (!file.ok) return file;
  const model = await convertNetwork(file.value, name, { ...heads, precision });
  return model.ok ? success({ bytes: model.value, name }) : model;
}

/** Name of the CPU backend in a page. */
const WASM = 'wasm';

/** A function with one 128-bit value: WebAssembly that only a runtime with SIMD accepts. */
const SIMD_PROBE = new Uint8Array([
  0x00, 0x61, 0x73, 0x6d, 0x01, 0x00, 0x00, 0x00, 0x01, 0x05, 0x01, 0x60, 0x00, 0x01, 0x7b, 0x03, 0x02, 0x01, 0x00,
  0x0a, 0x0a, 0x01, 0x08, 0x00, 0x41, 0x00, 0xfd, 0x0f, 0xfd, 0x62, 0x0b,
]);

export function createPageOptions(): OptionStore {
  return new OptionStore([
    ...networkOptions.map(adaptToPage),
    ...engineOptions,
    ...conversationOptions,
    ...searchOptions,
    ...acceptedOptions,
  ]);
}

function adaptToPage(spec: OptionSpec): OptionSpec {
  if (spec.uci !== 'Backend' || spec.kind !== 'choice') return spec;
  const help = 'What evaluates positions; auto = WebGPU on a graphics card, otherwise WebAssembly';
  return { ...spec, help, choices: ['auto', 'webgpu', WASM, 'hash', 'random', 'trivial'], synonyms: { cpu: WASM } };
}

/** Why the engine cannot run in this page, as a sentence for the user; null when it can. */
export function findObstacle(): string | null {
  if (typeof crossOriginIsolated === 'undefined') {
    return 'sardonyx/web is the engine of web pages and needs a browser: programs for Node import sardonyx';
  }
  if (typeof SharedArrayBuffer === 'undefined' || !crossOriginIsolated) {
    return 'The engine needs a cross-origin isolated page: the server must send Cross-Origin-Opener-Policy: same-origin and Cross-Origin-Embedder-Policy: require-corp';
  }
  if (typeof WebAssembly === 'undefined') return 'The engine needs WebAssembly, which this browser lacks';
  if (!WebAssembly.validate(SIMD_PROBE)) return 'The engine needs WebAssembly with SIMD, which this browser lacks';
  return null;
}
