// What web-figures.mjs measures, in Node and in a page alike: `createEngine` is the one of `sardonyx` or of `sardonyx/web`. In a
// Worker called `raw` it runs a network in ONNX Runtime alone.

/** Served by web-figures.mjs. */
const RUNTIME = '/runtime/ort.wasm.bundle.min.mjs';
/** Nothing depends on the speed of threads: one leaf at a time. */
const SEQUENTIAL = { MinibatchSize: 1, BatchesInFlight: 1, SmartPruningFactor: 0 };

/** @returns by position, the visits of each root move, most visited first */
export async function countVisits(createEngine, { weights, fens, nodes }) {
  const engine = await createEngine({ weights, threads: 1, options: { ...SEQUENTIAL, MultiPV: 500 } });
  const results = [];
  for (const fen of fens) {
    engine.newGame();
    engine.position({ fen });
    const search = engine.go({ nodes });
    let last;
    for await (const info of search) last = info;
    results.push({
      best: (await search.bestMove).move,
      visits: Object.fromEntries(last.lines.map(({ pv, visits }) => [pv[0], visits])),
    });
  }
  await engine.dispose();
  return results;
}

/** @returns by position, value and priors of the network, without search */
export async function listEvaluations(createEngine, { weights, fens, options = {} }) {
  const troubles = [];
  const engine = await createEngine({ weights, threads: 1, options, onWarning: (text) => troubles.push(text) });
  if (troubles.length > 0) throw new Error(troubles.join('; '));
  const results = [];
  for (const fen of fens) {
    engine.position({ fen });
    const { value, policy } = await engine.evaluate();
    results.push({ value, priors: Object.fromEntries(policy.map(({ move, prior }) => [move, prior])) });
  }
  await engine.dispose();
  return results;
}

/** An engine whose speed can be measured again and again: nodes a second of searches of `milliseconds`. */
export async function createSpeedMeter(createEngine, settings) {
  const engine = await createEngine(settings);
  const measure = async (fens, milliseconds) => {
    let nodes = 0;
    let spentMs = 0;
    for (const fen of fens) {
      engine.newGame();
      engine.position({ fen });
      const startedAt = performance.now();
      const search = engine.go({ moveTime: milliseconds / fens.length });
      let last;
      for await (const info of search) last = info;
      await search.bestMove;
      spentMs += performance.now() - startedAt;
      nodes += last.nodes;
    }
    return (1000 * nodes) / spentMs;
  };
  return { measure, dispose: () => engine.dispose() };
}

/** Zeros would run faster than positions do. */
const createInput = (length) => new Float32Array(length).map((_, index) => Number((index * 7919) % 13 === 0));

/** ONNX Runtime alone, in `workers` Workers, each with a session of its own. @returns evaluations a second, all Workers together */
export async function createRawMeter({ weights, batch, workers }) {
  const started = Array.from({ length: workers }, () => new Worker(import.meta.url, { type: 'module', name: 'raw' }));
  const ask = (worker, question) =>
    new Promise((resolve, reject) => {
      worker.onmessage = ({ data }) => resolve(data);
      worker.onerror = ({ message }) => reject(new Error(message));
      worker.postMessage(question);
    });
  await Promise.all(started.map((worker) => ask(worker, { weights, batch })));
  const measure = async (milliseconds) => {
    const rates = await Promise.all(started.map((worker) => ask(worker, { milliseconds })));
    return rates.reduce((sum, rate) => sum + rate, 0);
  };
  const dispose = () => {
    for (const worker of started) worker.terminate();
  };
  return { measure, dispose };
}

if (globalThis.name === 'raw') {
  let run;
  let batch = 0;
  globalThis.onmessage = async ({ data: { weights, batch: rows, milliseconds } }) => {
    if (weights !== undefined) {
      batch = rows;
      const ort = await import(RUNTIME);
      ort.env.wasm.numThreads = 1;
      ort.env.wasm.wasmPaths = { wasm: '/ort/ort-wasm-simd-threaded.wasm' };
      const bytes = new Uint8Array(await (await fetch(weights)).arrayBuffer());
      const session = await ort.InferenceSession.create(bytes, { executionProviders: ['wasm'], logSeverityLevel: 4 });
      const [, planes] = session.inputMetadata[0].shape;
      const input = new ort.Tensor('float32', createInput(batch * planes * 64), [batch, planes, 8, 8]);
      run = () => session.run({ [session.inputNames[0]]: input });
      await run();
      globalThis.postMessage('ready');
      return;
    }
    const startedAt = performance.now();
    let count = 0;
    for (; performance.now() - startedAt < milliseconds; count++) await run();
    globalThis.postMessage((1000 * count * batch) / (performance.now() - startedAt));
  };
}
