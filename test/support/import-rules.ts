/**
 * The import rules of ARCHITECTURE.md as a function over source texts, so that a planted violation can test it.
 * A room's door is index.ts; options.ts is a second, light one: its declared options, for `uciok` must not load rooms. LIGHT_DOORS
 * lists the few others.
 * `platform` has no door: it is a set of ports, imported as `#platform/<port>.js`, never by a path.
 * A regular expression over import specifiers is enough: the formatter keeps them on lines of a known shape.
 */

export interface SourceFile {
  /** Path below src/, with forward slashes. */
  readonly path: string;
  readonly text: string;
}

const EVERYTHING_BELOW_ENGINE = ['util', 'options', 'chess', 'encoding', 'syzygy', 'nn', 'onnx', 'lc0', 'search'];

/** Rooms that run in Node only; the others run in a page as well. */
const NODE_ROOMS = ['board/server', 'selfplay', 'data', 'networks', 'app', 'cli'];

/** Files that other rooms may import beside a room's door, because what starts first must not load the whole room. */
const LIGHT_DOORS: ReadonlySet<string> = new Set([
  // A search thread needs leaves, but nothing that evaluates them.
  'nn/leaves.js',
  // `uciok` needs results and lines of input, but neither gzip nor random numbers.
  'util/result.js',
  'util/line-reader.js',
  // A program compiles the types of the library without the rest.
  'library/chess-engine.js',
]);

