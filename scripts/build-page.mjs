#!/usr/bin/env node
// Builds the page of `sardonyx board` into dist/board/page, and the list of its files; the server serves only these.
// It does nothing if the page is newer than its sources. usage: node scripts/build-page.mjs [--force]
import { existsSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const root = fileURLToPath(new URL('..', import.meta.url));
const page = join(root, 'src', 'board', 'page');
const output = join(root, 'dist', 'board', 'page');
const list = join(output, 'files.json');
const SOURCES = [
  'src/board',
  'src/chess',
  'src/pgn',
  'src/platform',
  'src/util',
  'package-lock.json',
  'scripts/build-page.mjs',
];

function listFiles(path) {
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { recursive: true })
    .map((name) => join(path, name))
    .filter((file) => statSync(file).isFile());
}

/** The browser's side of the platform; what only Node has is left out of the page, since nothing in it is called. */
function findPlatformFile(specifier) {
  const name = /^#platform\/(.+)\.js$/.exec(specifier)?.[1];
  if (name === undefined) return null;
  const sides = ['browser', 'node'].map((side) => join(root, 'src', 'platform', side, `${side}-${name}.ts`));
  return sides.find(existsSync) ?? null;
}

const newest = Math.max(
  ...SOURCES.flatMap((path) => listFiles(join(root, path))).map((file) => statSync(file).mtimeMs),
);
const isCurrent = existsSync(list) && statSync(list).mtimeMs > newest;
if (!isCurrent || process.argv.includes('--force')) {
  await build({
    configFile: false,
    root: page,
    base: './',
    publicDir: false,
    // Warnings are of modules of Node that some rooms import and the page never runs.
    logLevel: 'error',
    plugins: [{ name: 'sardonyx-platform', enforce: 'pre', resolveId: findPlatformFile }],
    build: {
      outDir: output,
      emptyOutDir: true,
      target: 'es2022',
      modulePreload: { polyfill: false },
      // A data URL would need a weaker content security policy.
      assetsInlineLimit: 0,
      reportCompressedSize: false,
      rolldownOptions: {
        // The rooms of src/ do nothing when they are only imported, so that what the page does not use of them is left out.
        treeshake: { moduleSideEffects: (id) => !/\/src\/(?!board\/page\/)/.test(id) },
      },
    },
  });
  const files = listFiles(output).map((file) => file.slice(output.length + 1).replaceAll('\\', '/'));
  writeFileSync(list, `${JSON.stringify(files.sort())}\n`);
}
