/** `sardonyx doctor`: what this machine has for the engine, and what is missing. */
import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism, cpus, totalmem } from 'node:os';
import type { ArgumentsCamelCase, CommandModule } from 'yargs';
import { EvaluatorPool } from '../nn/index.js';
import { resolveNetworkFile } from './network-file.js';
import { printJson, printLine } from './output.js';
import { findBundledNetwork, readVersion } from './package-info.js';

interface DoctorArguments {
  providers: string;
  json: boolean;
}

interface Finding {
  readonly what: string;
  readonly isFine: boolean;
  readonly text: string;
}

const OLDEST_NODE = [20, 19];

export const doctorCommand: CommandModule<object, DoctorArguments> = {
  command: 'doctor',
  describe: 'What this machine has, and what is missing',
  builder: (yargs) =>
    yargs
      .option('providers', {
        type: 'string',
        default: 'cpu,cuda,tensorrt,dml,coreml,webgpu',
        describe: 'Backends to try on the bundled network',
      })
      .option('json', { type: 'boolean', default: false, describe: 'Print the findings as JSON' }) as never,
  handler: async (args: ArgumentsCamelCase<DoctorArguments>) => {
    const findings = [checkNode(), checkMachine(), checkRuntime(), checkNetwork()];
    const network = findBundledNetwork();
    for (const provider of args.providers.split(',').map((name) => name.trim())) {
      if (network !== null && provider !== '') findings.push(await checkProvider(provider, network));
    }
    if (args.json) printJson(findings);
    else
      for (const { what, isFine, text } of findings)
        printLine(`${isFine ? ' ok ' : ' -- '} ${what.padEnd(12)} ${text}`);
    // Providers other than the processor are a bonus; without one of these the engine cannot play.
    const isPlayable = findings.every(
      ({ what, isFine }) => isFine || !['node', 'onnxruntime', 'network', 'cpu'].includes(what),
    );
    if (!isPlayable) throw new Error('Sardonyx cannot play on this machine as it is');
  },
};

function checkNode(): Finding {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const isFine = major > OLDEST_NODE[0] || (major === OLDEST_NODE[0] && minor >= OLDEST_NODE[1]);
  return { what: 'node', isFine, text: `${process.version} (${OLDEST_NODE.join('.')} or later is needed)` };
}

function checkMachine(): Finding {
  const [first] = cpus();
  const memory = `${Math.round(totalmem() / 2 ** 30)} GB of memory`;
  const text = `${availableParallelism()} processors (${first?.model ?? 'unknown'}), ${memory}, ${process.platform} ${process.arch}`;
  return { what: 'machine', isFine: true, text: `Sardonyx ${readVersion()} on ${text}` };
}

function checkRuntime(): Finding {
  const what = 'onnxruntime';
  try {
    const require = createRequire(import.meta.url);
    const manifestPath = require.resolve('onnxruntime-node/package.json');
    const manifest = JSON.parse(readFileSync(manifestPath, 'utf8')) as { version?: string };
    return { what, isFine: true, text: `onnxruntime-node ${manifest.version ?? 'of unknown version'}` };
  } catch {
    return { what, isFine: false, text: 'onnxruntime-node is not installed: run npm ci' };
  }
}

function checkNetwork(): Finding {
  const path = resolveNetworkFile('');
  const isFine = path.ok && existsSync(path.value);
  return { what: 'network', isFine, text: path.ok ? path.value : path.error };
}

/** A provider works when a pool starts on it without falling back to another. */
async function checkProvider(provider: string, network: string): Promise<Finding> {
  let trouble = '';
  try {
    const pool = await EvaluatorPool.create({
      model: { path: network },
      backend: provider,
      threads: 1,
      onWarning: (text) => {
        trouble ||= text;
      },
    });
    const { backend } = pool.network;
    await pool.dispose();
    const isFine = trouble === '';
    return { what: provider, isFine, text: isFine ? `works (${backend})` : trouble };
  } catch (error) {
    return { what: provider, isFine: false, text: error instanceof Error ? error.message : String(error) };
  }
}
