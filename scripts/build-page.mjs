#!/usr/bin/env node
// Builds the page of `sardonyx board` into dist/board/page, and the list of its files; the server serves only these.
// It does nothing if the page is newer than its sources. usage: node scripts/build-page.mjs [--force]
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'src', 'board', 'page');
const output = join(root, 'dist', 'board', 'page');
const list = join(output, 'files.json');
const SOURCES = ['src/base', 'src/board', 'src/chess', 'src/platform', 'package-lock.json', 'scripts/build-page.mjs'];

function listFiles(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true })
    .map((name) => join(path, name))
    .filter((file) => statSync(file).isFile());
}

/** Finds the browser's side of the platform. Modules for Node are left out, because the page never calls them. */
function findPlatformFile(specifier) {
  const name = /^#platform\/(.+)\.js$/.exec(specifier)?.[1];
  if (name === undefined) return null;
  const sides = ['browser', 'node'].map((side) => join(root, 'src', 'platform', side, `${side}-${name}.ts`));
  return sides.find(existsSync) ?? null;
}

/** A Worker is a chunk of the page's own build, so that both fetch what they have in common once. */
const workers = {
  name: 'sardonyx-workers',
  enforce: 'pre',
  transform(code, id) {
    const script = /new URL\('([^']+-worker\.ts)', import\.meta\.url\)/;
    return id.endsWith('.ts') || id.endsWith('.tsx')
      ? code.replace(new RegExp(script, 'g'), (_, file) => {
          const chunk = this.emitFile({ type: 'chunk', id: join(dirname(id), file), name: basename(file, '.ts') });
          return `new URL(import.meta.ROLLUP_FILE_URL_${chunk})`;
        })
      : null;
  },
};

/** The list of openings, `eco name pgn`, as lines of `place\teco name`: a place is a FEN without clocks. */
const openings = {
  name: 'sardonyx-openings',
  enforce: 'pre',
  async transform(code, id) {
    const asset = "new URL('./openings.tsv', import.meta.url)";
    if (!code.includes(asset)) return null;
    const { formatFen, parseFen, parseSan, START_FEN } = await import('../dist/chess/rules/index.js');
    const lines = readFileSync(join(dirname(id), 'openings.tsv'), 'utf8')
      .trim()
      .split('\n');
    const places = lines.map((line) => {
      const [eco, name, pgn] = line.split('\t');
      const position = parseFen(START_FEN).value;
      for (const word of pgn.split(' ')) if (!word.endsWith('.')) position.makeMove(parseSan(position, word).value);
      return `${formatFen(position).split(' ').slice(0, 4).join(' ')}\t${eco} ${name}\n`;
    });
    const file = this.emitFile({ type: 'asset', name: 'openings.tsv', source: places.join('') });
    return code.replace(asset, `new URL(import.meta.ROLLUP_FILE_URL_${file})`);
  },
};

const newest = Math.max(
  ...SOURCES.flatMap((path) => listFiles(join(root, path))).map((file) => statSync(file).mtimeMs),
);
const isCurrent = existsSync(list) && statSync(list).mtimeMs > newest;
const platform = { name: 'sardonyx-platform', enforce: 'pre', resolveId: findPlatformFile };
// Importing a room of src/ has no side effects, so code that the page does not use can be left out.
const treeshake = {
  moduleSideEffects: (id) => !/\/src\/(?!board\/page\/)/.test(id),
  // They prepare tables of pako's other half, which packs.
  manualPureFunctions: ['zero', 'zero$1', 'Config', 'StaticTreeDesc'],
};
/** What the page needs at once is one file, which packs better than ten; what Workers need as well stays apart. */
const start = {
  name: 'start',
  tags: ['$initial'],
  test: /\/src\/board\/page\/(?!study\/(?:openings|games-worker))|\/chessground\/|\/src\/board\/game\/(?:played-game|glyphs|move-lines)/,
};
if (!isCurrent || process.argv.includes('--force')) {
  await build({
    configFile: false,
    root: page,
    base: './',
    publicDir: 'public',
    // The warnings would be about modules of Node that some rooms import; the page never runs them.
    logLevel: 'error',
    plugins: [platform, workers, openings],
    build: {
      outDir: output,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      // A data URL would need a weaker content security policy.
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: {
        treeshake,
        output: { codeSplitting: { groups: [start], includeDependenciesRecursively: false } },
      },
    },
  });
  const files = listFiles(output).map((file) => file.slice(output.length + 1).replaceAll('\\', '/'));
  writeFileSync(list, `${JSON.stringify(files.sort())}\n`);
}
