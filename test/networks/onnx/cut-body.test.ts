import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodeModel, encodeModel, type GraphMessage } from '#sardonyx/networks/nn/index.js';
import { takeBody } from '#sardonyx/networks/onnx/index.js';

/** A branch that doubles the input with a weight of its own. */
function createBranch(weight: string): GraphMessage {
  return {
    node: [{ opType: 'Mul', input: ['planes', weight], output: [`${weight} out`] }],
    initializer: [{ name: weight, dataType: 1, dims: [1], rawData: new Uint8Array(4) }],
    output: [{ name: `${weight} out` }],
  };
}

test('a body that is taken from a network brings the weights of its branch', () => {
  const attribute = [
    { name: 'then_branch', g: createBranch('first') },
    { name: 'else_branch', g: createBranch('second') },
  ];
  const graph = {
    input: [{ name: 'planes' }],
    node: [{ opType: 'If', input: ['is first'], output: ['policy'], attribute }],
    output: [{ name: 'policy' }],
  };
  for (const [body, weight] of ['first', 'second'].entries()) {
    const taken = decodeModel(takeBody(encodeModel({ irVersion: 8, graph }), body))?.graph;
    assert.deepEqual(
      taken?.initializer?.map(({ name }) => name),
      [weight],
    );
    assert.deepEqual(
      taken.node?.map(({ input, output }) => [input, output]),
      [[['planes', weight], ['policy']]],
    );
  }
});
