/** The `bench` command of a UCI session: it takes the flags of `sardonyx bench` and of the engine. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runBenchWords } from '#sardonyx/cli/commands/bench.js';

async function bench(line: string): Promise<string[]> {
  const lines: string[] = [];
  await runBenchWords(line.split(' '), (text) => lines.push(text), new AbortController().signal);
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

test('a wrong flag of bench is one sentence', async () => {
  for (const [line, sentence] of [
    ['--nodes=many', '--nodes must be a whole number from -1, not "many"'],
    ['--num-positions=0', '--num-positions must be a whole number from 1, not "0"'],
    ['--backend=hash --nodes', 'Flag --nodes needs a value'],
    ['--nodse=50', 'Unknown flag --nodse=50; sardonyx --help lists them'],
    ['fifty', 'bench takes one number, the nodes of each position, and flags'],
    ['100 200', 'bench takes one number, the nodes of each position, and flags'],
  ])
    await assert.rejects(bench(line), new Error(sentence));
});
