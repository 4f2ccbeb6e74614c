/**
 * The engine over onnxruntime-web in Node (scripts/lab/strength/wasm-engine.mjs), with which matches are played as pages play: it sees
 * what the engine over onnxruntime-node sees.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { repositoryRoot } from '../support/shared-folder.js';

const network = join(repositoryRoot, 'models', 'tiny-test.onnx');

/** Priors and values of all root moves after a search. */
function ask(program: string, nodes: number): { moves: Map<string, number>; best: string } {
  const args = [join(repositoryRoot, program), `--weights=${network}`, '--threads=1', '--verbose-move-stats'];
  const { stdout, stderr, status } = spawnSync(process.execPath, args, {
    input: `uci\nisready\nposition startpos moves e2e4\ngo nodes ${nodes}\nwait\nquit\n`,
    encoding: 'utf8',
  });
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  const lines = stdout.matchAll(/^info string (\w{4,5}) .*\(P: *([\d.]+)%\)/gm);
  const moves = new Map([...lines].map(([, move, prior]) => [move, Number(prior)]));
  return { moves, best: /^bestmove (\w+)/m.exec(stdout)?.[1] ?? '' };
}

test('in WebAssembly the engine sees the same priors as over onnxruntime-node, and plays a move', () => {
  const program = join(repositoryRoot, 'scripts', 'lab', 'strength', 'wasm-engine.mjs');
  const version = spawnSync(process.execPath, [program, '--version'], { encoding: 'utf8' }).stdout;
  assert.match(version, /\(WebAssembly\)/);
  const native = ask('dist/cli/main.js', 30);
  const wasm = ask('scripts/lab/strength/wasm-engine.mjs', 30);
  assert.equal(wasm.moves.size, 21, 'twenty moves and the node itself');
  for (const [move, prior] of native.moves) assert.ok(Math.abs((wasm.moves.get(move) ?? -1) - prior) < 0.02, move);
  assert.ok(wasm.moves.has(wasm.best));
});
