/**
 * Whether a provider works here, tried in a process of its own: the native libraries of devices write to stderr directly,
 * and one that crashes takes its process with it.
 */
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isPackaged } from '#platform/program-files.js';
import { findModel } from '../../../app/index.js';
import { readSettings } from '../../../app/options.js';
import { EvaluatorPool, getBackendName } from '../../../nn/index.js';
import { unwrap } from '../../../util/index.js';
import { type Finding, oneLine } from './doctor-findings.js';

const INSTALL_VULKAN = 'install the Vulkan loader (Debian, Ubuntu: apt install libvulkan1) and the driver of the GPU';

/** What `sardonyx doctor --probe=PROVIDER` finds; a provider that fails is told with the first line that a library wrote. */
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

/** Libraries may have written to stdout as well; ours is the last line. */
function parseFinding(stdout: string): Finding | null {
  try {
    return JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '') as Finding;
  } catch {
    return null;
  }
}

/**
 * A provider works when a pool starts on it without falling back to another. It is tried with the configured options of
 * backends; those that it refuses belong to another one, unless it is the one that is configured.
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
    return { what: provider, isFine, text: isFine ? `works (${backend})` : trouble };
  } catch (error) {
    return { what: provider, isFine: false, text: oneLine(error) };
  }
}
