/** `sardonyx --version`: the program, what it runs on, and the network it would play with. */
import { loadModel, readRuntimeVersion } from '../nn/index.js';
import { isPackaged, unwrap } from '../util/index.js';
import { findModel, isFileless, resolveNetworkFile } from './network-file.js';
import { printNote } from './output.js';
import { readBuild, readVersion } from './package-info.js';
import { readSettings } from './settings.js';

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
  const { options, faults } = unwrap(readSettings([]));
  faults.forEach(printNote);
  if (isFileless(options)) return `none, the backend is ${options.getString('Backend')}`;
  const file = await resolveNetworkFile(options);
  if (!file.ok) return 'none';
  const source = await findModel(options);
  const model = source.ok ? await loadModel(source.value) : source;
  return model.ok ? `${model.value.title} (${model.value.precision}), ${file.value}` : `${file.value}: ${model.error}`;
}
