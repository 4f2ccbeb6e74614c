/** `sardonyx leela2onnx`: an lc0 network as an ONNX file, with lc0's flags. */
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import { convertLeelaToOnnx, describeNetwork, formatDescription } from '../../lc0/index.js';
import { LC0_TENSOR_NAMES } from '../../nn/index.js';
import { wholeFlag } from '../number-flag.js';
import { printJson, printLine } from '../output.js';
import { requireOtherFile, writeOutput } from '../write-output.js';

interface Leela2OnnxArguments {
  input: string;
  output: string | undefined;
  'onnx-batch-size': number;
  'onnx-data-type': 'f32' | 'f16' | 'bf16';
  'onnx-opset': number;
  'onnx-ir': number;
  'input-planes-name': string;
  'policy-head-name': string;
  'wdl-head-name': string;
  'value-head-name': string;
  'mlh-head-name': string;
  onnx2pytorch: boolean;
  'value-head': string;
  'policy-head': string;
  'hlo-text-output': string | undefined;
  'hlo-proto-output': string | undefined;
  'hlo-batch-size': number | undefined;
  json: boolean;
}

export const leela2OnnxCommand: CommandModule<object, Leela2OnnxArguments> = {
  command: 'leela2onnx',
  describe: 'Convert an lc0 network to ONNX',
  builder: (yargs) =>
    yargs
      .option('input', { type: 'string', demandOption: true, describe: 'lc0 network file' })
      .option('output', { type: 'string', describe: 'ONNX file to write' })
      .option(
        ...wholeFlag('onnx-batch-size', {
          min: -1,
          max: 2048,
          default: -1,
          describe: 'Fixed batch size; -1 = any size',
        }),
      )
      .option('onnx-data-type', {
        choices: ['f32', 'f16', 'bf16'] as const,
        default: 'f32' as const,
        describe: 'Type of weights and arithmetic (bf16: of weights only)',
      })
      .option(...wholeFlag('onnx-opset', { min: 7, max: 18, default: 17, describe: 'ONNX operator set' }))
      .option(
        ...wholeFlag('onnx-ir', {
          min: -1,
          max: 10,
          default: -1,
          describe: 'ONNX IR version; -1 = the version of the operator set',
        }),
      )
      .option('input-planes-name', { type: 'string', default: LC0_TENSOR_NAMES.input, describe: 'Name of the input' })
      .option('policy-head-name', {
        type: 'string',
        default: LC0_TENSOR_NAMES.policy,
        describe: 'Name of the policy output',
      })
      .option('wdl-head-name', { type: 'string', default: LC0_TENSOR_NAMES.wdl, describe: 'Name of the WDL output' })
      .option('value-head-name', {
        type: 'string',
        default: LC0_TENSOR_NAMES.value,
        describe: 'Name of the value output',
      })
      .option('mlh-head-name', {
        type: 'string',
        default: LC0_TENSOR_NAMES.movesLeft,
        describe: 'Name of the moves-left output',
      })
      .option('onnx2pytorch', {
        type: 'boolean',
        default: false,
        describe: 'Use only operators that onnx2pytorch knows',
      })
      .option('value-head', { type: 'string', default: 'winner', describe: 'Value head to export: winner, q or st' })
      .option('policy-head', {
        type: 'string',
        default: 'vanilla',
        describe: 'Policy head to export: vanilla, optimistic, soft or opponent',
      })
      .option('hlo-text-output', { type: 'string', hidden: true })
      .option('hlo-proto-output', { type: 'string', hidden: true })
      .option('hlo-batch-size', { hidden: true })
      .option('json', { type: 'boolean', default: false, describe: 'Print the description as JSON' }) as never,
  handler: async (args: ArgumentsCamelCase<Leela2OnnxArguments>) => {
    if (args['hlo-text-output'] !== undefined || args['hlo-proto-output'] !== undefined) {
      throw new Error('HLO is the language of XLA, which Sardonyx does not write: use --output for ONNX');
    }
    const { input, output } = args;
    if (output === undefined) throw new Error('--output needs the name of the ONNX file');
    const names = {
      input: args['input-planes-name'],
      policy: args['policy-head-name'],
      wdl: args['wdl-head-name'],
      value: args['value-head-name'],
      movesLeft: args['mlh-head-name'],
    };
    requireOwnNames(Object.values(names));
    requireOtherFile('--output', output, input);
    const opset = args['onnx-opset'];
    const batchSize = args['onnx-batch-size'];
    const irVersion = args['onnx-ir'];
    const model = await convertLeelaToOnnx(input, {
      precision: args['onnx-data-type'],
      opset,
      batchSize,
      irVersion,
      usesSimpleOperators: args.onnx2pytorch,
      valueHead: args['value-head'],
      policyHead: args['policy-head'],
      names,
    });
    if (!model.ok) throw new Error(model.error);
    await writeOutput(output, model.value.onnx);
    const description = await describeNetwork(output);
    if (!description.ok) throw new Error(description.error);
    if (args.json) {
      printJson({ input, output, wasEmbedded: model.value.wasEmbedded, sections: description.value });
      return;
    }
    if (model.value.wasEmbedded) printLine('The network held an ONNX model, which was taken out as it is.');
    printLine(formatDescription(description.value));
    printLine(`Written: ${output}`);
  },
};

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
