/**
 * Tests whether a provider works, in a process of its own, because the native libraries of devices write to stderr directly and
 * may crash.
 */

import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { isPackaged } from '#platform/program-files.js';
import { unwrap } from '../../../base/util/index.js';
import { readSettings } from '../../../engine/app/options.js';
import { describeInt8, findModel } from '../../../engine/weights/index.js';
import { EvaluatorPool, getBackendName, parseNetworkChoice } from '../../../networks/nn/index.js';
import { describeError } from '../../write-output.js';
import type { Finding } from './doctor-findings.js';

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
    return { what: provider, isFine: false, text: describeError(error) };
  }
}
