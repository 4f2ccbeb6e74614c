import assert from 'node:assert/strict';
import { test } from 'node:test';
import { OptionStore } from '#sardonyx/base/options/index.js';
import { unwrap } from '#sardonyx/base/util/index.js';
import { listLegalMoves, parseFen, START_FEN } from '#sardonyx/chess/rules/index.js';
import { parseBackendOptions } from '#sardonyx/networks/nn/backend/backend-options.js';
import { planBackend, planOnCpu } from '#sardonyx/networks/nn/backend/backend-plan.js';
import { loadModel, parseNetworkChoice } from '#sardonyx/networks/nn/index.js';
import { networkOptions } from '#sardonyx/networks/nn/options.js';
import { createRandomNetwork, TINY } from '../../support/random-network.js';

test('options are read in the grammar of lc0, sub-dictionaries included', () => {
  const options = unwrap(parseBackendOptions('gpu=0, policy_head="a, (b)=c",a(threads=2,b(seed=1)),devices=0;1'));
  assert.equal(options.read('gpu'), '0');
  assert.equal(options.read('policy_head'), 'a, (b)=c');
  assert.equal(options.read('devices'), '0;1');
  const a = options.children.get('a');
  assert.equal(a?.read('threads'), '2');
  assert.equal(a?.read('gpu'), '0', 'a sub-dictionary sees the keys around it');
  assert.equal(a?.children.get('b')?.read('seed'), '1');
  assert.equal(options.read('threads'), undefined);
  options.refuseUnread('test');
});

test('malformed options are refused in one sentence', () => {
  for (const [text, sentence] of [
    ['gpu', /"gpu" needs a value/],
    ['gpu=0)', /unexpected "\)" at position 6/],
    ['a(gpu=0', /closing parenthesis is missing/],
    ['a="b', /quote is not closed/],
    ['('.repeat(100_000), /too many parentheses/],
    [`${'team('.repeat(8000)}gpu=0${')'.repeat(8000)}`, /too many parentheses/],
  ] as const) {
    const result = parseBackendOptions(text);
    assert.ok(!result.ok, text);
    assert.match(result.error, sentence);
  }
});

