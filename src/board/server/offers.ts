/**
 * What pages and matches may choose by name: networks, players, and opening books. A page, and the files of a match, name something of
 * these lists, never a path or an address; no other program is ever started, and no other file is read.
 */
import {
  accessSync,
  constants,
  existsSync,
  lstatSync,
  readdirSync,
  readFileSync,
  realpathSync,
  statSync,
} from 'node:fs';
import { copyFile } from 'node:fs/promises';
import { basename, delimiter, dirname, join, normalize, resolve } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { describeWriteFailure } from '#platform/files.js';
import { createFolder } from '#platform/folders.js';
import { readProgramFile } from '#platform/program-files.js';
import type { OptionStore } from '../../base/options/index.js';
import { formatMegabytes, type Result, success, unwrap } from '../../base/util/index.js';
import {
  downloadNetwork,
  findRemoteNetwork,
  isDownloaded,
  isNetworkName,
  listBundledNetworks,
  NETWORK_CATALOGUE,
  type RemoteNetwork,
} from '../../engine/weights/index.js';
import { createEngineSpec, type EngineSpec, formatPairs } from '../../games/engines/index.js';
import { parsePlayerWords } from '../../games/play/index.js';
import { NetworkList } from '../desk/engine-services.js';
import type { NetworkEntry } from '../protocol/replies.js';
import { isPlainFile } from './match-record.js';
import { checkFile } from './sent-files.js';

const NETWORK_FILE = /\.(onnx|pb)(\.gz)?$/i;
const MOST_FILES = 500;

/**
 * The network of the command line, those that come with the program, the network files of the folders that the user named, the
 * catalogue of `sardonyx networks`, and files that a page has sent.
 */
export class OfferedNetworks extends NetworkList {
  /** Throws the sentence for the user when a folder cannot be read. */
  constructor(
    private readonly options: OptionStore,
    folders: readonly string[],
  ) {
    super('this machine');
    const given = options.getString('WeightsFile');
    if (given !== '') this.add(basename(given), given, 'from the command line');
    // By name: inside an executable they are no files.
    for (const { file, precision } of listBundledNetworks()) this.add(file, file, `bundled, ${precision}`);
    for (const folder of folders) {
      for (const { name, path, bytes } of listNetworkFiles(folder))
        if (!this.holds(name, path)) this.add(name, path, `${formatMegabytes(bytes)} MB`);
    }
    for (const { name, megabytes, purpose } of NETWORK_CATALOGUE) {
      this.add(name, name, megabytes === null ? purpose : `${megabytes} MB, ${purpose}`);
    }
  }

  /** Whether a file is listed under another path, or is a copy of one that comes with the program. */
  private holds(name: string, path: string): boolean {
    const files = [...this.networks.values()].filter(({ value }) => existsSync(value));
    if (files.some(({ value }) => realpathSync(value) === realpathSync(path))) return true;
    const isNamed = listBundledNetworks().some(({ file }) => file === name);
    const bundled = isNamed ? readProgramFile(`models/${name}`) : null;
    return bundled?.length === statSync(path).size && readFileSync(path).equals(bundled);
  }

  override get entries(): readonly NetworkEntry[] {
    return [...this.networks.values()].map(({ name, description, value }) => {
      const remote = findRemote(value);
      return { name, description, needsDownload: remote !== null && !isDownloaded(remote) };
    });
  }

  /**
   * Offers a file that a page has sent. Rejects with the sentence for the user when it is no network, or is damaged.
   * @returns its name in the list
   */
  async take(name: string, path: string): Promise<string> {
    const named = (['Backend', 'BackendOptions'] as const).map((own) => [own, this.options.getString(own)] as const);
    await checkFile({ kind: 'network', path, settings: named }, name);
    const { size } = statSync(path);
    return this.add(name, path, `${formatMegabytes(size)} MB, sent by a page`);
  }

  /** Downloads a network of the catalogue that is not on this machine yet. Rejects with the sentence for the user. */
  async obtain(name: string, onProgress: (share: number | null) => void): Promise<void> {
    const remote = findRemote(this.getValue(name) ?? '');
    if (remote === null || isDownloaded(remote)) return;
    const watcher = {
      onStart: () => onProgress(null),
      onProgress: (done: number, total: number | null) => onProgress(total === null ? null : done / total),
      onEnd: () => undefined,
    };
    unwrap(await downloadNetwork(remote, watcher));
  }
}

