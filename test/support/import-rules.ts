/**
 * The import rules of ARCHITECTURE.md as functions over source texts, so that a planted violation can test them.
 * `src/` has wings, and a wing has rooms (`chess/rules`) or is one room (`search`). A room's door is index.ts. options.ts is a second,
 * light door: the options that the room declares, because `uciok` must not wait for code. LIGHT_DOORS lists the few others.
 * `platform` has no door: it is a set of ports, imported as `#platform/<port>.js`, never by a path.
 * A regular expression over import specifiers is enough, because the formatter keeps them on lines of a known shape.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { repositoryRoot } from './shared-folder.js';

export interface SourceFile {
  /** Path below src/, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

/** Every file of src/ in TypeScript. */
export function readSources(): SourceFile[] {
  const folder = join(repositoryRoot, 'src');
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.endsWith('.d.ts'))
    .map((name) => ({ path: name.replaceAll('\\', '/'), text: readFileSync(join(folder, name), 'utf8') }));
}

/** The wings from the lowest to the highest: a wing imports lower ones only. Wings of one line do not import each other. */
const FLOORS: readonly (readonly string[])[] = [
  ['base'],
  ['chess'],
  ['networks'],
  ['search'],
  ['engine', 'games'],
  ['web'],
  ['board'],
  ['cli'],
];

/** The rooms of a wing in order: a room imports those before it. Other wings are one room. */
export const ROOMS: Readonly<Record<string, readonly string[]>> = {
  base: ['util', 'options'],
  chess: ['rules', 'pgn', 'archives', 'syzygy'],
  networks: ['encoding', 'leaves', 'nn', 'onnx', 'lc0', 'explain'],
  engine: ['core', 'weights', 'uci', 'analysis', 'library', 'app'],
  games: ['statistics', 'engines', 'records', 'openings', 'play', 'match', 'training', 'labels', 'shards'],
};

/** Who may import less than its floor allows: a wing, a room or a folder → the wings and rooms that it may import. */
const NARROW: Readonly<Record<string, readonly string[]>> = {
  // The search knows no chess: a leaf is a path of numbers.
  search: ['base', 'networks/leaves'],
  // What runs in a page.
  'board/desk': ['base', 'chess/rules', 'networks', 'search', 'engine/core'],
  'board/game': ['base/util', 'chess/rules', 'chess/pgn'],
  'board/page': ['base/util', 'chess/rules', 'chess/archives'],
  'board/protocol': ['base/options', 'engine/library'],
  'board/site': ['base', 'networks', 'web'],
  'index.ts': ['engine/app', 'engine/library'],
};

/** Wings, rooms and folders that run in Node only. All others run in a page as well, so they must not import these. */
const NODE_ONLY = ['board/server', 'board/index.ts', 'games', 'engine/weights', 'engine/app', 'cli', 'index.ts'];

/** Files that other rooms may import beside a room's door, because what starts first must not load the whole room. */
const LIGHT_DOORS: ReadonlySet<string> = new Set([
  // `uciok` needs results and lines of input, but neither gzip nor random numbers.
  'base/util/result.js',
  'base/util/line-reader.js',
  'base/util/near-word.js',
  // A program compiles the types of the library without the rest.
  'engine/library/chess-engine.js',
]);

/** What lives in few places: a pattern, the places that may have it, and how the violation is called. */
const CONFINED: readonly { pattern: RegExp; places: readonly string[]; what: string }[] = [
  { pattern: /from 'onnxruntime-|import\('onnxruntime-/, places: ['platform'], what: 'ONNX Runtime' },
  {
    pattern: /(?:from|import\() ?'node:|\bcreateRequire\b/,
    places: ['platform', ...NODE_ONLY],
    what: 'a module of Node (use a port of #platform)',
  },
  {
    pattern: /\bprocess\.(?!std)\w|\bBuffer\.\w|\bNodeJS\./,
    places: ['platform', ...NODE_ONLY],
    what: 'a global of Node (use a port of #platform)',
  },
  {
    pattern: /'#platform\/(?:folders|program-files)\.js'/,
    places: NODE_ONLY,
    what: 'a port that only Node has',
  },
  { pattern: /from 'yargs[/']|import\('yargs/, places: ['cli'], what: 'yargs' },
  { pattern: /node:worker_threads/, places: ['platform'], what: 'worker_threads (use #platform/threads.js)' },
  { pattern: /\bsetImmediate\b/, places: ['platform', 'cli'], what: 'setImmediate (use runNextTurn)' },
  { pattern: /from 'chessops/, places: [], what: 'chessops (for tests)' },
  { pattern: /from 'chess\.js'/, places: ['games/play'], what: 'chess.js' },
  { pattern: /from '(?:preact|@preact|uplot|@lichess-org)[/']/, places: ['board/page'], what: 'the page’s libraries' },
  { pattern: /from '(?:ws|node:https?)'/, places: ['board/server'], what: 'servers' },
  { pattern: /process\.stdout|console\.log/, places: ['engine/uci', 'cli'], what: 'stdout' },
  { pattern: /Math\.random/, places: [], what: 'Math.random (use a seeded Prng)' },
  { pattern: /getRandomValues/, places: ['base/util'], what: 'getRandomValues (use drawSeed)' },
];

const SPECIFIER = /(?:from|import)\s*\(?\s*'(\.[^']*)'/g;

export function findImportViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => [...checkPlace(file), ...checkRelativeImports(file), ...checkConfined(file)]);
}

