/**
 * The commands about network files, lc0's and ONNX. `sardonyx describenet`: format, size and metadata. `sardonyx leela2onnx`: an lc0
 * network as an ONNX file, with lc0's flags. `sardonyx onnx2leela`: an ONNX network as a file that lc0 loads, with lc0's flags and one
 * more, `--structure`.
 */

import type { OptionStore } from '../../base/options/index.js';
import { unwrap } from '../../base/util/index.js';
import { createOptionStore } from '../../engine/app/options.js';
import { describeInt8, obtainNetwork, readNetwork, resolveNetwork } from '../../engine/weights/index.js';
import {
  convertLeelaToOnnx,
  describeNetworkFile,
  formatDescription,
  InputFormat,
  MovesLeftFormat,
  PolicyFormat,
  ValueFormat,
  wrapOnnxModel,
} from '../../networks/lc0/index.js';
import { LC0_TENSOR_NAMES } from '../../networks/nn/index.js';
import { choice, declareCommand, onOff, refused, requiredText, text, whole } from '../declare-command.js';
import { createDownloadBar, printJson, printLine, printNote } from '../output.js';
import { requireOtherFile, writeOutput } from '../write-output.js';

const NO_HLO = 'HLO is the language of XLA, which Sardonyx does not write; --output writes ONNX';

export const leela2OnnxCommand = declareCommand({
  command: 'leela2onnx',
  describe: 'Convert an lc0 network to ONNX',
  // biome-ignore format: a row a flag
  flags: {
    input: requiredText('lc0 network: a file, or a name from `sardonyx networks`'),
    output: requiredText('ONNX file to write'),
    'onnx-batch-size': whole({ min: -1, max: 2048, default: -1 }, 'Fixed batch size; -1 = any size'),
    'onnx-data-type': choice(['f32', 'f16', 'bf16'], 'f32', 'Type of weights and arithmetic (bf16: of weights only)'),
    'onnx-opset': whole({ min: 7, max: 18, default: 17 }, 'ONNX operator set'),
    'onnx-ir': whole({ min: -1, max: 10, default: -1 }, 'ONNX IR version; -1 = the version of the operator set'),
    'input-planes-name': text('Name of the input', { default: LC0_TENSOR_NAMES.input }),
    'policy-head-name': text('Name of the policy output', { default: LC0_TENSOR_NAMES.policy }),
    'wdl-head-name': text('Name of the WDL output', { default: LC0_TENSOR_NAMES.wdl }),
    'value-head-name': text('Name of the value output', { default: LC0_TENSOR_NAMES.value }),
    'mlh-head-name': text('Name of the moves-left output', { default: LC0_TENSOR_NAMES.movesLeft }),
    onnx2pytorch: onOff('Use only operators that onnx2pytorch knows'),
    'value-head': text('Value head to export: winner, q or st', { default: 'winner' }),
    'policy-head': text('Policy head to export: vanilla, optimistic, soft or opponent', { default: 'vanilla' }),
    'hlo-text-output': refused(NO_HLO),
    'hlo-proto-output': refused(NO_HLO),
    'hlo-batch-size': refused(NO_HLO),
    'hlo-allow-partial-result': refused(NO_HLO),
    json: onOff('Print the description as JSON'),
  },
  run: async (args) => {
    const { output } = args;
    const names = {
      input: args['input-planes-name'],
      policy: args['policy-head-name'],
      wdl: args['wdl-head-name'],
      value: args['value-head-name'],
      movesLeft: args['mlh-head-name'],
    };
    requireOwnNames(Object.values(names));
    const { path: input, source } = await findNetwork(args.input);
    requireOtherFile('--output', output, input);
    const model = await convertLeelaToOnnx(source, {
      precision: args['onnx-data-type'],
      opset: args['onnx-opset'],
      batchSize: args['onnx-batch-size'],
      irVersion: args['onnx-ir'],
      usesSimpleOperators: args.onnx2pytorch,
      valueHead: args['value-head'],
      policyHead: args['policy-head'],
      names,
    });
    const { onnx, wasEmbedded } = unwrap(model);
    if (wasEmbedded && !args.json) printLine('The network held an ONNX model, which was taken out as it is.');
    await writeNetwork(output, onnx, args.json, { input, output, wasEmbedded });
  },
});

/** A file, or a network by its name, which is downloaded if it is missing; a bundled one may be inside the executable. */
async function findNetwork(
  name: string,
  backend = 'auto',
): Promise<{ options: OptionStore; path: string; source: string | Uint8Array }> {
  const options = createOptionStore();
  unwrap(options.set('WeightsFile', name));
  unwrap(options.set('Backend', backend));
  unwrap(await obtainNetwork(options, createDownloadBar()));
  const network = unwrap(await resolveNetwork(options));
  const { path, builtIn } = network;
  return { options, path, source: builtIn === null ? path : await readNetwork(network) };
}

