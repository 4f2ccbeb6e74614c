/** `sardonyx doctor`: reports what the engine can use on this machine, what is missing, and how to install it. */
import { getNativeFolder } from '#platform/native-folder.js';
import { declareCommand, text, toggle, type ValuesOf } from '../../declare-command.js';
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
  examineTuning,
  type Finding,
  listSystemProviders,
} from './doctor-findings.js';
import { examineProvider, tryProvider } from './doctor-providers.js';

/** Without one of these the engine cannot play; all others are optional. */
const ESSENTIAL = new Set(['node', 'onnxruntime', 'network', 'cpu']);

// biome-ignore format: a row a flag
const FLAGS = {
  providers: text('Backends to try, separated by commas', { default: listSystemProviders().join(',') }),
  probe: text('Try one backend in this process and print what was found as JSON', { hidden: true }),
  'install-cuda': toggle("Install onnxruntime's CUDA provider (250 MB)"),
  from: text('With --install-cuda: take it from this mirror, URL, folder or file', { default: '' }),
  sha256: text('With --from: SHA-256 of that file, if it is not the published one', { default: '' }),
  json: toggle('Print the findings as JSON'),
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
    if (args.from !== '' || args.sha256 !== '') throw new Error('--from and --sha256 go with --install-cuda');
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
  return [...findings, ...(await examineGpu(runtime)), examineConfig(), examineTuning(), examineCaches()];
}

function printFinding({ what, isFine, text, fix }: Finding): void {
  printLine(`${isFine ? ' ok ' : ' -- '} ${what.padEnd(12)} ${text}`);
  if (fix !== undefined) printLine(`${' '.repeat(18)}→ ${fix}`);
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
