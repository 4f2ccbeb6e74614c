/** `sardonyx --version`: the program's version, its runtime, and the network it would use. */

import { readRuntimeVersion } from '#platform/onnx-runtime.js';
import { isPackaged } from '#platform/program-files.js';
import { unwrap } from '../base/util/index.js';
import { readBuild, readSettings, readVersion } from '../engine/app/options.js';
import { isFileless, loadNetwork, resolveNetwork } from '../engine/weights/index.js';
import { loadModel } from '../networks/nn/index.js';
import { printNote } from './output.js';

/** @param args the command line, whose engine flags may name a network or a backend */
export async function createVersionText(args: readonly string[]): Promise<string> {
  const node = isPackaged ? `Node ${process.version} inside` : `Node ${process.version}`;
  return [
    describeVersion(),
    `onnxruntime ${readRuntimeVersion()}, ${node}, ${process.platform} ${process.arch}`,
    `network ${await describeNetwork(args)}`,
  ].join('\n');
}

/** `1.2.0`, and in an executable how it was built. */
export function describeVersion(): string {
  const build = readBuild();
  return build === '' ? readVersion() : `${readVersion()} (${build})`;
}

async function describeNetwork(args: readonly string[]): Promise<string> {
  const given = readSettings(args.filter((arg) => !/^--?version$/.test(arg)));
  // A command's own flags are not the engine's.
  const isCommand = args[0] !== undefined && !args[0].startsWith('-');
  const { options, faults } = unwrap(given.ok || !isCommand ? given : readSettings([]));
  faults.forEach(printNote);
  if (isFileless(options)) return `none, the backend is ${options.getString('Backend')}`;
  const network = await resolveNetwork(options);
  if (!network.ok) return 'none';
  const { path } = network.value;
  const source = await loadNetwork(network.value, 'f32');
  const model = source.ok ? await loadModel(source.value) : source;
  return model.ok ? `${model.value.title} (${model.value.precision}), ${path}` : `${path}: ${model.error}`;
}
