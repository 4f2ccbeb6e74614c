#!/usr/bin/env node
// The engine as browsers run it, for matches without one: a UCI program in Node whose networks run in onnxruntime-web's
// WebAssembly, one thread each, instead of in onnxruntime-node. It takes the flags of `sardonyx`.
//   sardonyx match --engine "name=light cmd=node args='scripts/strength/wasm-engine.mjs --weights=light.onnx --threads=1'" …
// Imported with ?port, this file implements src/platform/ports/onnx-runtime.ts. Started as a program, it installs that
// implementation and runs the engine.
import { register } from 'node:module';
import { isMainThread } from 'node:worker_threads';
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
    createTensor: (data, dims) => new runtime.Tensor('float32', data, dims),
    run: async (inputs, outputs) => {
      const results = await session.run(inputs, Object.keys(outputs));
      for (const [name, { data }] of Object.entries(outputs)) data.set(results[name].data);
    },
    release: () => session.release(),
  };
}

if (!import.meta.url.endsWith('?port')) {
  const port = JSON.stringify(`${import.meta.url}?port`);
  const redirect = `export const resolve = (specifier, context, next) =>
    specifier === '#platform/onnx-runtime.js' ? { url: ${port}, shortCircuit: true } : next(specifier, context);`;
  // Hooks hold for the thread that registers them, so every thread imports this file first.
  register(`data:text/javascript,${encodeURIComponent(redirect)}`);
  if (isMainThread) {
    process.execArgv.push('--import', import.meta.url);
    await import('../../dist/cli/main.js');
  }
}
