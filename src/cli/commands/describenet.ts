/** `sardonyx describenet`: prints format, size and metadata of a network file, lc0's or ONNX. */
import { createOptionStore } from '../../app/options.js';
import { describeNetworkFile, formatDescription } from '../../lc0/index.js';
import { describeInt8, obtainNetwork, readNetwork, resolveNetwork } from '../../networks/index.js';
import { unwrap } from '../../util/index.js';
import { declareCommand, onOff, text } from '../declare-command.js';
import { createDownloadBar, printJson, printLine } from '../output.js';

export const describeNetCommand = declareCommand({
  command: 'describenet [file]',
  describe: 'Describe a network file: format, size, heads, training',
  words: {
    file: text('Network file; the bundled network when left out'),
  },
  // biome-ignore format: a row a flag
  flags: {
    weights: text('The network file as a flag, as lc0 has it', { alias: 'w', requiresArg: true }),
    backend: text('Without a file: describe the network bundled for this backend', { default: 'auto', alias: 'b', requiresArg: true }),
    int8: onOff('Also how fast the network is in 8 bits on this CPU, and how far its answers then differ'),
    json: onOff('Print the description as JSON'),
  },
  run: async (args) => {
    const options = createOptionStore();
    unwrap(options.set('WeightsFile', args.file ?? args.weights ?? ''));
    unwrap(options.set('Backend', args.backend));
    unwrap(await obtainNetwork(options, createDownloadBar()));
    const network = unwrap(await resolveNetwork(options));
    const { path, builtIn } = network;
    const sections = [...unwrap(await describeNetworkFile(builtIn === null ? path : await readNetwork(network)))];
    if (args.int8) sections.push({ title: '8 bits', rows: [['datatype=int8', unwrap(await describeInt8(options))]] });
    if (args.json) printJson({ file: path, sections });
    else {
      printLine(`File: ${path}`);
      printLine(formatDescription(sections));
    }
  },
});
