/**
 * `sardonyx doctor`: reports what the engine can use on this machine, what is missing, and how to install it. Providers are tested
 * in processes of their own.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { getNativeFolder, isPackaged } from '#platform/program-files.js';
import { unwrap } from '../../../base/util/index.js';
import { readSettings } from '../../../engine/app/options.js';
import { describeInt8, findModel } from '../../../engine/weights/index.js';
import { EvaluatorPool, getBackendName, parseNetworkChoice } from '../../../networks/nn/index.js';
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
  oneLine,
} from './doctor-findings.js';

// Tests whether a provider works, in a process of its own, because the native libraries of devices write to stderr directly and
// may crash.

const INSTALL_VULKAN = 'install the Vulkan loader (Debian, Ubuntu: apt install libvulkan1) and the driver of the GPU';

/** Runs `sardonyx doctor --probe=PROVIDER`. For a provider that fails, the finding has the first line that a library wrote. */
export function examineProvider(provider: string): Promise<Finding> {
  const program = isPackaged ? [] : [fileURLToPath(new URL('../../main.js', import.meta.url))];
  const args = [...program, 'doctor', `--probe=${provider}`];
  return new Promise((resolve) => {
    execFile(process.execPath, args, { windowsHide: true }, (error, stdout, stderr) => {
      const finding = parseFinding(stdout) ?? {
        what: provider,
        isFine: false,
        text: `the process that tried it ended (${error?.signal ?? `status ${error?.code ?? 0}`})`,
      };
      const [complaint] = stderr.split('\n').map((line) => line.replace(/^Warning: /, '').trim());
      resolve(finding.isFine || complaint === '' ? finding : addComplaint(finding, complaint));
    });
  });
}

function addComplaint(finding: Finding, complaint: string): Finding {
  const text = `${finding.text} (${complaint})`;
  return { ...finding, text, ...(/libvulkan/.test(complaint) ? { fix: INSTALL_VULKAN } : {}) };
}

/** The last line that is a finding; libraries may write to stdout before and after it. */
export function parseFinding(stdout: string): Finding | null {
  const findings = stdout.split('\n').flatMap((line) => {
    try {
      const { what, isFine, text, fix } = JSON.parse(line) ?? {};
      const isFinding = typeof what === 'string' && typeof isFine === 'boolean' && typeof text === 'string';
      return isFinding ? [{ what, isFine, text, ...(typeof fix === 'string' && { fix }) }] : [];
    } catch {
      return [];
    }
  });
  return findings.at(-1) ?? null;
}

/**
 * Tries a provider. It works if a pool starts on it without falling back to another. The configured backend options are used; if
 * the provider is not the configured one and refuses them, it is tried without.
 */
export async function tryProvider(provider: string): Promise<Finding> {
  let trouble = '';
  try {
    const { options } = unwrap(readSettings([]));
    const configured = getBackendName(options.getString('Backend'), '');
    const set = options.set('Backend', provider);
    if (!set.ok) return { what: provider, isFine: false, text: set.error };
    const isConfigured = configured.ok && configured.value === unwrap(getBackendName(provider, ''));
    if (!isConfigured && !getBackendName(provider, options.getString('BackendOptions')).ok) {
      unwrap(options.set('BackendOptions', ''));
    }
    const pool = await EvaluatorPool.create({
      model: (edition) => findModel(options, edition),
      backend: provider,
      backendOptions: options.getString('BackendOptions'),
      threads: 1,
      onWarning: (text) => {
        trouble ||= text.replace(/^Backend \S+ failed, going on with \S+: /, '');
      },
    });
    const { backend } = pool.network;
    await pool.dispose();
    const isFine = trouble === '';
    const choice = parseNetworkChoice(options.getString('BackendOptions'));
    const isInt8 = backend === 'cpu' && choice.ok && choice.value.precision === 'int8';
    const report = isInt8 ? `; ${unwrap(await describeInt8(options))}` : '';
    return { what: provider, isFine, text: isFine ? `works (${backend})${report}` : trouble };
  } catch (error) {
    return { what: provider, isFine: false, text: oneLine(error) };
  }
}

/** Without one of these the engine cannot play; all others are optional. */
const ESSENTIAL = new Set(['node', 'onnxruntime', 'network', 'cpu']);

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
