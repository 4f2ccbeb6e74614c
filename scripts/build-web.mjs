#!/usr/bin/env node
// Builds the engine for pages into dist/web: index.js, the door `sardonyx/web`; sardonyx.js, a Worker that speaks UCI and the script
// of all threads; board-worker.js, the engine of the board in a page; ort/, the WebAssembly of ONNX Runtime; models/, bundled
// networks. Each script is one file without imports, so that bundlers can copy it.
// usage: node scripts/build-web.mjs [--force]
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { THREAD_SCRIPT } from './package/bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');
const output = join(root, 'dist', 'web');
const runtime = join(root, 'node_modules', 'onnxruntime-web', 'dist');
const RUNTIME_FILES = ['ort-wasm-simd-threaded.wasm', 'ort-wasm-simd-threaded.asyncify.wasm'];
/** For WebAssembly, and for WebGPU. The int8 network is slower in WebAssembly than the one in single precision. */
const MODELS = ['light.onnx', 'default.onnx'];
/** Rooms that pages do without. */
const NODE_ROOMS =
  /^(?:(?:board\/(?:page|server)|chess\/archives|cli|engine\/(?:app|weights)|games|platform\/node)\/|platform\/platform-ports\.)/;
const THREADS_ENTRY = 'sardonyx-threads';

function listSources() {
  return readdirSync(source, { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.d.ts') && !NODE_ROOMS.test(name));
}

/** The scripts of all threads, as their starters name them. */
function findThreadScripts(sources) {
  const scripts = new Set();
  for (const name of sources) {
    const text = readFileSync(join(source, name), 'utf8');
    for (const [, file] of text.matchAll(THREAD_SCRIPT)) {
      scripts.add(resolve(dirname(join(source, name)), file.replace(/\.js$/, '.ts')));
    }
  }
  return [...scripts];
}

function hashModel(file) {
  return createHash('sha256')
    .update(readFileSync(join(root, 'models', file)))
    .digest('hex');
}

/** sardonyx.js: the name of the Worker says which thread it is; without such a name it speaks UCI. */
function writeThreadsEntry(scripts) {
  const threads = scripts.map((file) => `'${basename(file, '.ts')}': () => import(${JSON.stringify(file)}),`);
  const platform = join(source, 'platform', 'browser');
  return `
    import { takeAssets } from ${JSON.stringify(join(platform, 'browser-threads.ts'))};
    import { findThreadName } from ${JSON.stringify(join(platform, 'browser-threads.ts'))};
    takeAssets({ script: import.meta.url });
    const threads = { ${threads.join('\n')} };
    const converse = () => import(${JSON.stringify(join(source, 'web', 'uci-worker.ts'))});
    void (threads[findThreadName()] ?? converse)();
  `;
}

async function bundle(name, input, threadScripts) {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const built = await rolldown({
    input: { [name]: input },
    platform: 'browser',
    resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
    transform: {
      define: {
        SARDONYX_VERSION: JSON.stringify(version),
        SARDONYX_NETWORKS: JSON.stringify(MODELS.map((file) => ({ file, sha256: hashModel(file) }))),
      },
      target: 'es2022',
    },
    plugins: [
      {
        name: 'sardonyx-web',
        resolveId: (specifier) => {
          if (specifier === THREADS_ENTRY) return `\0${THREADS_ENTRY}`;
          const port = /^#platform\/(.+)\.js$/.exec(specifier)?.[1];
          return port === undefined ? null : join(source, 'platform', 'browser', `browser-${port}.ts`);
        },
        load: (id) => (id === `\0${THREADS_ENTRY}` ? writeThreadsEntry(threadScripts) : null),
        transform: (code) => code.replace(THREAD_SCRIPT, (_, file) => `new URL('thread:${basename(file, '.js')}')`),
      },
    ],
    logLevel: 'warn',
  });
  await built.write({ dir: output, format: 'esm', minify: true, codeSplitting: false, entryFileNames: '[name].js' });
}

const sources = listSources();
const newest = Math.max(
  ...[
    ...sources.map((name) => join(source, name)),
    ...MODELS.map((file) => join(root, 'models', file)),
    join(root, 'package-lock.json'),
    fileURLToPath(import.meta.url),
  ].map((file) => statSync(file).mtimeMs),
);
const built = ['index.js', 'sardonyx.js', 'board-worker.js'].map((name) => join(output, name));
const isFresh = built.every((file) => existsSync(file) && statSync(file).mtimeMs >= newest);
if (!isFresh || process.argv.includes('--force')) {
  await bundle('index', join(source, 'web', 'create-engine.ts'), []);
  await bundle('board-worker', join(source, 'board', 'site', 'board-worker.ts'), []);
  await bundle('sardonyx', THREADS_ENTRY, findThreadScripts(sources));
  for (const [folder, from, names] of [
    ['ort', runtime, RUNTIME_FILES],
    ['models', join(root, 'models'), MODELS],
  ]) {
    mkdirSync(join(output, folder), { recursive: true });
    for (const name of names) copyFileSync(join(from, name), join(output, folder, name));
  }
}