/** Room, or folder of a room, → the rooms whose doors it may import. index.ts is the door of the whole package. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  platform: [],
  util: [],
  options: ['util'],
  chess: ['util'],
  pgn: ['util', 'chess'],
  unpack: ['util', 'pgn'],
  encoding: ['util', 'chess'],
  syzygy: ['util', 'chess'],
  nn: ['util', 'options', 'chess', 'encoding', 'syzygy'],
  onnx: ['util', 'chess', 'encoding', 'nn'],
  lc0: ['util', 'chess', 'encoding', 'nn', 'onnx'],
  search: ['util', 'options', 'nn'],
  engine: EVERYTHING_BELOW_ENGINE,
  explain: ['util', 'chess', 'encoding', 'nn', 'onnx'],
  analysis: [...EVERYTHING_BELOW_ENGINE, 'engine'],
  selfplay: [...EVERYTHING_BELOW_ENGINE, 'pgn', 'unpack', 'data'],
  data: ['util', 'chess', 'pgn', 'unpack', 'encoding'],
  uci: [...EVERYTHING_BELOW_ENGINE, 'engine'],
  library: [...EVERYTHING_BELOW_ENGINE, 'engine'],
  web: [...EVERYTHING_BELOW_ENGINE, 'engine', 'uci', 'library'],
  networks: [...EVERYTHING_BELOW_ENGINE, 'engine'],
  app: [...EVERYTHING_BELOW_ENGINE, 'engine', 'networks', 'uci', 'library'],
  board: [...EVERYTHING_BELOW_ENGINE, 'engine', 'explain', 'networks', 'app', 'pgn', 'unpack', 'selfplay', 'data'],
  // What runs in a browser.
  'board/desk': [...EVERYTHING_BELOW_ENGINE, 'engine', 'explain'],
  'board/game': ['util', 'chess', 'pgn'],
  'board/page': ['util', 'chess', 'unpack'],
  'board/protocol': ['options'],
  'board/site': ['util', 'nn', 'lc0', 'options', 'web'],
  cli: [
    ...EVERYTHING_BELOW_ENGINE,
    'engine',
    'analysis',
    'explain',
    'networks',
    'uci',
    'app',
    'pgn',
    'selfplay',
    'data',
    'board',
  ],
  'index.ts': ['app', 'library'],
};

/** What lives in few rooms: a pattern, the rooms that may, and how the violation is called. */
const CONFINED: readonly { pattern: RegExp; rooms: readonly string[]; what: string }[] = [
  { pattern: /from 'onnxruntime-|import\('onnxruntime-/, rooms: ['platform'], what: 'ONNX Runtime' },
  {
    pattern: /(?:from|import\() ?'node:|\bcreateRequire\b/,
    rooms: ['platform', ...NODE_ROOMS],
    what: 'a module of Node (use a port of #platform)',
  },
  {
    pattern: /\bprocess\.(?!std)\w|\bBuffer\.\w|\bNodeJS\./,
    rooms: ['platform', ...NODE_ROOMS],
    what: 'a global of Node (use a port of #platform)',
  },
  {
    pattern: /'#platform\/(?:folders|program-files)\.js'/,
    rooms: NODE_ROOMS,
    what: 'a port that only Node has',
  },
  { pattern: /from 'yargs[/']|import\('yargs/, rooms: ['cli'], what: 'yargs' },
  { pattern: /node:worker_threads/, rooms: ['platform'], what: 'worker_threads (use #platform/threads.js)' },
  { pattern: /\bsetImmediate\b/, rooms: ['platform', 'cli'], what: 'setImmediate (use runNextTurn)' },
  { pattern: /from 'chessops/, rooms: [], what: 'chessops (for tests)' },
  { pattern: /from 'chess\.js'/, rooms: ['selfplay'], what: 'chess.js' },
  { pattern: /from '(?:preact|@preact|uplot|@lichess-org)[/']/, rooms: ['board/page'], what: 'the page’s libraries' },
  { pattern: /from '(?:ws|node:https?)'/, rooms: ['board/server'], what: 'servers' },
  { pattern: /process\.stdout|console\.log/, rooms: ['uci', 'cli'], what: 'stdout' },
  { pattern: /Math\.random/, rooms: [], what: 'Math.random (use a seeded Prng)' },
  { pattern: /getRandomValues/, rooms: ['util'], what: 'getRandomValues (use drawSeed)' },
];

const SPECIFIER = /(?:from|import)\s*\(?\s*'(\.[^']*)'/g;

export function findImportViolations(files: readonly SourceFile[]): string[] {
  return files.flatMap((file) => [...checkRelativeImports(file), ...checkConfined(file)]);
}

/** Files that import each other, in a circle of any length, types included: each circle with its paths in order of their names. */
export function findCircles(files: readonly SourceFile[]): string[] {
  const known = new Map(files.map(({ path }) => [path.replace(/\.tsx?$/, ''), path]));
  const imports = new Map(
    files.map(({ path, text }) => {
      const targets = [...text.matchAll(SPECIFIER)].map(([, specifier = '']) =>
        new URL(specifier, `file:///${path}`).pathname.slice(1).replace(/\.js$/, ''),
      );
      return [path, targets.flatMap((target) => known.get(target) ?? [])] as const;
    }),
  );
  const reach = (from: string, seen = new Set<string>()): Set<string> => {
    for (const next of imports.get(from) ?? []) {
      if (seen.has(next)) continue;
      seen.add(next);
      reach(next, seen);
    }
    return seen;
  };
  const reached = new Map(files.map(({ path }) => [path, reach(path)]));
  const circles = files
    .filter(({ path }) => reached.get(path)?.has(path))
    .map(({ path }) => [...(reached.get(path) ?? [])].filter((other) => reached.get(other)?.has(path)).sort());
  return [...new Set(circles.map((circle) => circle.join(', ')))];
}

function checkRelativeImports(file: SourceFile): string[] {
  const room = file.path.split('/')[0] ?? '';
  const allowed = ALLOWED[file.path.split('/').slice(0, 2).join('/')] ?? ALLOWED[room];
  if (allowed === undefined) return [`${file.path}: src/${room} is not a room`];
  const violations: string[] = [];
  for (const match of file.text.matchAll(SPECIFIER)) {
    const target = new URL(match[1] ?? '', `file:///${file.path}`).pathname.slice(1);
    const targetRoom = target.split('/')[0] ?? '';
    if (targetRoom === room) continue;
    if (!allowed.includes(targetRoom))
      violations.push(`${file.path}: ${room} may not import ${targetRoom} (${target})`);
    else if (!isDoor(target)) violations.push(`${file.path}: ${target} is not the door of ${targetRoom}`);
  }
  return violations;
}

function isDoor(target: string): boolean {
  return /^[^/]+\/(?:index|options)\.js$/.test(target) || LIGHT_DOORS.has(target);
}

function checkConfined(file: SourceFile): string[] {
  const [room = '', folder = ''] = file.path.split('/');
  const isAllowed = (rooms: readonly string[]): boolean => rooms.includes(room) || rooms.includes(`${room}/${folder}`);
  return CONFINED.filter(({ pattern, rooms }) => pattern.test(file.text) && !isAllowed(rooms)).map(
    ({ what }) => `${file.path}: ${what} does not belong in ${room}`,
  );
}
