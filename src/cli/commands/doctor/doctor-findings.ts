/** The checks of `sardonyx doctor`: each examines one thing and reports what it is, whether it is fine, and how to repair it. */

import { createHash } from 'node:crypto';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { join, resolve } from 'node:path';
import { listCacheFolders } from '#platform/folders.js';
import { getProgramCommand } from '#platform/machine.js';
import { describeRuntime, type RuntimeInfo } from '#platform/onnx-runtime.js';
import { getProgramFolder, isPackaged, readProgramFile } from '#platform/program-files.js';
import { countOf, formatMegabytes, unwrap } from '../../../base/util/index.js';
import { readSettings } from '../../../engine/app/options.js';
import {
  findRemoteNetwork,
  getNetworkName,
  isDownloaded,
  isFileless,
  listBundledNetworks,
  listDiscoveryFolders,
  listNetworks,
  resolveNetwork,
} from '../../../engine/weights/index.js';
import { describeVersion } from '../../version-text.js';
import { describeError } from '../../write-output.js';
import { CUDA_ARCHIVES } from './cuda-provider.js';
import { findDevices, findMissingLibraries } from './find-devices.js';

export interface Finding {
  readonly what: string;
  readonly isFine: boolean;
  readonly text: string;
  /** A command or advice that helps. */
  readonly fix?: string;
}

const INSTALL_CUDA = `${getProgramCommand()} doctor --install-cuda`;
/** Providers in onnxruntime's package for each system; others are not tried. */
const SYSTEM_PROVIDERS: Partial<Record<NodeJS.Platform, readonly string[]>> = {
  linux: ['cpu', 'cuda', 'tensorrt', 'webgpu'],
  win32: ['cpu', 'dml', 'webgpu', 'cuda', 'tensorrt'],
  darwin: ['cpu', 'coreml', 'webgpu'],
};

export function listSystemProviders(): readonly string[] {
  return SYSTEM_PROVIDERS[process.platform] ?? ['cpu'];
}

/** main.ts has refused an older Node. */
export function examineNode(): Finding {
  const inside = isPackaged ? ', inside the executable' : '';
  return { what: 'node', isFine: true, text: `${process.version}${inside} (20.19 or later is needed)` };
}

export function examineMachine(): Finding {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB of memory`;
  const processors = `${countOf(availableParallelism(), 'processor')} (${first?.model ?? 'unknown'})`;
  const text = `Sardonyx ${describeVersion()} on ${processors}, ${memory}, ${process.platform} ${process.arch}`;
  return { what: 'machine', isFine: true, text };
}

export async function examineRuntime(): Promise<{ finding: Finding; runtime: RuntimeInfo | null }> {
  const what = 'onnxruntime';
  try {
    const runtime = await describeRuntime();
    const providers = runtime.providers.map(({ name, isBundled }) => (isBundled ? name : `${name} (not bundled)`));
    const text = `${runtime.version} with ${providers.join(', ')}; its files are in ${runtime.folder}`;
    return { finding: { what, isFine: true, text }, runtime };
  } catch (error) {
    const text = `does not load: ${describeError(error)}`;
    return { finding: { what, isFine: false, text, fix: 'npm ci' }, runtime: null };
  }
}

export async function examineGpu(runtime: RuntimeInfo | null): Promise<Finding[]> {
  const { names, driver } = await findDevices();
  const device: Finding = {
    what: 'gpu',
    isFine: names.length > 0 || driver !== null,
    text: names.length > 0 ? names.join('; ') : 'none found; the CPU evaluates',
  };
  if (driver === null) return [device];
  const findings: Finding[] = [device, { what: 'driver', isFine: true, text: `NVIDIA ${driver}` }];
  const archive = CUDA_ARCHIVES[`${process.platform}-${process.arch}`];
  if (archive === undefined || runtime === null) return findings;
  const provider = join(runtime.folder, archive.files[0]);
  const isInstalled = existsSync(provider) && statSync(provider).size > 0;
  findings.push({
    what: 'cuda files',
    isFine: isInstalled,
    text: isInstalled ? provider : `onnxruntime's CUDA provider is not in ${runtime.folder}`,
    ...(isInstalled ? {} : { fix: INSTALL_CUDA }),
  });
  const missing = await findMissingLibraries(archive.libraries);
  const isComplete = missing.length === 0;
  findings.push({
    what: 'cuda libs',
    isFine: isComplete,
    text: isComplete ? archive.libraries.join(', ') : `not found by the loader: ${missing.join(', ')}`,
    ...(isComplete
      ? {}
      : { fix: `python3 -m pip install ${archive.packages}, then put their lib folders into LD_LIBRARY_PATH` }),
  });
  return findings;
}