test('an option that nobody reads is an error, as are unknown backends and values out of range', () => {
  const refuse = (backend: string, options: string, sentence: RegExp): void => {
    const plans = planBackend({ backend, optionsText: options, threads: 0, minibatch: 0 });
    assert.ok(!plans.ok, `${backend} ${options}`);
    assert.match(plans.error, sentence);
  };
  refuse('cpu', 'thread=2', /Backend cpu has no option "thread"/);
  refuse('cpu', 'threads=2,a(b=1)', /has no option "a\.b"/);
  refuse('hash', 'threads=2', /Backend hash has no option "threads"/);
  refuse('random', 'delay=-1', /Backend option delay must be a whole number from 0/);
  refuse('random', 'input_mode=6', /Backend option input_mode must be the number of one of lc0's inputs, not 6/);
  refuse('random', 'uniform=yes', /Backend option uniform must be true or false/);
  refuse('cuda', 'devices=a', /Backend option devices must be device numbers/);
  refuse('abacus', '', /Unknown backend "abacus"; known are auto, cpu/);
});

test('plans follow the options and the names of lc0, and a device is followed by the CPU', () => {
  const plan = (backend: string, optionsText: string, threads = 0) =>
    unwrap(planBackend({ backend, optionsText, threads, minibatch: 0 }));
  const [cpu, ...nothing] = plan('onnx-cpu', 'threads=1,optimize=2', 3);
  assert.deepEqual(nothing, []);
  assert.deepEqual([cpu.threads, cpu.minibatch], [3, 8]);
  assert.deepEqual(cpu.evaluator.kind === 'onnx' && [cpu.evaluator.provider, cpu.evaluator.optimization], ['cpu', 2]);
  const [cuda, instead] = plan('cuda-fp16', 'devices=0;2');
  assert.deepEqual(cuda.evaluator.kind === 'onnx' && cuda.evaluator.devices, [0, 2]);
  assert.deepEqual([cuda.threads, cuda.minibatch], [4, 256], 'two threads a device');
  assert.deepEqual([instead.name, instead.minibatch], ['cpu', 8]);
  assert.equal(plan('auto', '').at(-1)?.name, 'cpu');
});

test('lc0’s bare names, names of backends and levels of optimisation are taken', () => {
  const plan = (backend: string, optionsText: string) =>
    unwrap(planBackend({ backend, optionsText, threads: 0, minibatch: 0 }))[0];
  const { evaluator } = plan('check', 'blas,eigen,mode=display');
  assert.ok(evaluator.kind === 'check' && evaluator.mode === 'display');
  assert.deepEqual(
    [evaluator.working, evaluator.reference].map(({ kind }) => kind),
    ['onnx', 'onnx'],
  );
  for (const name of ['tensorflow', 'tensorflow-cc', 'tensorflow-cc-cpu', 'sycl-auto', 'recordreplay']) {
    assert.match(plan(name, 'mlh=true').note ?? '', /^Only lc0 has the backend/);
  }
  for (const [text, level] of [
    ['0', 0],
    ['2', 2],
    ['3', 3],
    ['99', 3],
    ['-1', 3],
  ] as const) {
    const { evaluator: network } = plan('onnx-trt', `optimize=${text}`);
    assert.equal(network.kind === 'onnx' && network.optimization, level);
  }
});

test('what was chosen for a device is not handed to the CPU in its place', () => {
  const plan = (backend: string, optionsText: string) =>
    unwrap(planBackend({ backend, optionsText, threads: 0, minibatch: 0 })).map(({ evaluator, threads, minibatch }) => {
      assert.ok(evaluator.kind === 'onnx');
      const { provider, devices, intraOpThreads, batchSizes, precision } = evaluator;
      return { provider, devices, intraOpThreads, batchSizes, precision, threads, minibatch };
    });
  const onDevice = { devices: [1], intraOpThreads: 4, batchSizes: [64], precision: 'f16', threads: 2, minibatch: 256 };
  const [onCpu] = plan('cpu', '');
  for (const provider of ['cuda', 'coreml']) {
    const plans = plan(provider, 'devices=1,threads=4,batch=64,fp16=true');
    assert.deepEqual(plans, [{ provider, ...onDevice }, onCpu]);
  }
  const [chosen, ...nothing] = plan('cpu', 'batch=64,fp16=true');
  assert.deepEqual(
    [chosen.batchSizes, chosen.precision, nothing.length],
    [[64], 'f16', 0],
    'what was chosen for the CPU is',
  );
});

test('the CPU in a device’s place keeps the threads that were asked for, and takes a minibatch of its own', () => {
  const speed = (threads: number, minibatch: number) =>
    unwrap(planBackend({ backend: 'cuda', optionsText: '', threads, minibatch })).map((plan) => [
      plan.threads,
      plan.minibatch,
    ]);
  const [[ownThreads, ownMinibatch]] = unwrap(
    planBackend({ backend: 'cpu', optionsText: '', threads: 0, minibatch: 0 }),
  ).map((plan) => [plan.threads, plan.minibatch]);
  const onCpu = [ownThreads, ownMinibatch];
  assert.deepEqual(speed(0, 512), [[2, 512], onCpu]);
  assert.deepEqual(speed(7, 0), [
    [7, 256],
    [7, ownMinibatch],
  ]);
  const [cuda] = unwrap(planBackend({ backend: 'cuda', optionsText: '', threads: 0, minibatch: 512 }));
  assert.ok(cuda.evaluator.kind === 'onnx');
  assert.equal(planOnCpu(cuda.evaluator).mostRows, ownMinibatch, 'in the middle of a search');
});

test('heads and precision are taken from the backend options, by lc0 names', () => {
  assert.deepEqual(unwrap(parseNetworkChoice('')), {});
  assert.deepEqual(unwrap(parseNetworkChoice('policy_head=optimistic,value_head=q,threads=2')), {
    policyHead: 'optimistic',
    valueHead: 'q',
  });
  assert.deepEqual(unwrap(parseNetworkChoice('datatype=f16')), { precision: 'f16' });
  assert.deepEqual(unwrap(parseNetworkChoice('datatype=int8')), { precision: 'int8' });
  assert.deepEqual(unwrap(parseNetworkChoice('fp16=true')), { precision: 'f16' });
  assert.deepEqual(unwrap(parseNetworkChoice('winograd=false')), { winograd: false });
  assert.deepEqual(unwrap(parseNetworkChoice('fp16=false')), { precision: 'f32' });
  const wrong = parseNetworkChoice('datatype=f8');
  assert.ok(!wrong.ok && /datatype must be f32, f16 or int8/.test(wrong.error));
});

test('8 bits are for the CPU: auto means it, and devices refuse them by one sentence', () => {
  const plan = (backend: string) => planBackend({ backend, optionsText: 'datatype=int8', threads: 1, minibatch: 1 });
  for (const backend of ['auto', 'cpu']) {
    const { evaluator } = unwrap(plan(backend))[0];
    assert.ok(evaluator.kind === 'onnx' && evaluator.provider === 'cpu' && evaluator.precision === 'int8');
  }
  const refused = plan('cuda');
  assert.ok(!refused.ok && /datatype=int8 is for the CPU .*cuda takes f16 or f32/.test(refused.error));
});

test('a plan does not refuse them', () => {
  const optionsText = 'policy_head=soft,value_head=st,fp16=false,datatype=f32';
  unwrap(planBackend({ backend: 'cpu', optionsText, threads: 1, minibatch: 1 }));
});

test('names that only lc0 has mean the nearest backend here, and a sentence says so', () => {
  const plan = (backend: string) => unwrap(planBackend({ backend, optionsText: '', threads: 0, minibatch: 0 }))[0];
  for (const [backend, nearest] of [
    ['cudnn-fp16', 'cuda'],
    ['metal', 'coreml'],
    ['dx12', 'dml'],
    ['opencl', 'webgpu'],
    ['onednn', 'cpu'],
  ]) {
    const { name, note } = plan(backend);
    assert.equal(name, nearest);
    assert.match(note ?? '', new RegExp(`^Only lc0 has the backend ${backend}; using ${nearest} instead$`));
  }
  assert.equal(plan('cuda-fp16').note, null, 'half precision is what cuda takes');
  const options = new OptionStore(networkOptions);
  assert.ok(options.set('Backend', 'cuDNN').ok);
  assert.equal(options.getString('Backend'), 'cudnn');
  const listed = networkOptions.find(({ uci }) => uci === 'Backend');
  assert.ok(listed?.kind === 'choice' && !listed.choices.includes('cudnn'));
});

test('lc0’s sizes of batches are taken, and switches of its kernels ignored', () => {
  const plan = (optionsText: string) => {
    const [{ evaluator }] = unwrap(planBackend({ backend: 'cuda', optionsText, threads: 0, minibatch: 0 }));
    assert.ok(evaluator.kind === 'onnx');
    const { batchSizes, mostRows, leastRows } = evaluator;
    return { batchSizes, mostRows, leastRows };
  };
  assert.deepEqual(plan('max_batch=512,min_batch=4,batch=-1,graph_capture=true'), {
    batchSizes: [],
    mostRows: 512,
    leastRows: 4,
  });
  assert.deepEqual(plan('batch=16,steps=4'), { batchSizes: [16], mostRows: 64, leastRows: 1 });
});

test('a batch smaller than min_batch is padded, and its answers are the same', async () => {
  const { evaluatorFactory } = await import('#sardonyx/networks/nn/evaluators/create-evaluator.js');
  const model = unwrap(await loadModel({ bytes: createRandomNetwork(TINY), name: 'random.onnx' }));
  const position = unwrap(parseFen(START_FEN));
  const moves = Uint16Array.from(listLegalMoves(position));
  const values: number[] = [];
  for (const optionsText of ['', 'min_batch=5', 'batch=4']) {
    const [plan] = unwrap(planBackend({ backend: 'cpu', optionsText, threads: 1, minibatch: 8 }));
    const evaluator = await evaluatorFactory.create(plan, model, 0);
    evaluator.reserve(2);
    evaluator.setRow(0, position, moves, 0, moves.length, 'no');
    await evaluator.run(1);
    values.push(evaluator.valueWl[0]);
    await evaluator.dispose();
  }
  assert.ok(values.every((value) => Math.abs(value - values[0]) < 1e-6));
});

test('an option that no backend has is refused when it is set, one of another backend when the backend is planned', () => {
  const options = new OptionStore(networkOptions);
  const refused = options.set('BackendOptions', 'gpu=1,thread=2,a(backend=cuda,b=1)');
  assert.deepEqual(refused, {
    ok: false,
    error: 'Backend options "gpu=1,thread=2,a(backend=cuda,b=1)": no backend has an option "thread", "a.b"',
  });
  assert.equal(options.getString('BackendOptions'), '');
  assert.ok(options.set('BackendOptions', 'tf32=true').ok, 'the backend may be named later');
  const plans = planBackend({ backend: 'cpu', optionsText: 'tf32=true', threads: 0, minibatch: 0 });
  assert.deepEqual(plans, { ok: false, error: 'Backend cpu has no option "tf32"' });
});
