import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeProviderFailure } from '#sardonyx/nn/backend/provider-failure.js';

test('what onnxruntime says of a machine without a GPU becomes a sentence without C++', () => {
  const webgpu =
    '/onnxruntime_src/onnxruntime/core/providers/webgpu/webgpu_context.cc:136 onnxruntime::webgpu::WebGpuContext::' +
    'Initialize(const onnxruntime::webgpu::WebGpuContextConfig&)::<lambda()> adapter_result.status == ' +
    'wgpu::RequestAdapterStatus::Success was false. Failed to get a WebGPU adapter: No supported adapters\n\n';
  assert.equal(describeProviderFailure(webgpu, 'linux'), 'no GPU that Vulkan can use');
  assert.equal(describeProviderFailure(webgpu, 'win32'), 'no GPU that Direct3D 12 can use');
  const cuda = 'OrtSessionOptionsAppendExecutionProvider_Cuda: Failed to load shared library';
  assert.match(describeProviderFailure(cuda, 'linux'), /^the CUDA provider or a library .* is missing/);
  const dml = 'no available backend found. ERR: [dml] backend not found.';
  assert.equal(describeProviderFailure(dml, 'linux'), 'DirectML is a part of Windows alone');
});

test('of a failure that is not known the C++ goes and the message stays', () => {
  const text = '/src/onnxruntime/core/framework/foo.h:12 void a::b(const c&) x > 0 was false. Something else is wrong';
  assert.equal(describeProviderFailure(text), 'Something else is wrong');
  assert.equal(describeProviderFailure('device\n  lost\n'), 'device lost');
});
