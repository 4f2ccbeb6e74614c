/** The `bench` command of a UCI session: it takes the flags of `sardonyx bench` and of the engine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { runBenchWords } from '#sardonyx/cli/commands/bench.js';
import { createOptionStore } from '#sardonyx/engine/app/options.js';

async function bench(line: string, session = createOptionStore()): Promise<string[]> {
  const lines: string[] = [];
  const { signal } = new AbortController();
  await runBenchWords(session, line.split(' '), (text) => lines.push(text), signal);
  return lines;
}

test('bench takes --nodes and --num-positions, joined or apart, beside the engine’s flags', async () => {
  const [position, network, , nodes] = await bench('--nodes=50 --num-positions 1 --backend=hash --threads=1');
  assert.match(position, /^Position 1: time \d+ ms, 50 nodes/);
  assert.match(network, /^Network +: hash/);
  assert.match(nodes, /^Nodes searched +: 50$/);
  const bare = await bench('50 --num-positions=1 --backend=hash --threads=1');
  assert.equal(bare.length, 9);
  assert.match(bare[3], /: 50$/);
});

test('bench plays with the network and the threads of the session, and changes none of its options', async () => {
  const session = createOptionStore();
  unwrap(session.set('Backend', 'random'));
  unwrap(session.set('Threads', '3'));
  const before = session.describe('search', 'pool');
  const lines = await bench('20 --num-positions=1 --cpuct=2', session);
  assert.match(lines[1], /^Network +: random, 3 threads$/);
  assert.match((await bench('20 --num-positions=1 --threads=2', session))[1], /random, 2 threads$/);
  assert.equal(session.describe('search', 'pool'), before);
});

test('a wrong flag of bench is one sentence', async () => {
  for (const [line, sentence] of [
    ['--nodes=many', '--nodes must be a whole number from -1, not "many"'],
    ['--num-positions=0', '--num-positions must be a whole number from 1, not "0"'],
    ['--backend=hash --nodes', 'Flag --nodes needs a value'],
    ['--nodse=50', 'Unknown flag --nodse=50; did you mean --nodes?'],
    ['fifty', 'bench takes one number, the nodes of each position, and flags'],
    ['100 200', 'bench takes one number, the nodes of each position, and flags'],
  ])
    await assert.rejects(bench(line), new Error(sentence));
});