/** Null for files, also for those whose name is one of the catalogue. */
function findRemote(value: string): RemoteNetwork | null {
  const remote = existsSync(value) ? null : findRemoteNetwork(value);
  return remote?.ok ? remote.value : null;
}

function listNetworkFiles(folder: string): { name: string; path: string; bytes: number }[] {
  try {
    return (
      readdirSync(folder)
        // A link may lead nowhere.
        .filter((name) => NETWORK_FILE.test(name) && existsSync(join(folder, name)))
        .sort()
        .slice(0, MOST_FILES)
        .map((name) => ({ name, path: join(folder, name), bytes: statSync(join(folder, name)).size }))
    );
  } catch (error) {
    const isOther = (error as NodeJS.ErrnoException).code === 'ENOTDIR' && existsSync(folder);
    const reason = isOther ? 'it is no folder' : describeWriteFailure(error);
    throw new Error(`The networks of ${folder} cannot be listed: ${reason}`);
  }
}

const RANDOM_MOVER = 'random';
/** Two copies of a deterministic player would repeat one game: networks draw their first moves. */
const VARIETY = [
  ['temperature', '0.7'],
  ['tempdecay-moves', '12'],
] as const;

/** Of a recorded player: what would be started or read. */
type StartedPlayer =
  | { readonly kind: 'uci'; readonly engine: { readonly name: string | null; readonly command: string } }
  | { readonly kind: 'network'; readonly weights: string };

/** Networks, the UCI engines of `--engine`, and the random mover. */
export class MatchPlayers {
  /** Name → words of `--engine`. */
  private readonly engines: ReadonlyMap<string, string>;
  private readonly specs: readonly EngineSpec[];

  constructor(
    private readonly networks: OfferedNetworks,
    engines: readonly string[],
  ) {
    this.engines = new Map(engines.map((words) => [nameEngine(words), words]));
    this.specs = engines.map(readEngine).flatMap((spec) => (spec.ok ? [spec.value] : []));
  }

  get names(): readonly string[] {
    return [...this.listNetworks(), ...this.engines.keys(), RANDOM_MOVER];
  }

  /** What `sardonyx match --engine` takes. Throws the sentence for the user. */
  getWords(name: string): string {
    if (name === RANDOM_MOVER) return RANDOM_MOVER;
    const engine = this.engines.get(name);
    if (engine !== undefined) return engine;
    const weights = this.networks.getValue(name);
    if (weights === undefined) throw new Error(`No player of that name is offered: ${name}`);
    return formatPairs([['weights', weights], ['name', name], ...VARIETY]);
  }

  /**
   * Throws the sentence for the user when a match would start a program that the server was not started with, or that program
   * with other arguments or options (which may name files), or would read another network.
   * @returns the program or network as it is to be passed on
   */
  requireOffered(player: StartedPlayer): string {
    if (player.kind === 'uci') {
      const isOffered = this.specs.some(({ name: _, ...spec }) => {
        const { name: _name, ...own } = player.engine;
        return isDeepStrictEqual(own, spec);
      });
      if (isOffered) return player.engine.command;
      throw new Error(
        `This match needs the engine ${player.engine.command}: start the server with --engine for it, with the same options`,
      );
    }
    const values = this.listNetworks().map((name) => this.networks.getValue(name) ?? '');
    const { weights } = player;
    if (weights === '' || values.includes(weights)) return weights;
    const isOffered = values.some((value) => resolve(value) === resolve(weights) && existsSync(value));
    if (isOffered) return straighten(weights);
    throw new Error(`This match needs the network ${weights}: start the server with --weights or --networks for it`);
  }

  private listNetworks(): string[] {
    const networks = this.networks.entries.filter(({ needsDownload }) => needsDownload !== true);
    return networks.map(({ name }) => name);
  }
}

