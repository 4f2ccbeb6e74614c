/** `sardonyx onnx2leela`: an ONNX network as a file that lc0 loads, with lc0's flags and one more, `--structure`. */
import {
  describeNetworkFile,
  formatDescription,
  InputFormat,
  MovesLeftFormat,
  PolicyFormat,
  ValueFormat,
  wrapOnnxModel,
} from '../../lc0/index.js';
import { choice, declareCommand, requiredText, text, toggle } from '../declare-command.js';
import { printJson, printLine, printNote } from '../output.js';
import { requireOtherFile, writeOutput } from '../write-output.js';

export const onnx2LeelaCommand = declareCommand({
  command: 'onnx2leela',
  describe: 'Convert an ONNX network to a file that lc0 loads',
  // biome-ignore format: a row a flag
  flags: {
    input: requiredText('ONNX file'),
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
    'validate-weights': toggle('Check the shapes of input and outputs', true),
    'fix-rule50': toggle('Divide the rule-50 plane by 99'),
    'fix-wdl-softmax': toggle('Add a softmax to the WDL output; by default when the model says that it gives logits', null),
    json: toggle('Print the description as JSON'),
  },
  run: async (args) => {
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
    const description = await describeNetworkFile(output);
    if (!description.ok) throw new Error(description.error);
    if (args.json) {
      printJson({ input, output, notes: wrapped.value.notes, sections: description.value });
      return;
    }
    printLine(formatDescription(description.value));
    printLine(`Written: ${output}`);
  },
});

/** The formats that can be written: all of lc0's but the unknown one. */
function listFormats(formats: Readonly<Record<string, number>>): string[] {
  return Object.keys(formats).filter((name) => !name.endsWith('_UNKNOWN'));
}