/** WDL and value may share a name: a network has one of them. */
function requireOwnNames([input, policy, wdl, value, movesLeft]: readonly string[]): void {
  for (const names of [
    [input, policy, wdl, movesLeft],
    [input, policy, value, movesLeft],
  ]) {
    const twice = names.find((name, i) => names.indexOf(name) < i);
    if (twice !== undefined) throw new Error(`The tensor name "${twice}" is given twice`);
    if (names.includes('')) throw new Error('A tensor name is empty');
  }
}

export const onnx2LeelaCommand = declareCommand({
  command: 'onnx2leela',
  describe: 'Convert an ONNX network to a file that lc0 loads',
  // biome-ignore format: a row a flag
  flags: {
    input: requiredText('ONNX network: a file, or a name from `sardonyx networks`'),
    output: requiredText('lc0 network file to write (.pb.gz)'),
    structure: choice(['auto', 'weights', 'onnx'], 'auto', "weights = lc0's own weights, for all its backends; onnx = the ONNX model, for its ONNX backends; auto = weights if possible"),
    'input-format': choice(listFormats(InputFormat), null, 'Input format; by default what the model says'),
    'policy-format': choice(listFormats(PolicyFormat), null, 'Policy format; by default POLICY_CLASSICAL'),
    'value-format': choice(listFormats(ValueFormat), null, 'Value format; by default what the model has'),
    'moves-left-format': choice(Object.keys(MovesLeftFormat), null, 'Moves-left format; by default what the model has'),
    'onnx-input': text('Name of the input; found when left out'),
    'onnx-output-value': text('Name of the scalar value output'),
    'onnx-output-wdl': text('Name of the WDL output; found when left out'),
    'onnx-output-policy': text('Name of the policy output; found when left out'),
    'onnx-output-mlh': text('Name of the moves-left output; found when left out'),
    'validate-weights': onOff('Check the shapes of input and outputs', true),
    'fix-rule50': onOff('Divide the rule-50 plane by 99'),
    'fix-wdl-softmax': onOff('Add a softmax to the WDL output; by default when the model says that it gives logits', null),
    json: onOff('Print the description as JSON'),
  },
  run: async (args) => {
    const { output } = args;
    const { path: input, source } = await findNetwork(args.input);
    requireOtherFile('--output', output, input);
    const wrapped = await wrapOnnxModel(source, {
      structure: args.structure,
      inputFormat: args['input-format'],
      policyFormat: args['policy-format'],
      valueFormat: args['value-format'],
      movesLeftFormat: args['moves-left-format'],
      onnxInput: args['onnx-input'],
      onnxOutputValue: args['onnx-output-value'],
      onnxOutputWdl: args['onnx-output-wdl'],
      onnxOutputPolicy: args['onnx-output-policy'],
      onnxOutputMlh: args['onnx-output-mlh'],
      validateWeights: args['validate-weights'],
      fixRule50: args['fix-rule50'],
      fixWdlSoftmax: args['fix-wdl-softmax'],
    });
    const { notes, file } = unwrap(wrapped);
    for (const note of notes) printNote(note);
    await writeNetwork(output, file, args.json, { input, output, notes });
  },
});

/** The formats that can be written: all of lc0's but the unknown one. */
function listFormats(formats: Readonly<Record<string, number>>): string[] {
  return Object.keys(formats).filter((name) => !name.endsWith('_UNKNOWN'));
}

/** Writes the file and describes what was written. @param facts what the JSON says beside the description */
async function writeNetwork(output: string, bytes: Uint8Array, asJson: boolean, facts: object): Promise<void> {
  await writeOutput(output, bytes);
  const sections = unwrap(await describeNetworkFile(output));
  if (asJson) printJson({ ...facts, sections });
  else for (const line of [formatDescription(sections), `Written: ${output}`]) printLine(line);
}

export const describeNetCommand = declareCommand({
  command: 'describenet [file]',
  describe: 'Describe a network file: format, size, heads, training',
  words: {
    file: text('Network: a file, or a name from `sardonyx networks`; the bundled network when left out'),
  },
  // biome-ignore format: a row a flag
  flags: {
    weights: text('The network as a flag, as lc0 has it', { alias: 'w', requiresArg: true, notWith: ['file'] }),
    backend: text('Describe the network bundled for this backend', { default: 'auto', alias: 'b', requiresArg: true, notWith: ['file', 'weights'] }),
    int8: onOff('Also how fast the network is in 8 bits on this CPU, and how far its answers then differ'),
    json: onOff('Print the description as JSON'),
  },
  run: async (args) => {
    const { options, path, source } = await findNetwork(args.file ?? args.weights ?? '', args.backend);
    const sections = [...unwrap(await describeNetworkFile(source))];
    if (args.int8) sections.push({ title: '8 bits', rows: [['datatype=int8', unwrap(await describeInt8(options))]] });
    if (args.json) printJson({ file: path, sections });
    else {
      printLine(`File: ${path}`);
      printLine(formatDescription(sections));
    }
  },
});
