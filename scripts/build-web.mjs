#!/usr/bin/env node
// Builds the engine for pages into dist/web: sardonyx.js, a Worker that speaks UCI; the scripts of its threads beside it;
// ort/, ONNX Runtime for pages; models/, the networks it plays with by itself. Scripts share their code in chunks of the same
// folder, so that an address relative to any of them is right. usage: node scripts/build-web.mjs [--force]
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { THREAD_SCRIPT } from './package/bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const source = join(root, 'src');
const output = join(root, 'dist', 'web');
const runtime = join(root, 'node_modules', 'onnxruntime-web', 'dist');
const RUNTIME_FILES = [
  'ort.wasm.min.mjs',
  'ort-wasm-simd-threaded.mjs',
  'ort-wasm-simd-threaded.wasm',
  'ort.webgpu.min.mjs',
  'ort-wasm-simd-threaded.asyncify.mjs',
  'ort-wasm-simd-threaded.asyncify.wasm',
];
const MODELS = ['default-int8.onnx', 'default.onnx'];
/** Rooms that pages do without. */
const NODE_ROOMS = /^(app|board\/(page|server)|cli|data|selfplay|platform\/(node|ports))\//;

function listSources() {
  return readdirSync(source, { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => name.endsWith('.ts') && !NODE_ROOMS.test(name));
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

const sources = listSources();
const newest = Math.max(
  ...[
    ...sources.map((name) => join(source, name)),
    ...MODELS.map((file) => join(root, 'models', file)),
    join(root, 'package-lock.json'),
    fileURLToPath(import.meta.url),
  ].map((file) => statSync(file).mtimeMs),
);
const main = join(output, 'sardonyx.js');
if (!existsSync(main) || statSync(main).mtimeMs < newest || process.argv.includes('--force')) {
  rmSync(output, { recursive: true, force: true });
  const threads = findThreadScripts(sources);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const bundle = await rolldown({
    input: {
      sardonyx: join(source, 'web', 'uci-worker.ts'),
      'board-worker': join(source, 'board', 'site', 'board-worker.ts'),
      ...Object.fromEntries(threads.map((file) => [basename(file, '.ts'), file])),
    },
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
        name: 'sardonyx-platform',
        resolveId: (specifier) => {
          const name = /^#platform\/(.+)\.js$/.exec(specifier)?.[1];
          return name === undefined ? null : join(source, 'platform', 'browser', `browser-${name}.ts`);
        },
      },
    ],
    logLevel: 'warn',
  });
  await bundle.write({
    dir: output,
    format: 'esm',
    minify: true,
    entryFileNames: '[name].js',
    chunkFileNames: 'chunk-[hash].js',
  });
  for (const [folder, from, names] of [
    ['ort', runtime, RUNTIME_FILES],
    ['models', join(root, 'models'), MODELS],
  ]) {
    mkdirSync(join(output, folder), { recursive: true });
    for (const name of names) copyFileSync(join(from, name), join(output, folder, name));
  }
}
