import assert from 'node:assert/strict';
import { test } from 'node:test';
import { planBackend } from '#sardonyx/nn/backend/backend-plan.js';
import { parseNetworkChoice } from '#sardonyx/nn/index.js';
import { unwrap } from '#sardonyx/util/index.js';

test('heads and precision are taken from the backend options, by lc0 names', () => {
  assert.deepEqual(unwrap(parseNetworkChoice('')), {});
  assert.deepEqual(unwrap(parseNetworkChoice('policy_head=optimistic,value_head=q,threads=2')), {
    policyHead: 'optimistic',
    valueHead: 'q',
  });
  assert.deepEqual(unwrap(parseNetworkChoice('datatype=f16')), { precision: 'f16' });
  assert.deepEqual(unwrap(parseNetworkChoice('fp16=true')), { precision: 'f16' });
  assert.deepEqual(unwrap(parseNetworkChoice('winograd=false')), { winograd: false });
  assert.deepEqual(unwrap(parseNetworkChoice('fp16=false')), { precision: 'f32' });
  const wrong = parseNetworkChoice('datatype=f8');
  assert.ok(!wrong.ok && /datatype must be f32 or f16/.test(wrong.error));
});

test('a plan does not refuse them', () => {
  const optionsText = 'policy_head=soft,value_head=st,fp16=false,datatype=f32';
  unwrap(planBackend({ backend: 'cpu', optionsText, threads: 1, minibatch: 1 }));
});
