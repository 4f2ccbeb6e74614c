import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseBackendOptions } from '#sardonyx/nn/backend/backend-options.js';
import { planBackend } from '#sardonyx/nn/backend/backend-plan.js';
import { unwrap } from '#sardonyx/util/index.js';

test('options are read in the grammar of lc0, sub-dictionaries included', () => {
  const options = unwrap(parseBackendOptions('gpu=0, path="a, (b)=c",a(threads=2,b(x=1)),devices=0;1'));
  assert.equal(options.read('gpu'), '0');
  assert.equal(options.read('path'), 'a, (b)=c');
  assert.equal(options.read('devices'), '0;1');
  const a = options.children.get('a');
  assert.equal(a?.read('threads'), '2');
  assert.equal(a?.read('gpu'), '0', 'a sub-dictionary sees the keys around it');
  assert.equal(a?.children.get('b')?.read('x'), '1');
  assert.equal(options.read('threads'), undefined);
  options.refuseUnread('test');
});

test('malformed options are refused in one sentence', () => {
  for (const [text, sentence] of [
    ['gpu', /"gpu" needs a value/],
    ['gpu=0)', /unexpected "\)" at position 6/],
    ['a(gpu=0', /closing parenthesis is missing/],
    ['a="b', /quote is not closed/],
  ] as const) {
    const result = parseBackendOptions(text);
    assert.ok(!result.ok, text);
    assert.match(result.error, sentence);
  }
});

test('an option that nobody reads is an error, as are unknown backends and values out of range', () => {
  const refuse = (backend: string, options: string, sentence: RegExp): void => {
    const plan = planBackend(backend, options, 0, 0);
    assert.ok(!plan.ok, `${backend} ${options}`);
    assert.match(plan.error, sentence);
  };
  refuse('cpu', 'thread=2', /Backend cpu knows no option "thread"/);
  refuse('cpu', 'threads=2,a(b=1)', /knows no option "a\.b"/);
  refuse('hash', 'threads=2', /Backend hash knows no option "threads"/);
  refuse('random', 'delay=-1', /Backend option delay must be a whole number from 0/);
  refuse('random', 'uniform=yes', /Backend option uniform must be true or false/);
  refuse('cuda', 'devices=a', /Backend option devices must be device numbers/);
  refuse('abacus', '', /Unknown backend "abacus"; known are auto, cpu/);
});

test('plans follow the options and the names of lc0', () => {
  const cpu = unwrap(planBackend('onnx-cpu', 'threads=1,optimize=2', 3, 0));
  assert.equal(cpu.threads, 3);
  assert.equal(cpu.minibatch, 8);
  assert.deepEqual(cpu.evaluator.kind === 'onnx' && [cpu.evaluator.provider, cpu.evaluator.optimization], ['cpu', 2]);
  const cuda = unwrap(planBackend('cuda-fp16', 'devices=0;2', 0, 0));
  assert.deepEqual(cuda.evaluator.kind === 'onnx' && cuda.evaluator.devices, [0, 2]);
  assert.equal(cuda.threads, 4, 'two threads a device');
});