/** The arrows of the picture in ARCHITECTURE.md: pairs of wings (index.ts counts as one) of which the first imports the second. */
export function findWingArrows(files: readonly SourceFile[]): string[] {
  const arrows = files.flatMap((file) =>
    findTargets(file)
      .filter((target) => getWing(target) !== getWing(file.path))
      .map((target) => `${getWing(file.path)} → ${getWing(target)}`),
  );
  return [...new Set(arrows)].sort();
}

/** Files that import each other, in a circle of any length, types included: each circle with its paths in order of their names. */
export function findCircles(files: readonly SourceFile[]): string[] {
  const known = new Map(files.map(({ path }) => [path.replace(/\.tsx?$/, ''), path]));
  return findCirclesAmong(
    files.map((file) => [
      file.path,
      findTargets(file).flatMap((target) => known.get(target.replace(/\.js$/, '')) ?? []),
    ]),
  );
}

/** Folders whose files import each other, doors aside: a door is a folder's own list, and stands above all that it lists. */
export function findFolderCircles(files: readonly SourceFile[]): string[] {
  const isList = (path: string): boolean => /(?:^|\/)(?:index|options)\.[jt]s$/.test(path);
  const getFolder = (path: string): string => path.split('/').slice(0, -1).join('/');
  const imports = new Map<string, Set<string>>();
  for (const file of files.filter(({ path }) => !isList(path))) {
    const folder = getFolder(file.path);
    const targets = imports.get(folder) ?? new Set();
    imports.set(folder, targets);
    for (const target of findTargets(file)) {
      if (!isList(target) && getFolder(target) !== folder) targets.add(getFolder(target));
    }
  }
  return findCirclesAmong([...imports].map(([folder, targets]) => [folder, [...targets]]));
}

function findCirclesAmong(graph: readonly (readonly [string, readonly string[]])[]): string[] {
  const imports = new Map(graph);
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of imports.get(from) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      reach(next, seen);
    }
    return seen;
  };
  const reached = new Map(graph.map(([name]) => [name, reach(name)]));
  const circles = [...reached]
    .filter(([name, names]) => names.has(name))
    .map(([name, names]) => [...names].filter((other) => reached.get(other)?.has(name)).sort());
  return [...new Set(circles.map((circle) => circle.join(', ')))];
}

/** Paths below src/ of the files that a file imports by a relative path, with the ending .js. */
function findTargets(file: SourceFile): string[] {
  return [...file.text.matchAll(SPECIFIER)].map(([, specifier = '']) =>
    new URL(specifier, `file:///${file.path}`).pathname.slice(1),
  );
}

function getWing(path: string): string {
  return path.split('/')[0] ?? '';
}

/** `chess/rules` for a wing with rooms, else the wing. */
function getRoom(path: string): string {
  const wing = getWing(path);
  return ROOMS[wing] === undefined ? wing : path.split('/').slice(0, 2).join('/');
}

/** A place is a wing, a room, a folder of two names, or a file at the top. */
function isIn(path: string, places: readonly string[]): boolean {
  const folder = path.split('/').slice(0, 2).join('/').replace(/\.js$/, '.ts');
  return places.includes(getWing(path)) || places.includes(folder);
}

function getFloor(wing: string): number {
  return FLOORS.findIndex((wings) => wings.includes(wing));
}

function checkPlace({ path }: SourceFile): string[] {
  const wing = getWing(path);
  if (path === 'index.ts' || wing === 'platform') return [];
  if (getFloor(wing) < 0) return [`${path}: src/${wing} is not a wing`];
  const rooms = ROOMS[wing];
  const [, room = '', ...rest] = path.split('/');
  if (rooms === undefined || (rooms.includes(room) && rest.length > 0)) return [];
  return [
    `${path}: ${rest.length > 0 ? `${wing}/${room} is not a room` : 'a wing with rooms has no files of its own'}`,
  ];
}

function checkRelativeImports(file: SourceFile): string[] {
  const from = getRoom(file.path);
  return findTargets(file).flatMap((target) => {
    const to = getRoom(target);
    if (to === from) return [];
    if (!mayImport(file.path, target)) return [`${file.path}: ${from} may not import ${to} (${target})`];
    if (isIn(target, NODE_ONLY) && !isIn(file.path, NODE_ONLY))
      return [`${file.path}: ${from} runs in a page too, so it may not import ${to}, which runs in Node only`];
    return isDoor(target) ? [] : [`${file.path}: ${target} is not the door of ${to}`];
  });
}

function mayImport(path: string, target: string): boolean {
  const narrow = NARROW[path.split('/').slice(0, 2).join('/')] ?? NARROW[getWing(path)];
  if (narrow !== undefined) return isIn(target, narrow);
  const [wing, targetWing] = [getWing(path), getWing(target)];
  if (wing !== targetWing) return getFloor(targetWing) >= 0 && getFloor(targetWing) < getFloor(wing);
  const rooms = ROOMS[wing] ?? [];
  return rooms.indexOf(target.split('/')[1] ?? '') < rooms.indexOf(path.split('/')[1] ?? '');
}

function isDoor(target: string): boolean {
  const inRoom = target.slice(getRoom(target).length + 1);
  return inRoom === 'index.js' || inRoom === 'options.js' || LIGHT_DOORS.has(target);
}

function checkConfined({ path, text }: SourceFile): string[] {
  return CONFINED.filter(({ pattern, places }) => pattern.test(text) && !isIn(path, places)).map(
    ({ what }) => `${path}: ${what} does not belong in ${getRoom(path)}`,
  );
}
