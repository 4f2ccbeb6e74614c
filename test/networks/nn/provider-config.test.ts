import assert from 'node:assert/strict';
import { test } from 'node:test';
import { prepareRuntime } from '#platform/onnx-runtime.js';
import { unwrap } from '#sardonyx/base/util/index.js';
import type { Provider } from '#sardonyx/networks/nn/backend/backend-names.js';
import { type OnnxPlan, planBackend } from '#sardonyx/networks/nn/backend/backend-plan.js';
import { describeProvider } from '#sardonyx/networks/nn/backend/provider-config.js';
import { describeProviderFailure } from '#sardonyx/networks/nn/backend/provider-failures.js';

function plan(backend: string, optionsText = '', minibatch = 0): OnnxPlan {
  const [first] = unwrap(planBackend({ backend, optionsText, threads: 0, minibatch }));
  assert.ok(first.evaluator.kind === 'onnx');
  return first.evaluator;
}

const given = (provider: Provider, optionsText: string, device = 0): unknown =>
  describeProvider(provider, plan(provider, optionsText).config, device);

test('onnxruntime is given the device and the options that its Node interface passes on', () => {
  assert.deepEqual(given('cpu', ''), { name: 'cpu' });
  assert.deepEqual(given('cuda', 'devices=0;3', 3), { name: 'cuda', deviceId: 3 });
  assert.deepEqual(given('tensorrt', 'gpu=1', 1), { name: 'tensorrt', deviceId: 1 });
  assert.deepEqual(given('dml', '', 2), { name: 'dml', deviceId: 2 });
  assert.deepEqual(given('coreml', ''), { name: 'coreml', coreMlFlags: 0x010 });
  const strange = 'units=ane,mlprogram=false,static-shapes=true';
  assert.deepEqual(given('coreml', strange), { name: 'coreml', coreMlFlags: 0x004 | 0x008 });
  assert.deepEqual(given('webgpu', ''), { name: 'webgpu' });
  assert.deepEqual(given('webgpu', 'preferredLayout=NHWC,validationMode=disabled'), {
    name: 'webgpu',
    preferredLayout: 'NHWC',
    validationMode: 'disabled',
  });
});

test('options of a device are checked, and what cannot be passed on is refused by name, in one sentence', () => {
  for (const [backend, options, sentence] of [
    ['cuda', 'gpu_mem_limit=1000', /^Backend option gpu_mem_limit cannot be set .* Node interface: fewer threads/],
    ['cuda', 'cudnn_conv_algo_search=HEURISTIC', /cudnn_conv_algo_search cannot be set .* batch=N makes fewer sizes$/],
    ['tensorrt', 'engine-cache=/tmp', /engine-cache cannot be set .* TensorRT builds its engines at each start$/],
    ['cuda', 'tf32=perhaps', /^Backend option tf32 must be true or false, not "perhaps"$/],
    ['coreml', 'units=npu', /^Backend option units must be one of all, cpu, ane, gpu, not "npu"$/],
    ['webgpu', 'preferredLayout=CHW', /^Backend option preferredLayout must be one of NCHW, NHWC, not "CHW"$/],
    ['cpu', 'tf32=true', /^Backend cpu has no option "tf32"$/],
    ['dml', 'units=all', /^Backend dml has no option "units"$/],
  ] as const) {
    const plans = planBackend({ backend, optionsText: options, threads: 0, minibatch: 0 });
    assert.ok(!plans.ok, `${backend} ${options}`);
    assert.match(plans.error, sentence);
  }
});

test('tf32 is turned off for the whole process, and never on', (t) => {
  const before = process.env.NVIDIA_TF32_OVERRIDE;
  t.after(() => {
    if (before === undefined) delete process.env.NVIDIA_TF32_OVERRIDE;
    else process.env.NVIDIA_TF32_OVERRIDE = before;
  });
  delete process.env.NVIDIA_TF32_OVERRIDE;
  prepareRuntime(plan('cuda').config.tf32);
  assert.equal(process.env.NVIDIA_TF32_OVERRIDE, undefined);
  prepareRuntime(plan('cuda', 'tf32=false').config.tf32);
  assert.equal(process.env.NVIDIA_TF32_OVERRIDE, '0');
});

