/**
 * Finds and reads the network that WeightsFile names: an ONNX file, an lc0 file, which is converted, or the bundled network.
 * The code for lc0's files is loaded only if needed. As with lc0, a network file beside an executable is preferred to the one
 * inside it.
 */
import { createHash } from 'node:crypto';
import { existsSync, statSync } from 'node:fs';
import { dirname, isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeReadFailure, getFileName, readFile } from '#platform/files.js';
import { getProgramFolder, isPackaged, readProgramFile } from '#platform/program-files.js';
import { isStrengthLimited, LEVELS_NETWORK } from '../engine/options.js';
import {
  getBackendName,
  isFilelessBackend,
  loadModel,
  type ModelEdition,
  type ModelSource,
  type NetworkChoice,
  parseNetworkChoice,
  readPrecision,
} from '../nn/index.js';
import type { OptionStore } from '../options/index.js';
import { failure, inflate, type Result, success, unwrap } from '../util/index.js';
import {
  type Bundle,
  type BundledNetwork,
  findBundledNetwork,
  getNetworkName,
  readBundle,
} from './bundled-networks.js';
import { findRemoteNetwork, isDownloaded } from './network-catalogue.js';
import { createUnmeasured, type NetworkSelection, networkSelector } from './network-selection.js';

/** What WeightsFile holds if the user names no network; `default` is what people type for it. */
const UNNAMED = ['', '<autodiscover>', 'default'];
/** lc0's name of a network inside the executable. */
export const BUILT_IN = '<built in>';

/**
 * The file that WeightsFile names for a provider, or `<built in>`. Autodiscovery searches lc0's places: the program's own
 * folder first, where the bundled network counts as found, then the data folders of lc0. A name of the catalogue, or an
 * address, gives the path in the cache, whether the network has been downloaded or not. The first call on a machine may
 * measure networks, to choose between them.
 */
export async function resolveNetworkFile(
  options: OptionStore,
  provider = getFirstProvider(options),
): Promise<Result<string>> {
  const weightsFile = options.getString('WeightsFile');
  const discovers = UNNAMED.includes(weightsFile);
  if (!discovers && weightsFile !== BUILT_IN) return findNamedFile(weightsFile);
  const beside = discovers && isPackaged ? await discover('program') : undefined;
  if (beside !== undefined) return success(beside);
  const bundled = await findBundledFile(options, provider);
  if (bundled !== null) return success(locateBundled(bundled));
  const discovered = discovers ? await discover('everywhere') : undefined;
  if (discovered !== undefined) return success(discovered);
  return failure('No network is bundled and none was found: name one with --weights');
}

/** Where a network of the program is, by its path in the program. */
function locateBundled(name: string): string {
  return isPackaged ? BUILT_IN : join(getProgramFolder(), name);
}

function isForeignFile(path: string): boolean {
  return dirname(path) !== join(getProgramFolder(), 'models');
}

/** The bytes of a network inside the executable; null if `path` is a file on disk. */
export async function readBuiltIn(
  path: string,
  options: OptionStore,
  provider = getFirstProvider(options),
): Promise<Extract<ModelSource, { bytes: Uint8Array }> | null> {
  const name = path === BUILT_IN ? await findBundledFile(options, provider) : null;
  const bytes = name === null ? null : readProgramFile(name);
  return name === null || bytes === null ? null : { bytes, name };
}

/** Identifies a network by its content, not by the name of its file. */
interface NetworkIdentity {
  readonly path: string;
  readonly sizeBytes: number;
  /** Of the file, in hexadecimal. */
  readonly sha256: string;
}

/** Rejects with one sentence for the user if the network cannot be found or read. */
export async function identifyNetwork(options: OptionStore): Promise<NetworkIdentity> {
  const path = unwrap(await resolveNetworkFile(options));
  const missing = describeMissing(options, path);
  if (missing !== null) throw new Error(missing);
  const bytes = (await readBuiltIn(path, options))?.bytes ?? (await readNetwork(path));
  return { path, sizeBytes: bytes.byteLength, sha256: computeSha256(bytes) };
}

