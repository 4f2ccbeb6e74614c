// Runs when npm installs this package, before the postinstall of its dependency onnxruntime-node. That one downloads a CUDA
// provider of some 300 MB from a host that many networks do not reach, and fails the whole installation when it cannot. It leaves
// out files that are there already, so empty ones are put in their place. `sardonyx doctor --install-cuda` replaces them.
// Nothing is done when the user has decided (ONNXRUNTIME_NODE_INSTALL), or in a project that uses onnxruntime-node itself.
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
  // Without onnxruntime-node in place (a checkout's own npm ci) there is nothing to prevent.
}
