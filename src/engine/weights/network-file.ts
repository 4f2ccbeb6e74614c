/**
 * Finds and reads the network that WeightsFile names: an ONNX file, an lc0 file, which is converted, or the bundled network.
 * The code for lc0's files is loaded only if needed. As with lc0, a network file beside an executable is preferred to the one
 * inside it.
 */
import { existsSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { computeSha256 } from '#platform/byte-streams.js';
import { describeReadFailure, getFileName, readFile } from '#platform/files.js';
import { getProgramCommand } from '#platform/machine.js';
import { getProgramFolder, getProgramPath, isPackaged, readProgramFile } from '#platform/program-files.js';
import type { OptionStore } from '../../base/options/index.js';
import { failure, inflate, type Result, success, unwrap } from '../../base/util/index.js';
import {
  getBackendName,
  isFilelessBackend,
  loadModel,
  type ModelEdition,
  type ModelSource,
  type NetworkChoice,
  parseNetworkChoice,
  readPrecision,
} from '../../networks/nn/index.js';
import { isStrengthLimited, LEVELS_NETWORK } from '../core/options.js';
import {
  AUTOMATIC_NETWORK,
  type BundledNetwork,
  chooseNetwork,
  findBundledNetwork,
  getNetworkName,
  listBundledNetworks,
} from './bundled-networks.js';
import { findRemoteNetwork, isDownloaded } from './network-catalogue.js';

/** What WeightsFile holds if the user names no network. */
const UNNAMED = ['', '<autodiscover>', AUTOMATIC_NETWORK];
/** lc0's name of a network inside the executable. */
export const BUILT_IN = '<built in>';

/** Whether a word is the name of a network that comes with the program or can be downloaded, or its address. */
export function isNetworkName(word: string): boolean {
  return findBundledNetwork(listBundledNetworks(), word) !== undefined || findRemoteNetwork(word) !== null;
}

/** The network that the options name, for one provider. It is resolved once, for all that load, name, identify or explain it. */
export interface ResolvedNetwork {
  /** Its file, or `<built in>`. */
  readonly path: string;
  /** Of a network inside the executable: its path in the program; null for a file on disk. */
  readonly builtIn: string | null;
  /** Of onnxruntime. */
  readonly provider: string;
  /** What the backend options say of the network; nothing if they are invalid, which loading reports. */
  readonly choice: NetworkChoice;
  /** Why this network was chosen, for the user. */
  readonly reason: string;
  /** Why it cannot be read, in one sentence; null if it is there. */
  readonly missing: string | null;
}

/**
 * Autodiscovery searches lc0's places: the program's own folder first, where the bundled network counts as found, then the data
 * folders of lc0. A name of the catalogue, or an address, gives the path in the cache, whether the network has been downloaded or
 * not.
 */
export async function resolveNetwork(
  options: OptionStore,
  provider = getFirstProvider(options),
): Promise<Result<ResolvedNetwork>> {
  const weightsFile = options.getString('WeightsFile');
  const choice = readChoice(options) ?? {};
  const asFile = (path: string, reason: string): Result<ResolvedNetwork> =>
    success({ path, builtIn: null, provider, choice, reason, missing: describeMissing(weightsFile, path) });
  const asBundled = (network: BundledNetwork, reason: string): Result<ResolvedNetwork> => {
    const inProgram = `models/${network.file}`;
    if (!isPackaged) return asFile(getProgramPath(inProgram), reason);
    return success({ path: BUILT_IN, builtIn: inProgram, provider, choice, reason, missing: null });
  };
  const bundled = listBundledNetworks();
  if (!mayTakeBundled(options)) {
    const named = findNamedFile(weightsFile, bundled);
    const reason = `${weightsFile}, as WeightsFile says`;
    if (!named.ok) return named;
    return typeof named.value === 'string' ? asFile(named.value, reason) : asBundled(named.value, reason);
  }
  const discovers = weightsFile !== BUILT_IN;
  const beside = discovers && isPackaged ? await discover('program') : undefined;
  if (beside !== undefined) return asFile(beside, `found at ${beside}`);
  const network = chooseBundledNetwork(options, provider, choice, bundled);
  if (network !== undefined) {
    const why = needsMeasuredLevels(options)
      ? 'with which the levels of limited strength were measured'
      : `the bundled network for ${describeUse(network, provider, choice, bundled)}`;
    return asBundled(network, `${getNetworkName(network)}, ${why}`);
  }
  const discovered = discovers ? await discover('everywhere') : undefined;
  if (discovered !== undefined) return asFile(discovered, `found at ${discovered}`);
  return failure('No network is bundled and none was found: name one with --weights');
}

/** Rejects with a sentence for the user. */
export async function readNetwork({ path, builtIn, missing }: ResolvedNetwork): Promise<Uint8Array> {
  if (missing !== null) throw new Error(missing);
  if (builtIn !== null) return readProgramFile(builtIn) ?? unwrap(failure(`There is no file ${builtIn}`));
  try {
    return await readFile(path);
  } catch (error) {
    throw new Error(`Cannot read the network ${describePath(path)}: ${describeReadFailure(error)}`);
  }
}

/** For messages: content in memory by its name, not by the address that we gave it. */
function describePath(path: string): string {
  return path.startsWith('blob:') ? getFileName(path) : path;
}

function getSourceName({ path, builtIn }: ResolvedNetwork): string {
  return builtIn ?? describePath(path);
}

/** Whether the network is one of the program's own files. */
export function isBundled({ path, builtIn }: ResolvedNetwork): boolean {
  return builtIn !== null || path === getProgramPath(`models/${getFileName(path)}`);
}

/** The program's own files need no check. */
function describeOrigin(network: ResolvedNetwork): { isForeign: true } | { isChecked: true } {
  return isBundled(network) ? { isChecked: true } : { isForeign: true };
}

export function isFileless(options: OptionStore): boolean {
  return isFilelessBackend(options.getString('Backend'));
}

/** Looks in the program's own folder, then in lc0's places. */
async function discover(where: 'program' | 'everywhere'): Promise<string | undefined> {
  const { discoverNetwork, listDiscoveryFolders } = await import('./discover-network.js');
  const folders = listDiscoveryFolders(getProgramFolder());
  return discoverNetwork(where === 'program' ? folders.slice(0, 1) : folders);
}

/**
 * Whether the bundled network must be the one whose levels of limited strength were measured: where the user has named neither a
 * network nor a precision.
 */
export function needsMeasuredLevels(options: OptionStore): boolean {
  const choice = readChoice(options);
  const isFree = choice !== null && choice.precision === undefined && mayTakeBundled(options);
  return isFree && isStrengthLimited(options);
}

/** What the backend options say of the network; null if they are invalid. */
function readChoice(options: OptionStore): NetworkChoice | null {
  const choice = parseNetworkChoice(options.getString('BackendOptions'));
  return choice.ok ? choice.value : null;
}

function mayTakeBundled(options: OptionStore): boolean {
  return [...UNNAMED, BUILT_IN].includes(options.getString('WeightsFile'));
}

/**
 * The bundled network for a provider. `datatype` in the backend options decides first. `datatype=f16` is for the device that `--backend`
 * names: if it fails, the CPU takes its own network. Limited strength takes the network whose levels were measured.
 * @returns undefined when nothing is bundled
 */
function chooseBundledNetwork(
  options: OptionStore,
  provider: string,
  { precision }: NetworkChoice,
  bundled: readonly BundledNetwork[],
): BundledNetwork | undefined {
  const measured = needsMeasuredLevels(options) && findBundledNetwork(bundled, LEVELS_NETWORK);
  if (measured) return measured;
  const isForOther = precision === 'f16' && provider !== getFirstProvider(options);
  return chooseNetwork(bundled, provider, isForOther ? '' : (precision?.replace('f', 'fp') ?? ''));
}

/** What the network was chosen for. */
function describeUse(
  network: BundledNetwork,
  provider: string,
  { precision }: NetworkChoice,
  bundled: readonly BundledNetwork[],
): string {
  const processor = bundled.find(({ backends }) => backends.includes(provider))?.processor;
  if (processor === undefined || precision !== undefined) return 'this backend';
  return `CPUs ${network.processor === processor ? 'with' : 'without'} ${processor}`;
}

/** The provider that the options' backend tries first; `cpu` for invalid options, which loading the network reports. */
function getFirstProvider(options: OptionStore): string {
  const name = getBackendName(options.getString('Backend'), options.getString('BackendOptions'));
  return name.ok ? name.value : 'cpu';
}

interface LoadSettings {
  /** Also compute the hash of the file, which takes time for a large one. */
  readonly isIdentified?: boolean;
  /** Is told why a network is not in the precision that was asked for. */
  readonly onWarning?: (text: string) => void;
}

/** The network of the options in the edition that suits a device, from a file that is read once; an ONNX model is converted if possible. */
export async function findModel(
  options: OptionStore,
  { provider, precision }: ModelEdition = {
    provider: getFirstProvider(options) as ModelEdition['provider'],
    precision: 'f32',
  },
  settings: LoadSettings = {},
): Promise<Result<ModelSource>> {
  const network = await resolveNetwork(options, provider);
  return network.ok ? loadNetwork(network.value, precision, settings) : network;
}

/** As findModel, of a network that has been found. */
export async function loadNetwork(
  network: ResolvedNetwork,
  precision: ModelEdition['precision'],
  { isIdentified = false, onWarning = () => undefined }: LoadSettings = {},
): Promise<Result<ModelSource>> {
  if (network.missing !== null) return failure(network.missing);
  return precision === 'int8' ? findInt8(network, onWarning) : findExact(network, { precision, isIdentified });
}

interface ExactForm {
  readonly precision: 'f16' | 'f32';
  /** As in LoadSettings. */
  readonly isIdentified?: boolean;
  /** Whether the network is to be rounded to 8 bits: its tower stays as it is, and all weights are in the model. */
  readonly isForInt8?: boolean;
}

async function findExact(network: ResolvedNetwork, form: ExactForm): Promise<Result<ModelSource>> {
  if (network.builtIn === null && (await isLc0File(network.path))) return loadLc0(network, form);
  const name = getSourceName(network);
  try {
    const bytes = await readNetwork(network);
    const fileSha256 = form.isIdentified ? await computeSha256([bytes]) : undefined;
    const inflated = await inflate(bytes);
    if (!inflated.ok) return failure(`Cannot read the network ${name}: ${inflated.error}`);
    const adapted = await adaptOnnx(inflated.value, network, form);
    return success({ bytes: adapted, name, fileSha256, ...describeOrigin(network) });
  } catch (error) {
    return failure((error as Error).message);
  }
}

/** The network in 8 bits; where they gain nothing, in single precision. A file that is in 8 bits or in halves stays as it is. */
async function findInt8(network: ResolvedNetwork, onWarning: (text: string) => void): Promise<Result<ModelSource>> {
  const { path, builtIn, choice } = network;
  const exact: ExactForm = { precision: 'f32', isIdentified: true };
  let fileSha256: string;
  try {
    const bytes = await readNetwork(network);
    fileSha256 = await computeSha256([bytes]);
    if (builtIn !== null || !(await isLc0File(path))) {
      const inflated = await inflate(bytes);
      if (!inflated.ok || readPrecision(inflated.value) !== 'fp32') return findExact(network, exact);
    }
  } catch (error) {
    return failure((error as Error).message);
  }
  const { loadInt8Network } = await import('../../networks/lc0/index.js');
  const int8 = await loadInt8Network({
    key: [fileSha256, choice.policyHead ?? '', choice.valueHead ?? '', String(choice.winograd !== false)],
    plain: () => findExact(network, { ...exact, isForInt8: true }),
    fastest: () => findExact(network, exact),
  });
  if (!int8.ok) return int8;
  const { onnx, report } = int8.value;
  if (onnx !== undefined) {
    return success({ bytes: onnx, name: getSourceName(network), fileSha256, ...describeOrigin(network) });
  }
  onWarning(report);
  return findExact(network, exact);
}

/** Why a file cannot be used as a network, in one sentence; null if it can. */
export async function findDamage(path: string): Promise<string | null> {
  const network: ResolvedNetwork = { path, builtIn: null, provider: 'cpu', choice: {}, reason: '', missing: null };
  const source = await findExact(network, { precision: 'f32' });
  const model = source.ok ? await loadModel(source.value) : source;
  return model.ok ? null : model.error;
}

/** What 8 bits give for the network of the options on this CPU, and how far its answers are from single precision: one sentence. */
export async function describeInt8(options: OptionStore): Promise<Result<string>> {
  let refusal = 'the file is not in single precision, so datatype=int8 leaves it as it is';
  const onWarning = (text: string): void => {
    refusal = text;
  };
  const found = await findModel(options, { provider: 'cpu', precision: 'int8' }, { onWarning });
  if (!found.ok) return found;
  const { readInt8Report } = await import('../../networks/lc0/index.js');
  return success(readInt8Report(found.value.bytes) ?? refusal);
}

/** Recognises lc0's networks by content, because their names often have no extension. */
async function isLc0File(path: string): Promise<boolean> {
  if (/\.onnx(\.gz)?$/i.test(path)) return false;
  if (/\.pb(\.gz)?$/i.test(path)) return true;
  const { isNetworkFile } = await import('./discover-network.js');
  return isNetworkFile(path);
}

async function loadLc0(network: ResolvedNetwork, { precision, isForInt8 }: ExactForm): Promise<Result<ModelSource>> {
  const { path, choice } = network;
  const { LARGE_WEIGHT_BYTES, loadLc0Network } = await import('../../networks/lc0/index.js');
  const loaded = await loadLc0Network(path, {
    policyHead: choice.policyHead,
    valueHead: choice.valueHead,
    precision,
    channelBlock: await chooseChannelBlock(network, precision),
    ...(isForInt8 ? { cacheFolder: null, keepsTower: true } : { weightsFileAboveBytes: LARGE_WEIGHT_BYTES }),
  });
  if (!loaded.ok) return failure(loaded.error.replaceAll(path, describePath(path)));
  const { onnx, weightsFolder, fileSha256, info } = loaded.value;
  // The file may hold an ONNX model of a stranger; every other one is of our making.
  const origin = info.parameters === null ? { isForeign: true } : { isChecked: true as const };
  return success({ bytes: onnx, name: describePath(path), weightsFolder, fileSha256, ...origin });
}

/** Whether convolutions may be in a form for this CPU alone. */
function mayConvolveInBlocks({ provider, choice }: ResolvedNetwork, precision: ExactForm['precision']): boolean {
  return choice.winograd !== false && precision === 'f32' && provider === 'cpu';
}

async function chooseChannelBlock(network: ResolvedNetwork, precision: ExactForm['precision']): Promise<number> {
  if (!mayConvolveInBlocks(network, precision)) return 0;
  const { findChannelBlock } = await import('../../networks/onnx/index.js');
  return findChannelBlock();
}

/** Converts an ONNX file for a device. @returns the file itself when it needs no change or cannot be changed */
async function adaptOnnx(
  bytes: Uint8Array,
  network: ResolvedNetwork,
  { precision, isForInt8 }: ExactForm,
): Promise<Uint8Array> {
  if (precision === 'f32' && !mayConvolveInBlocks(network, precision)) return bytes;
  // Finding the channel block takes longer than reading a file.
  if (readPrecision(bytes) === 'int8') return bytes;
  const channelBlock = await chooseChannelBlock(network, precision);
  if (precision === 'f32' && channelBlock === 0) return bytes;
  const { halveModel } = await import('../../networks/onnx/index.js');
  const { rebuildOnnx } = await import('../../networks/lc0/index.js');
  if (channelBlock === 0) return halveModel(bytes) ?? bytes;
  return (await rebuildOnnx(bytes, channelBlock, isForInt8 ? null : undefined, isForInt8)) ?? bytes;
}

/** A sentence for a network that has not been downloaded yet; null for all others. */
function describeMissing(weightsFile: string, path: string): string | null {
  const remote = existsSync(path) ? null : findRemoteNetwork(weightsFile);
  if (!remote?.ok || remote.value.path !== path || isDownloaded(remote.value)) return null;
  const { name } = remote.value;
  return `The network ${name} is not on this machine: ${getProgramCommand()} networks get ${name} downloads it`;
}

/** A file comes before a bundled network or one of the catalogue that has the same name. @returns a path, or the bundled network */
function findNamedFile(weightsFile: string, networks: readonly BundledNetwork[]): Result<string | BundledNetwork> {
  if (weightsFile.startsWith('blob:')) return success(weightsFile);
  if (/^file:\/\//i.test(weightsFile)) return findFileOfUrl(weightsFile);
  const path = findBesideProgram(weightsFile);
  if (existsSync(path)) return requireNetworkFile(path);
  const bundled = findBundledNetwork(networks, weightsFile);
  if (bundled !== undefined) return success(bundled);
  const remote = findRemoteNetwork(weightsFile);
  return remote?.ok === false ? remote : success(remote?.value.path ?? path);
}

/** The largest networks of lc0 take less than a gigabyte. */
const MOST_NETWORK_BYTES = 2 ** 31;

/** A device or a pipe may have no end. */
function requireNetworkFile(path: string): Result<string> {
  const stats = statSync(path);
  if (!stats.isFile() && !stats.isDirectory()) return failure(`The network ${path} is no regular file`);
  if (stats.size > MOST_NETWORK_BYTES) return failure(`The network ${path} is larger than 2 GB`);
  return success(path);
}

function findFileOfUrl(address: string): Result<string> {
  try {
    const path = fileURLToPath(address);
    return existsSync(path) ? requireNetworkFile(path) : success(path);
  } catch {
    return failure(`${address} is not the address of a file`);
  }
}

/** A GUI may start an executable in any folder, so a name that is not found there is searched beside the executable. */
function findBesideProgram(path: string): string {
  if (!isPackaged || isAbsolute(path) || existsSync(path)) return path;
  const beside = join(getProgramFolder(), path);
  return existsSync(beside) ? beside : path;
}
