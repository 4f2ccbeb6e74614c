/** `sardonyx --version`: the program's version, its runtime, and the network it would use. */
import { readRuntimeVersion } from '#platform/onnx-runtime.js';
import { isPackaged } from '#platform/program-files.js';
import { readBuild, readSettings, readVersion } from '../app/options.js';
import { findModel, isFileless, resolveNetworkFile } from '../networks/index.js';
import { loadModel } from '../nn/index.js';
import { unwrap } from '../util/index.js';
import { printNote } from './output.js';

/** @param args the command line, whose engine flags may name a network or a backend */
export async function createVersionText(args: readonly string[]): Promise<string> {
  const build = readBuild();
  const node = isPackaged ? `Node ${process.version} inside` : `Node ${process.version}`;
  return [
    build === '' ? readVersion() : `${readVersion()} (${build})`,
    `onnxruntime ${readRuntimeVersion()}, ${node}, ${process.platform} ${process.arch}`,
    `network ${await describeNetwork(args)}`,
  ].join('\n');
}

async function describeNetwork(args: readonly string[]): Promise<string> {
  const given = readSettings(args.filter((arg) => arg !== '--version'));
  // A command's own flags are not the engine's.
  const isCommand = args[0] !== undefined && !args[0].startsWith('-');
  const { options, faults } = unwrap(given.ok || !isCommand ? given : readSettings([]));
  faults.forEach(printNote);
  if (isFileless(options)) return `none, the backend is ${options.getString('Backend')}`;
  const file = await resolveNetworkFile(options);
  if (!file.ok) return 'none';
  const source = await findModel(options);
  const model = source.ok ? await loadModel(source.value) : source;
  return model.ok ? `${model.value.title} (${model.value.precision}), ${file.value}` : `${file.value}: ${model.error}`;
}
