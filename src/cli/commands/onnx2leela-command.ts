/** `sardonyx onnx2leela`: an ONNX network as a file that lc0 loads, with lc0's flags and one more, `--structure`. */
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import {
  describeNetwork,
  formatDescription,
  InputFormat,
  MovesLeftFormat,
  PolicyFormat,
  ValueFormat,
  wrapOnnxModel,
} from '../../lc0/index.js';
import { printJson, printLine, printNote } from '../output.js';
import { requireOtherFile, writeOutput } from '../write-output.js';

interface Onnx2LeelaArguments {
  input: string;
  output: string;
  structure: 'auto' | 'weights' | 'onnx';
  'input-format': string | undefined;
  'policy-format': string | undefined;
  'value-format': string | undefined;
  'moves-left-format': string | undefined;
  'onnx-input': string | undefined;
  'onnx-output-value': string | undefined;
  'onnx-output-wdl': string | undefined;
  'onnx-output-policy': string | undefined;
  'onnx-output-mlh': string | undefined;
  'validate-weights': boolean;
  'fix-rule50': boolean;
  'fix-wdl-softmax': boolean | undefined;
  json: boolean;
}

export const onnx2LeelaCommand: CommandModule<object, Onnx2LeelaArguments> = {
  command: 'onnx2leela',
  describe: 'Convert an ONNX network to a file that lc0 loads',
  builder: (yargs) =>
    yargs
      .option('input', { type: 'string', demandOption: true, describe: 'ONNX file' })
      .option('output', { type: 'string', demandOption: true, describe: 'lc0 network file to write (.pb.gz)' })
      .option('structure', {
        choices: ['auto', 'weights', 'onnx'] as const,
        default: 'auto' as const,
        describe:
          "weights = lc0's own weights, for all its backends; onnx = the ONNX model, for its ONNX backends; auto = weights if possible",
      })
      .option('input-format', {
        choices: listFormats(InputFormat),
        describe: 'Input format; by default what the model says',
      })
      .option('policy-format', {
        choices: listFormats(PolicyFormat),
        describe: 'Policy format; by default POLICY_CLASSICAL',
      })
      .option('value-format', {
        choices: listFormats(ValueFormat),
        describe: 'Value format; by default what the model has',
      })
      .option('moves-left-format', {
        choices: Object.keys(MovesLeftFormat),
        describe: 'Moves-left format; by default what the model has',
      })
      .option('onnx-input', { type: 'string', describe: 'Name of the input; found when left out' })
      .option('onnx-output-value', { type: 'string', describe: 'Name of the scalar value output' })
      .option('onnx-output-wdl', { type: 'string', describe: 'Name of the WDL output; found when left out' })
      .option('onnx-output-policy', { type: 'string', describe: 'Name of the policy output; found when left out' })
      .option('onnx-output-mlh', { type: 'string', describe: 'Name of the moves-left output; found when left out' })
      .option('validate-weights', { type: 'boolean', default: true, describe: 'Check the shapes of input and outputs' })
      .option('fix-rule50', { type: 'boolean', default: false, describe: 'Divide the rule-50 plane by 99' })
      .option('fix-wdl-softmax', {
        type: 'boolean',
        describe: 'Add a softmax to the WDL output; by default when the model says that it gives logits',
      })
      .option('json', { type: 'boolean', default: false, describe: 'Print the description as JSON' }) as never,
  handler: async (args: ArgumentsCamelCase<Onnx2LeelaArguments>) => {
    const { input, output } = args;
    requireOtherFile('--output', output, input);
    const wrapped = await wrapOnnxModel(input, {
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
    if (!wrapped.ok) throw new Error(wrapped.error);
    for (const note of wrapped.value.notes) printNote(note);
    await writeOutput(output, wrapped.value.file);
    const description = await describeNetwork(output);
    if (!description.ok) throw new Error(description.error);
    if (args.json) {
      printJson({ input, output, notes: wrapped.value.notes, sections: description.value });
      return;
    }
    printLine(formatDescription(description.value));
    printLine(`Written: ${output}`);
  },
};

/** The formats that can be written: all of lc0's but the unknown one. */
function listFormats(formats: Readonly<Record<string, number>>): string[] {
  return Object.keys(formats).filter((name) => !name.endsWith('_UNKNOWN'));
}
