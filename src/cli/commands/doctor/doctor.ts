/**
 * `sardonyx doctor`: reports what the engine can use on this machine, what is missing, and how to install it. Providers are tested
 * in processes of their own.
 */
import { getNativeFolder } from '#platform/program-files.js';
import { declareCommand, onOff, text, type ValuesOf } from '../../declare-command.js';
import { createDownloadBar, printJson, printLine } from '../../output.js';
import { installCuda } from './cuda-provider.js';
import {
  examineCaches,
  examineConfig,
  examineGpu,
  examineMachine,
  examineNetworks,
  examineNode,
  examineRuntime,
  type Finding,
  listSystemProviders,
} from './doctor-findings.js';
import { examineProvider, tryProvider } from './try-provider.js';

/** Without one of these the engine cannot play; all others are optional. */
const ESSENTIAL = new Set(['onnxruntime', 'network', 'cpu']);

// biome-ignore format: a row a flag
const FLAGS = {
  providers: text('Backends to try, separated by commas', { default: listSystemProviders().join(','), notWith: ['install-cuda'] }),
  probe: text('Try one backend in this process and print what was found as JSON', { hidden: true }),
  'install-cuda': onOff("Install onnxruntime's CUDA provider (250 MB)"),
  from: text('take it from this mirror, URL, folder or file', { default: '', goesWith: ['install-cuda'] }),
  sha256: text('SHA-256 of that file, if it is not the published one', { default: '', goesWith: ['install-cuda'] }),
  json: onOff('Print the findings as JSON'),
};

type DoctorArguments = ValuesOf<typeof FLAGS>;

export const doctorCommand = declareCommand({
  command: 'doctor',
  describe: 'Check what this machine has for the engine, what is missing and how to install it',
  flags: FLAGS,
  run: async (args) => {
    if (args.probe !== undefined) {
      printJson(await tryProvider(args.probe));
      return;
    }
    if (args['install-cuda']) {
      const files = await runInstallation(args);
      if (args.json) printJson({ installed: files });
      else for (const file of files) printLine(`Installed ${file}`);
      return;
    }
    const findings = await examine(args.providers);
    if (args.json) printJson(findings);
    else for (const finding of findings) printFinding(finding);
    const isPlayable = findings.every(({ what, isFine }) => isFine || !ESSENTIAL.has(what));
    if (!isPlayable) throw new Error('Sardonyx cannot play on this machine as it is');
  },
});

async function examine(providers: string): Promise<Finding[]> {
  const { finding, runtime } = await examineRuntime();
  const findings = [examineNode(), examineMachine(), finding, ...(await examineNetworks())];
  const names = providers.split(',').map((name) => name.trim());
  for (const name of names) if (name !== '') findings.push(await examineProvider(name));
  return [...findings, ...(await examineGpu(runtime)), examineConfig(), examineCaches()];
}

/** Columns before the text of a finding. */
const INDENT = 18;
const NARROWEST_TEXT = 20;
const WIDEST_LINE = 100;

function printFinding({ what, isFine, text, fix }: Finding): void {
  const width = Math.max(NARROWEST_TEXT, Math.min(WIDEST_LINE, process.stdout.columns ?? WIDEST_LINE) - INDENT);
  const lines = text.split('\n').flatMap((line) => wrapText(line, width));
  const [first, ...others] = [...lines, ...(fix === undefined ? [] : wrapText(`→ ${fix}`, width))];
  printLine(`${isFine ? ' ok ' : ' -- '} ${what.padEnd(12)} ${first}`);
  for (const line of others) printLine(`${' '.repeat(INDENT)}${line}`);
}

/** Lines of whole words, each as long as fits; a word that is longer, such as a path, has a line of its own. */
function wrapText(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

async function runInstallation({ from, sha256 }: DoctorArguments): Promise<string[]> {
  const bar = createDownloadBar();
  const onProgress = process.stderr.isTTY ? bar.onProgress : () => {};
  try {
    return await installCuda({ folder: getNativeFolder(), from, sha256, onProgress });
  } finally {
    bar.onEnd();
  }
}
