// Bundles dist/ into one CommonJS script for the main thread and one for each kind of worker; a single executable can start only
// those. The bundle differs from the installed program in three things, all done here: a thread starts from an asset instead of a
// file, onnxruntime's native part is loaded from the folder that node-program-files.ts fills, and the URL of a module is that of the
// executable.
import { readFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';

/** The script of a thread, as src/platform wants it written. */
export const THREAD_SCRIPT = /new URL\('(\.[^']+-(?:worker|thread)\.js)', import\.meta\.url\)/g;
export const NATIVE_BINDING = /require\(`\.\.\/bin\/napi-v6\/[^`]*`\)/;

const PROLOGUE = "const sardonyxModuleUrl = require('node:url').pathToFileURL(process.execPath).href;";

/** @returns Promise<Map<asset name, code>>; the main thread's script is called main.cjs */
export async function bundleProgram(esbuild, root) {
  const dist = join(root, 'dist');
  const scripts = new Map();
  const queue = ['cli/main.js'];
  for (const entry of queue) {
    const workers = new Set();
    const code = await bundleEntry(esbuild, dist, entry, workers);
    scripts.set(entry === 'cli/main.js' ? 'main.cjs' : `workers/${entry}`, code);
    for (const worker of workers) if (!queue.includes(worker)) queue.push(worker);
  }
  return scripts;
}

async function bundleEntry(esbuild, dist, entry, workers) {
  const entryPath = join(dist, entry);
  const adapt = {
    name: 'sardonyx-executable',
    setup(build) {
      build.onLoad({ filter: /\.js$/ }, ({ path }) => {
        if (path.endsWith(join('onnxruntime-node', 'dist', 'binding.js')))
          return { contents: adaptBinding(path, dist) };
        if (!path.startsWith(dist)) return undefined;
        let text = readFileSync(path, 'utf8').replace(THREAD_SCRIPT, (_, file) => {
          const worker = relative(dist, resolve(dirname(path), file)).replaceAll('\\', '/');
          workers.add(worker);
          return `new URL('asset:workers/${worker}')`;
        });
        if (path === entryPath) text = wrapTopLevelAwait(text);
        return { contents: text };
      });
    },
  };
  const result = await esbuild.build({
    entryPoints: [entryPath],
    bundle: true,
    write: false,
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    minifySyntax: true,
    minifyWhitespace: true,
    legalComments: 'none',
    banner: { js: PROLOGUE },
    define: { 'import.meta.url': 'sardonyxModuleUrl' },
    plugins: [adapt],
    logLevel: 'warning',
  });
  return result.outputFiles[0].text;
}

function adaptBinding(path, dist) {
  const text = readFileSync(path, 'utf8');
  if (!NATIVE_BINDING.test(text))
    throw new Error('onnxruntime-node loads its native part in a new way: adapt bundle.mjs');
  const folder = JSON.stringify(join(dist, 'platform', 'node', 'node-program-files.js'));
  return text.replace(
    NATIVE_BINDING,
    `(() => {
      const addon = { exports: {} };
      const { getNativeFolder } = require(${folder});
      process.dlopen(addon, require('node:path').join(getNativeFolder(), 'onnxruntime_binding.node'));
      return addon.exports;
    })()`,
  );
}

/** The formatter puts imports first. The rest becomes an async function that ends the thread if it throws. */
function wrapTopLevelAwait(text) {
  const lines = text.replace(/^#!.*\n/, '').split('\n');
  let last = -1;
  lines.forEach((line, index) => {
    if (/^import\b.*;$|^} from '.*';$/.test(line)) last = index;
  });
  const head = lines.slice(0, last + 1).join('\n');
  const body = lines.slice(last + 1).join('\n');
  return `${head}\n(async () => {\n${body}\n})().catch((error) => setImmediate(() => { throw error; }));\n`;
}