test('devices that are faster in half precision get it, unless told otherwise', () => {
  const precision = (backend: string, options = ''): string => plan(backend, options).precision;
  assert.deepEqual(
    ['cuda', 'tensorrt', 'dml'].map((name) => precision(name)),
    ['f16', 'f16', 'f16'],
  );
  assert.deepEqual(
    ['cpu', 'coreml', 'webgpu'].map((name) => precision(name)),
    ['f32', 'f32', 'f32'],
  );
  assert.deepEqual([precision('cuda', 'datatype=f32'), precision('cuda', 'fp16=false')], ['f32', 'f32']);
  assert.equal(precision('cpu', 'fp16=true'), 'f16');
  const plans = unwrap(planBackend({ backend: 'cuda', optionsText: '', threads: 0, minibatch: 0 }));
  assert.deepEqual(
    plans.map(({ evaluator }) => evaluator.kind === 'onnx' && evaluator.precision),
    ['f16', 'f32'],
  );
});

test('where a new batch size is dear there are few of them', () => {
  for (const [provider, minibatch, sizes] of [
    ['cuda', 0, [32, 128, 256]],
    ['cuda', 1024, [32, 128, 512, 1024]],
    ['cuda', 8, [8]],
    ['tensorrt', 0, [256]],
    ['tensorrt', 64, [64]],
    ['dml', 0, [16]],
    ['coreml', 0, [16]],
    ['webgpu', 0, [16]],
    ['cpu', 0, []],
  ] as const)
    assert.deepEqual(plan(provider, '', minibatch).batchSizes, sizes, `${provider} ${minibatch}`);
  assert.deepEqual([plan('cuda', 'batch=100').batchSizes, plan('cuda', 'batch=0').batchSizes], [[100], []]);
});

test('what onnxruntime says of a machine without a GPU becomes a sentence without C++', () => {
  const webgpu =
    '/onnxruntime_src/onnxruntime/core/providers/webgpu/webgpu_context.cc:136 onnxruntime::webgpu::WebGpuContext::' +
    'Initialize(const onnxruntime::webgpu::WebGpuContextConfig&)::<lambda()> adapter_result.status == ' +
    'wgpu::RequestAdapterStatus::Success was false. Failed to get a WebGPU adapter: No supported adapters\n\n';
  assert.equal(describeProviderFailure(webgpu, 'linux'), 'no GPU that Vulkan can use');
  assert.equal(describeProviderFailure(webgpu, 'win32'), 'no GPU that Direct3D 12 can use');
  const cuda = 'OrtSessionOptionsAppendExecutionProvider_Cuda: Failed to load shared library';
  assert.match(describeProviderFailure(cuda, 'linux'), /^the CUDA provider or a library .* is missing/);
  const noGpu = 'CUDA failure 100: no CUDA-capable device is detected ; GPU=32 ; file=/a/b.cc ; expr=cudaSetDevice(0);';
  assert.match(describeProviderFailure(noGpu, 'linux'), /^no GPU that CUDA can use/);
  const d3d =
    'D:\\a\\core\\providers\\dml\\dml_provider_factory.cc(183)\\onnxruntime.dll!00007FFA: (caller: 00007FFB) Exception(1) ' +
    'tid(a4) 887A0004 The specified device interface or feature level is not supported on this system.';
  assert.equal(describeProviderFailure(d3d, 'win32'), 'no GPU that DirectML can use');
  const windows = 'no available backend found. ERR: [cuda] backend not found.';
  const missing = 'LoadLibrary failed with error 126 "" when trying to load "C:\\x\\onnxruntime_providers_cuda.dll"';
  assert.match(describeProviderFailure(missing, 'win32'), /^the CUDA provider or a library that it needs is missing/);
  assert.match(describeProviderFailure(windows, 'win32'), /^this onnxruntime has no CUDA/);
  const dml = 'no available backend found. ERR: [dml] backend not found.';
  assert.equal(describeProviderFailure(dml, 'linux'), 'DirectML exists only on Windows');
});

test('of a failure that is not known the C++ goes and the message stays', () => {
  const text = '/src/onnxruntime/core/framework/foo.h:12 void a::b(const c&) x > 0 was false. Something else is wrong';
  assert.equal(describeProviderFailure(text), 'Something else is wrong');
  assert.equal(describeProviderFailure('device\n  lost\n'), 'device lost');
  const memory =
    'CUDA failure 2: out of memory ; GPU=0 ; hostname=box ; file=/a/b.cc ; line=12 ; expr=cudaMalloc(&p, 5);';
  assert.equal(describeProviderFailure(memory), 'CUDA: out of memory');
});