/** Throws the sentence for the user when words of `--engine` describe no engine, or one that is not here. It starts none. */
export function requireEngines(engines: readonly string[]): void {
  for (const words of engines) {
    const spec = readEngine(words);
    if (!spec.ok) throw new Error(`--engine ${words}: ${spec.error}`);
    const { command, folder } = spec.value;
    const isPath = /[\\/]/.test(command);
    const folders = isPath ? [folder ?? '.'] : (process.env.PATH ?? '').split(delimiter);
    const endings = process.platform === 'win32' ? ['', '.exe', '.com', '.cmd', '.bat'] : [''];
    const paths = folders.flatMap((place) => endings.map((ending) => resolve(place, `${command}${ending}`)));
    const found = paths.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile());
    if (found.some(isExecutable)) continue;
    const reason = found.length > 0 ? `${command} is no program` : `there is no program ${command}`;
    throw new Error(`The engine ${nameEngine(words)} cannot be started: ${reason}`);
  }
}

function readEngine(words: string): Result<EngineSpec> {
  const pairs = parsePlayerWords(words, isNetworkName);
  const spec = pairs.ok ? createEngineSpec(pairs.value) : pairs;
  return spec.ok ? success(spec.value.spec) : spec;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

function nameEngine(words: string): string {
  const pairs = parsePlayerWords(words);
  const find = (key: string): string | undefined =>
    pairs.ok ? pairs.value.findLast(([own]) => own === key)?.[1] : undefined;
  return find('name') ?? find('cmd')?.split(/[\\/]/).at(-1) ?? words;
}

interface OfferedBook {
  readonly path: string;
  /** Of its content, if a page has sent it: it lies in a folder that goes away with the server. */
  readonly digest: string | null;
}

export class MatchBooks {
  private readonly books = new Map<string, OfferedBook>();

  private constructor() {}

  /** Rejects with the sentence for the user when a book cannot be read. */
  static async open(paths: readonly string[]): Promise<MatchBooks> {
    const books = new MatchBooks();
    for (const path of paths) {
      await checkFile({ kind: 'book', path });
      books.books.set(basename(path), { path: resolve(path), digest: null });
    }
    return books;
  }

  get names(): readonly string[] {
    return [...this.books.keys()];
  }

  /** Offers a file that a page has sent. Rejects with the sentence for the user when it is no book. @returns its name in the list */
  async add(name: string, path: string): Promise<string> {
    const digest = await checkFile({ kind: 'book', path }, name);
    let unique = name;
    for (let number = 2; this.books.has(unique); number++) unique = `${number}-${name}`;
    this.books.set(unique, { path, digest });
    return unique;
  }

  /**
   * One that a page has sent is copied first, for a match needs its book as long as it goes on.
   * @returns the name by which `find` knows it
   */
  async keep(name: string, folder: string): Promise<string> {
    const book = this.books.get(name);
    if (book === undefined) throw new Error(`No book of that name is offered: ${name}`);
    if (book.digest === null) return name;
    createFolder(folder);
    if (!isPlainFolder(folder)) throw new Error(`${folder} is no folder of the matches: books are not kept there`);
    const kept = `${book.digest}-${name}`;
    await copyFile(book.path, join(folder, kept), constants.COPYFILE_EXCL).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    this.find(kept, folder);
    return kept;
  }

  /** The path of a book. Throws the sentence for the user. @param folder of the books that matches keep */
  find(name: string, folder: string): string {
    const book = this.books.get(name);
    if (book?.digest === null) return book.path;
    const path = join(folder, name);
    if (name === basename(name) && this.isKept(path, folder)) return path;
    throw new Error(`No book of that name is offered: ${name}`);
  }

  /** Throws the sentence for the user when a match would read a file that is no book of the server's. @returns the path to pass on */
  requireOffered(path: string, folder: string): string {
    const offered = [...this.books.values()].some((book) => book.digest === null && book.path === resolve(path));
    if (offered || this.isKept(path, folder)) return straighten(path);
    throw new Error(`This match needs the book ${path}: start the server with --book for it`);
  }

  private isKept(path: string, folder: string): boolean {
    return dirname(resolve(path)) === folder && isPlainFolder(folder) && isPlainFile(resolve(path));
  }
}

/**
 * A path that was checked as text. Where `..` follows a name, which may be a link, the system would go elsewhere than the text says: then
 * the path that was checked. Any other stays as it is, for the conditions of a match hold it.
 */
function straighten(path: string): string {
  const countParents = (text: string): number => text.split(/[\\/]/).filter((part) => part === '..').length;
  return countParents(path) === countParents(normalize(path)) ? path : resolve(path);
}

/** Not a link to one. */
function isPlainFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
