/** `sardonyx describenet`: prints format, size and metadata of a network file, lc0's or ONNX. */
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import { createOptionStore } from '../../app/options.js';
import { describeNetwork, formatDescription } from '../../lc0/index.js';
import { describeInt8, obtainNetwork, readBuiltIn, resolveNetworkFile } from '../../networks/index.js';
import { unwrap } from '../../util/index.js';
import { createDownloadBar } from '../download-bar.js';
import { printJson, printLine } from '../output.js';

interface DescribeNetArguments {
  file?: string;
  weights: string | undefined;
  backend: string;
  int8: boolean;
  json: boolean;
}

export const describeNetCommand: CommandModule<object, DescribeNetArguments> = {
  command: 'describenet [file]',
  describe: 'Describe a network file: format, size, heads, training',
  builder: (yargs) =>
    yargs
      .positional('file', { type: 'string', describe: 'Network file; the bundled network when left out' })
      .option('weights', {
        alias: 'w',
        type: 'string',
        requiresArg: true,
        describe: 'The network file as a flag, as lc0 has it',
      })
      .option('backend', {
        alias: 'b',
        type: 'string',
        requiresArg: true,
        default: 'auto',
        describe: 'Without a file: describe the network bundled for this backend',
      })
      .option('int8', {
        type: 'boolean',
        default: false,
        describe: 'Also how fast the network is in 8 bits on this CPU, and how far its answers then differ',
      })
      .option('json', { type: 'boolean', default: false, describe: 'Print the description as JSON' }) as never,
  handler: async (args: ArgumentsCamelCase<DescribeNetArguments>) => {
    const options = createOptionStore();
    unwrap(options.set('WeightsFile', args.file ?? args.weights ?? ''));
    unwrap(options.set('Backend', args.backend));
    unwrap(await obtainNetwork(options, createDownloadBar()));
    const path = await resolveNetworkFile(options);
    if (!path.ok) throw new Error(path.error);
    const description = await describeNetwork((await readBuiltIn(path.value, options))?.bytes ?? path.value);
    if (!description.ok) throw new Error(description.error);
    const sections = [...description.value];
    if (args.int8) sections.push({ title: '8 bits', rows: [['datatype=int8', unwrap(await describeInt8(options))]] });
    if (args.json) printJson({ file: path.value, sections });
    else {
      printLine(`File: ${path.value}`);
      printLine(formatDescription(sections));
    }
  },
};
