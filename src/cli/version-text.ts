/** `sardonyx --version`: the program, what it runs on, and the network it would play with. */
import { loadModel, readRuntimeVersion } from '../nn/index.js';
import { isPackaged } from '../util/index.js';
import { findModel, resolveNetworkFile } from './network-file.js';
import { createOptionStore } from './option-list.js';
import { readBuild, readVersion } from './package-info.js';

export async function createVersionText(): Promise<string> {
  const build = readBuild();
  const node = isPackaged ? `Node ${process.version} inside` : `Node ${process.version}`;
  return [
    build === '' ? readVersion() : `${readVersion()} (${build})`,
    `onnxruntime ${readRuntimeVersion()}, ${node}, ${process.platform} ${process.arch}`,
    `network ${await describeNetwork()}`,
  ].join('\n');
}

async function describeNetwork(): Promise<string> {
  const options = createOptionStore();
  const file = await resolveNetworkFile(options);
  if (!file.ok) return 'none';
  const source = await findModel(options);
  const model = source.ok ? await loadModel(source.value) : source;
  return model.ok ? `${model.value.title} (${model.value.precision}), ${file.value}` : `${file.value}: ${model.error}`;
}