export async function examineNetworks(): Promise<Finding[]> {
  const findings = [await examineUsedNetwork(), examineBundle()];
  const found = (await Promise.all(listDiscoveryFolders(getProgramFolder()).map(listNetworks))).flat();
  if (found.length > 0) findings.push({ what: 'networks', isFine: true, text: `for --weights: ${found.join(', ')}` });
  return findings;
}

/** The one that the engine would play with, config files included. */
async function examineUsedNetwork(): Promise<Finding> {
  const what = 'network';
  const { options } = unwrap(readSettings([]));
  if (isFileless(options)) return { what, isFine: true, text: `none, the backend is ${options.getString('Backend')}` };
  const network = await resolveNetwork(options);
  if (!network.ok) return { what, isFine: false, text: network.error };
  const { path, reason } = network.value;
  const remote = findRemoteNetwork(options.getString('WeightsFile'));
  if (remote?.ok && remote.value.path === path && !isDownloaded(remote.value)) {
    const { name } = remote.value;
    const text = `${name} is not on this machine; the first game downloads it`;
    return { what, isFine: true, text, fix: `${getProgramCommand()} networks get ${name}` };
  }
  if (!path.startsWith('<') && !existsSync(path)) return { what, isFine: false, text: `there is no file ${path}` };
  return { what, isFine: true, text: reason.includes(path) ? reason : `${reason}\n${path}` };
}

/** Which backend gets which network. A file that was changed after release still plays, but its strength is unknown. */
function examineBundle(): Finding {
  const networks = listBundledNetworks().map((network) => {
    const { file, precision, backends, sha256 } = network;
    const bytes = readProgramFile(`models/${file}`) ?? new Uint8Array();
    const isSame = createHash('sha256').update(bytes).digest('hex') === sha256;
    const size = `${formatMegabytes(bytes.length)} MB`;
    return {
      isSame,
      text: `${backends.join(', ') || `--weights=${getNetworkName(network)}`}: ${file} (${precision}, ${size}${isSame ? '' : ', not as shipped'})`,
    };
  });
  const isFine = networks.length > 0 && networks.every(({ isSame }) => isSame);
  return { what: 'bundled', isFine, text: networks.map(({ text }) => text).join('\n') || 'no network' };
}

export function examineConfig(): Finding {
  const { found, faults } = unwrap(readSettings([]));
  if (found.length === 0) return { what: 'config', isFine: true, text: 'no lc0.config or sardonyx.config' };
  const paths = found.map((path) => resolve(path)).join(', ');
  return { what: 'config', isFine: faults.length === 0, text: [paths, ...faults].join('\n') };
}

export function examineCaches(): Finding {
  const described = listCacheFolders()
    .filter((folder) => existsSync(folder))
    .map((folder) => `${folder} (${formatMegabytes(measureFolder(folder))} MB)`);
  return { what: 'caches', isFine: true, text: described.join('\n') || 'empty' };
}

function measureFolder(folder: string): number {
  const sizeOf = (name: string): number => {
    try {
      const info = statSync(join(folder, name));
      return info.isFile() ? info.size : 0;
    } catch {
      return 0;
    }
  };
  return readdirSync(folder, { recursive: true, encoding: 'utf8' }).reduce((sum, name) => sum + sizeOf(name), 0);
}