function computeSha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Rejects with a sentence for the user. */
async function readNetwork(path: string): Promise<Uint8Array> {
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

export function isFileless(options: OptionStore): boolean {
  return isFilelessBackend(options.getString('Backend'));
}

/** Looks in the program's own folder, then in lc0's places. */
async function discover(where: 'program' | 'everywhere'): Promise<string | undefined> {
  const { discoverNetwork, listDiscoveryFolders } = await import('./discover-networks.js');
  const folders = listDiscoveryFolders(getProgramFolder());
  return discoverNetwork(where === 'program' ? folders.slice(0, 1) : folders);
}

/** The bundled network that WeightsFile names, or else the one for a provider, by its path in the program. */
async function findBundledFile(options: OptionStore, provider: string): Promise<string | null> {
  const bundle = readBundle();
  const named = mayTakeBundled(options)
    ? undefined
    : findBundledNetwork(bundle.networks, options.getString('WeightsFile'));
  const network = named ?? (await selectBundledNetwork(options, provider, bundle))?.network;
  return network === undefined ? null : getProgramPath(network);
}

function getProgramPath({ file }: BundledNetwork): string {
  return `models/${file}`;
}

/**
 * Whether the bundled network must be the one whose levels of limited strength were measured: where the choice is the CPU's and the
 * user has named neither a network nor a precision.
 */
export function needsMeasuredLevels(options: OptionStore, provider = getFirstProvider(options)): boolean {
  const choice = parseNetworkChoice(options.getString('BackendOptions'));
  const isFree = choice.ok && choice.value.precision === undefined && mayTakeBundled(options);
  return isFree && provider === 'cpu' && isStrengthLimited(options);
}

function mayTakeBundled(options: OptionStore): boolean {
  return [...UNNAMED, BUILT_IN].includes(options.getString('WeightsFile'));
}

/**
 * The bundled network for a provider. `datatype` in the backend options comes first; `datatype=f16` counts for the named device only: a
 * CPU that replaces it takes its own network. Limited strength on a CPU takes the network whose levels were measured.
 * @returns null when nothing is bundled
 */
export function selectBundledNetwork(
  options: OptionStore,
  provider = getFirstProvider(options),
  bundle: Bundle = readBundle(),
): Promise<NetworkSelection | null> {
  const measured = needsMeasuredLevels(options, provider) && findBundledNetwork(bundle.networks, LEVELS_NETWORK);
  if (measured) return Promise.resolve(createUnmeasured(measured));
  const choice = parseNetworkChoice(options.getString('BackendOptions'));
  const asked = choice.ok ? choice.value.precision : undefined;
  const precision = asked === 'f16' && provider !== getFirstProvider(options) ? undefined : asked;
  return networkSelector.select(bundle, provider, precision?.replace('f', 'fp') ?? '');
}

/** Why the options give this network; '' where there is nothing to explain. */
export async function explainNetwork(options: OptionStore): Promise<string> {
  if (isFileless(options)) return '';
  if (!mayTakeBundled(options)) return `${options.getString('WeightsFile')}, as WeightsFile says`;
  const path = await resolveNetworkFile(options);
  const selection = await selectBundledNetwork(options);
  if (selection === null || !path.ok || path.value !== locateBundled(getProgramPath(selection.network))) {
    return path.ok ? `found at ${path.value}` : '';
  }
  const { network, candidates, problem } = selection;
  return `${getNetworkName(network)}, ${explainSelection(needsMeasuredLevels(options), candidates.length, problem)}`;
}

function explainSelection(isForLevels: boolean, candidates: number, problem: string | null): string {
  if (isForLevels) return 'with which the levels of limited strength were measured';
  if (problem !== null) return `the first of the bundled networks, because their speeds are not known: ${problem}`;
  if (candidates < 2) return 'the bundled network for this backend';
  return `the strongest of ${candidates} bundled networks at the speeds measured on this machine`;
}

/** The provider that the options' backend tries first; `cpu` for invalid options, which loading the network reports. */
function getFirstProvider(options: OptionStore): string {
  const name = getBackendName(options.getString('Backend'), options.getString('BackendOptions'));
  return name.ok ? name.value : 'cpu';
}

type Edition = Pick<ModelEdition, 'precision'> & { readonly provider: string };

/**
 * The edition of the network that suits a device. The file is read once; an ONNX model is converted if possible.
 * @param isIdentified also compute the hash of the file, which takes time for a large one
 * @param onWarning is told why a network is not in the precision that was asked for
 */
export async function findModel(
  options: OptionStore,
  { provider, precision }: Edition = { provider: getFirstProvider(options), precision: 'f32' },
  isIdentified = false,
  onWarning: (text: string) => void = () => undefined,
): Promise<Result<ModelSource>> {
  const path = await resolveNetworkFile(options, provider);
  if (!path.ok) return path;
  const missing = describeMissing(options, path.value);
  if (missing !== null) return failure(missing);
  const choice = parseNetworkChoice(options.getString('BackendOptions'));
  if (!choice.ok) return choice;
  const { winograd, ...heads } = choice.value;
  const edition = { provider, winograd: winograd !== false };
  if (precision !== 'int8') return findExact(options, path.value, heads, { ...edition, precision }, isIdentified);
  return findInt8(options, path.value, heads, { ...edition, precision: 'f32' }, onWarning);
}

async function findExact(
  options: OptionStore,
  path: string,
  heads: Heads,
  edition: WantedEdition,
  isIdentified: boolean,
): Promise<Result<ModelSource>> {
  const { provider } = edition;
  const builtIn = await readBuiltIn(path, options, provider);
  if (builtIn === null && (await isLc0File(path))) return loadLc0(path, heads, edition);
  try {
    const { bytes, name } = builtIn ?? { bytes: await readNetwork(path), name: describePath(path) };
    const fileSha256 = isIdentified ? computeSha256(bytes) : undefined;
    const inflated = await inflate(bytes);
    if (!inflated.ok) return failure(`Cannot read the network ${name}: ${inflated.error}`);
    const isForeign = builtIn === null && isForeignFile(path);
    return success({ bytes: await adaptOnnx(inflated.value, edition), name, fileSha256, isForeign });
  } catch (error) {
    return failure((error as Error).message);
  }
}

/** The network in 8 bits; where they gain nothing, in single precision. A file that is in 8 bits or in halves stays as it is. */
async function findInt8(
  options: OptionStore,
  path: string,
  heads: Heads,
  edition: WantedEdition,
  onWarning: (text: string) => void,
): Promise<Result<ModelSource>> {
  const builtIn = await readBuiltIn(path, options, edition.provider);
  let fileSha256: string;
  try {
    const bytes = builtIn?.bytes ?? (await readNetwork(path));
    fileSha256 = computeSha256(bytes);
    if (builtIn !== null || !(await isLc0File(path))) {
      const inflated = await inflate(bytes);
      if (!inflated.ok || readPrecision(inflated.value) !== 'fp32')
        return findExact(options, path, heads, edition, true);
    }
  } catch (error) {
    return failure((error as Error).message);
  }
  const findEdition = async (form: Partial<WantedEdition>): Promise<Result<Int8Source>> => {
    const found = await findExact(options, path, heads, { ...edition, ...form }, true);
    if (!found.ok || !('path' in found.value)) return found as Result<Int8Source>;
    return failure(`Cannot read the network ${path}`);
  };
  const { loadInt8Network } = await import('../lc0/index.js');
  const int8 = await loadInt8Network({
    key: [fileSha256, heads.policyHead ?? '', heads.valueHead ?? '', String(edition.winograd)],
    plain: async () => {
      const plain = await findEdition({ isForInt8: true });
      return plain.ok ? success(plain.value.bytes) : plain;
    },
    fastest: async () => {
      const exact = await findEdition({});
      return exact.ok ? success({ onnx: exact.value.bytes, weightsFolder: exact.value.weightsFolder }) : exact;
    },
  });
  if (!int8.ok) return int8;
  const { onnx, report } = int8.value;
  const isForeign = builtIn === null && isForeignFile(path);
  if (onnx !== undefined) return success({ bytes: onnx, name: builtIn?.name ?? describePath(path), fileSha256, isForeign });
  onWarning(report);
  return findEdition({});
}

/** Why a file cannot be used as a network, in one sentence; null if it can. */
export async function findDamage(path: string): Promise<string | null> {
  const edition: WantedEdition = { provider: 'cpu', winograd: true, precision: 'f32' };
  const source = (await isLc0File(path)) ? await loadLc0(path, {}, edition) : success({ path });
  const model = source.ok ? await loadModel(source.value) : source;
  return model.ok ? null : model.error;
}

/** What 8 bits give for the network of the options on this CPU, and how far its answers are from single precision: one sentence. */
export async function describeInt8(options: OptionStore): Promise<Result<string>> {
  let refusal = 'the file is not in single precision, so datatype=int8 leaves it as it is';
  const found = await findModel(options, { provider: 'cpu', precision: 'int8' }, false, (text) => {
    refusal = text;
  });
  if (!found.ok) return found;
  const { readInt8Report } = await import('../lc0/index.js');
  return success(('bytes' in found.value ? readInt8Report(found.value.bytes) : undefined) ?? refusal);
}

type Int8Source = Extract<ModelSource, { bytes: Uint8Array }>;

/** Recognises lc0's networks by content, because their names often have no extension. */
async function isLc0File(path: string): Promise<boolean> {
  if (/\.onnx(\.gz)?$/i.test(path)) return false;
  if (/\.pb(\.gz)?$/i.test(path)) return true;
  const { isNetworkFile } = await import('./discover-networks.js');
  return isNetworkFile(path);
}

interface WantedEdition {
  readonly provider: string;
  readonly precision: 'f16' | 'f32';
  /** Whether convolutions may be in a form for this CPU alone. */
  readonly winograd: boolean;
  /** Whether the network is to be rounded to 8 bits: its tower stays as it is, and all weights are in the model. */
  readonly isForInt8?: boolean;
}
type Heads = Pick<NetworkChoice, 'policyHead' | 'valueHead'>;

async function loadLc0(path: string, heads: Heads, edition: WantedEdition): Promise<Result<ModelSource>> {
  const { LARGE_WEIGHT_BYTES, loadLc0Network } = await import('../lc0/index.js');
  const network = await loadLc0Network(path, {
    ...heads,
    precision: edition.precision,
    channelBlock: await chooseChannelBlock(edition),
    ...(edition.isForInt8 ? { cacheFolder: null, keepsTower: true } : { weightsFileAboveBytes: LARGE_WEIGHT_BYTES }),
  });
  if (!network.ok) return network;
  const { onnx, weightsFolder, fileSha256 } = network.value;
  return success({ bytes: onnx, name: path, weightsFolder, fileSha256 });
}

function mayConvolveInBlocks({ provider, precision, winograd }: WantedEdition): boolean {
  return winograd && precision === 'f32' && provider === 'cpu';
}

async function chooseChannelBlock(edition: WantedEdition): Promise<number> {
  if (!mayConvolveInBlocks(edition)) return 0;
  const { findChannelBlock } = await import('../onnx/index.js');
  return findChannelBlock();
}

/** Converts an ONNX file for an edition. @returns the file itself when it needs no change or cannot be changed */
async function adaptOnnx(bytes: Uint8Array, edition: WantedEdition): Promise<Uint8Array> {
  if (edition.precision === 'f32' && !mayConvolveInBlocks(edition)) return bytes;
  // Finding the channel block takes longer than reading a file.
  if (readPrecision(bytes) === 'int8') return bytes;
  const channelBlock = await chooseChannelBlock(edition);
  if (edition.precision === 'f32' && channelBlock === 0) return bytes;
  const { halveModel } = await import('../onnx/index.js');
  const { rebuildOnnx } = await import('../lc0/index.js');
  if (channelBlock === 0) return halveModel(bytes) ?? bytes;
  return (
    (await (edition.isForInt8 ? rebuildOnnx(bytes, channelBlock, null, true) : rebuildOnnx(bytes, channelBlock))) ??
    bytes
  );
}

/** A sentence for a network that has not been downloaded yet; null for all others. */
function describeMissing(options: OptionStore, path: string): string | null {
  const remote = existsSync(path) ? null : findRemoteNetwork(options.getString('WeightsFile'));
  if (!remote?.ok || remote.value.path !== path || isDownloaded(remote.value)) return null;
  const { name } = remote.value;
  return `The network ${name} is not on this machine: sardonyx networks get ${name} downloads it`;
}

/** A file comes before a bundled network or one of the catalogue that has the same name. */
function findNamedFile(weightsFile: string): Result<string> {
  if (weightsFile.startsWith('blob:')) return success(weightsFile);
  if (/^file:\/\//i.test(weightsFile)) return findFileOfUrl(weightsFile);
  const path = findBesideProgram(weightsFile);
  if (existsSync(path)) return requireNetworkFile(path);
  const bundled = findBundledNetwork(readBundle().networks, weightsFile);
  if (bundled !== undefined) return success(locateBundled(getProgramPath(bundled)));
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
