// Runs when npm installs this package, before the postinstall script of its dependency onnxruntime-node. That script downloads a
// CUDA provider of 300 MB from a host that many networks cannot reach, and then fails the whole installation. It skips files
// that exist, so this script puts empty ones in their place. `sardonyx doctor --install-cuda` replaces them. It does
// nothing if the user has decided (ONNXRUNTIME_NODE_INSTALL), or in a project that uses onnxruntime-node itself. Something else
// than `npm run pack` may have packed a clone, or npm fetched one by its address: then the program is missing, and it says so.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

const require = createRequire(import.meta.url);

function isUserDecision() {
  const { env } = process;
  if (env.ONNXRUNTIME_NODE_INSTALL || env.npm_config_onnxruntime_node_install) return true;
  try {
    const project = JSON.parse(readFileSync(join(env.INIT_CWD ?? '.', 'package.json'), 'utf8'));
    return [project.dependencies, project.devDependencies].some((list) => list?.['onnxruntime-node'] !== undefined);
  } catch {
    return false;
  }
}

const has = (path) => existsSync(new URL(path, import.meta.url));
if (!has('../dist') && !has('../src')) {
  console.error('This package holds no program. In a clone of Sardonyx, `npm run pack` makes the one to install.');
  process.exit(1);
}
try {
  const runtime = dirname(require.resolve('onnxruntime-node/package.json'));
  const { requirements, manifests } = require(join(runtime, 'script', 'install-metadata.js'));
  const platform = `${process.platform}/${process.arch}`;
  const wanted = isUserDecision() ? [] : (requirements[platform] ?? []);
  for (const name of wanted) {
    for (const file of Object.keys(manifests[`${platform}:${name}`] ?? {})) {
      const path = join(runtime, 'bin', 'napi-v6', platform, file);
      if (!existsSync(path)) writeFileSync(path, '');
    }
  }
} catch {
  // onnxruntime-node is not installed (npm ci in a clone): nothing to do.
}
