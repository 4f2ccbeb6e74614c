#!/usr/bin/env node
// The engine as browsers run it, for matches without one: a UCI program in Node whose networks run in onnxruntime-web's
// WebAssembly, one thread each, instead of in onnxruntime-node. It takes the flags of `sardonyx`.
//   sardonyx match --engine "name=light cmd=node args='scripts/lab/strength/wasm-engine.mjs --weights=light.onnx --threads=1'" …
// Imported with ?port, this file implements OnnxRuntimePort of src/platform/platform-ports.ts. Imported by --import, it installs that implementation
// in a thread. Started as a program, it runs the engine in a process of which every thread imports it.
import { spawnSync } from 'node:child_process';
import { register } from 'node:module';
import { fileURLToPath } from 'node:url';
import * as runtime from 'onnxruntime-web/wasm';

const OPTIMIZATION = ['disabled', 'basic', 'extended', 'all'];

export function prepareRuntime() {}
export const hasCudaProvider = () => false;
export const readRuntimeVersion = () => `${runtime.env.versions.web} (WebAssembly)`;
export const describeRuntime = async () => ({ version: readRuntimeVersion(), folder: '', providers: [] });

export async function openSession({ model, optimization }) {
  runtime.env.logLevel = 'fatal';
  runtime.env.wasm.numThreads = 1;
  const session = await runtime.InferenceSession.create(model.slice(), {
    executionProviders: ['wasm'],
    graphOptimizationLevel: OPTIMIZATION[optimization],
    logSeverityLevel: 4,
  });
  return {
    outputNames: session.outputNames,
    outputShapes: session.outputMetadata.map((output) => (output.isTensor ? output.shape : [])),
    createTensor: (data, dims) => new runtime.Tensor('float32', data, dims),
    run: async (inputs, outputs) => {
      const results = await session.run(inputs, Object.keys(outputs));
      for (const [name, { data }] of Object.entries(outputs)) data.set(results[name].data);
    },
    release: () => session.release(),
  };
}

if (!import.meta.url.endsWith('?port')) {
  if (process.execArgv.includes(import.meta.url)) {
    const port = JSON.stringify(`${import.meta.url}?port`);
    const redirect = `export const resolve = (specifier, context, next) =>
      specifier === '#platform/onnx-runtime.js' ? { url: ${port}, shortCircuit: true } : next(specifier, context);`;
    register(`data:text/javascript,${encodeURIComponent(redirect)}`);
  } else {
    // Threads inherit the options of the process alone, and each must import this file before the engine.
    const program = fileURLToPath(new URL('../../../dist/cli/main.js', import.meta.url));
    const { status } = spawnSync(process.execPath, ['--import', import.meta.url, program, ...process.argv.slice(2)], {
      stdio: 'inherit',
    });
    process.exit(status ?? 1);
  }
}
