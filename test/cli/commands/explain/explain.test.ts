import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { parseFen } from '#sardonyx/chess/rules/index.js';
import type { Explanation } from '#sardonyx/cli/commands/explanation.js';
import { joinFenWords } from '#sardonyx/cli/prepare-arguments.js';
import { computeOcclusion } from '#sardonyx/networks/explain/index.js';
import { encodeNetworkFile } from '../../../support/lc0-network-file.js';
import { createRandomNetwork as createLc0Network } from '../../../support/lc0-random-network.js';
import { createRandomNetwork, TINY } from '../../../support/random-network.js';
import { runCommand } from '../../../support/run-command.js';
import { repositoryRoot } from '../../../support/shared-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-explain-'));
after(() => rmSync(folder, { recursive: true }));
const tiny = join(repositoryRoot, 'models/tiny-test.onnx');
const FEN = 'r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4';

const run = (...args: string[]) => runCommand(args, { cwd: folder });

async function explain(...args: string[]): Promise<Explanation> {
  const { stdout, stderr, status } = await run('explain', '--json', '--weights', tiny, ...args);
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout) as Explanation;
}

test('both methods explain the same network, in single precision', async () => {
  const networks = new Set<string>();
  for (const method of ['occlusion', 'gradcam']) {
    networks.add((await explain('--weights=default-int8', `--method=${method}`)).network);
  }
  assert.deepEqual([...networks].length, 1);
});

test('a square that is empty in every plane weighs nothing, and the pieces weigh something', async () => {
  const { squares, move, probability, withoutHistory } = await explain(FEN);
  assert.equal(squares.length, 64);
  for (const { piece, value, policy, policyShift } of squares) {
    if (piece === '') assert.ok(Math.abs(value) + Math.abs(policy) + policyShift < 1e-6);
    else assert.ok(policyShift > 0);
  }
  assert.equal(squares[39].square, 'h5');
  assert.equal(squares[39].piece, 'Q');
  assert.match(move, /^[a-h][1-8][a-h][1-8]$/);
  assert.ok(probability > 1 / 44);
  assert.equal(withoutHistory, null);
});

test('for Black too the weights lie where its pieces stand', async () => {
  const { sideToMove, squares } = await explain('rnb1k1nr/pppp1ppp/8/2b1p3/4P2q/2N2N2/PPPP1PPP/R1BQKB1R b KQkq - 4 4');
  assert.equal(sideToMove, 'black');
  for (const { piece, policyShift } of squares) assert.equal(piece !== '', policyShift > 1e-6);
});

test('with moves played, past positions weigh too, and it is said what the network thinks without them', async () => {
  const { squares, withoutHistory } = await explain('--moves', 'e2e4 e7e5');
  const [e2] = squares.filter(({ square }) => square === 'e2');
  assert.equal(e2.piece, '');
  assert.ok(e2.policyShift > 0, 'a pawn stood there');
  assert.ok(withoutHistory !== null);
});

test('occlusion agrees with a position whose planes lack the piece', async () => {
  const pool = {
    model: { bytes: createRandomNetwork(TINY), name: 'random.onnx' },
    backend: 'cpu',
    historyFill: 'no',
  } as const;
  const position = unwrap(parseFen('4k3/8/8/8/8/8/4P3/R3K3 w - - 0 1'));
  const bare = unwrap(parseFen('4k3/8/8/8/8/8/4P3/4K3 w - - 0 1'));
  const whole = unwrap(await computeOcclusion(pool, position));
  const { whole: expected } = unwrap(await computeOcclusion(pool, bare));
  assert.ok(Math.abs(whole.withoutSquare[0].valueWl - expected.valueWl) < 1e-5);
  assert.ok(Math.abs(whole.whole.valueWl - expected.valueWl) > 1e-5);
});

test('the boards of text show every piece, and lc0’s own files are explained too', async () => {
  const { stdout, status, stderr } = await run('explain', '--weights', tiny, ...FEN.split(' '));
  assert.equal(status, 0, stderr);
  assert.equal(stderr, '');
  const ranks = stdout.split('\n').filter((line) => /^[1-8] {2}/.test(line));
  assert.equal(ranks.length, 16);
  assert.equal(ranks[0].replace(/[^a-zA-Z·]/g, ''), 'r·bqkb·r');
  assert.match(stdout, /percentage points lost when the square is erased/);
  const file = join(folder, 'net.pb.gz');
  writeFileSync(file, encodeNetworkFile(createLc0Network({ blocks: 1, filters: 4, value: 'wdl' })));
  const lc0 = await run('explain', '--weights', file, '--move', 'e2e4');
  assert.equal(lc0.status, 0, lc0.stderr);
  assert.match(lc0.stdout, /^e2e4 \d/m);
});

test('the picture is an SVG file of two boards with every piece and both titles', async () => {
  const { status, stderr } = await run('explain', '--weights', tiny, FEN, '--out', 'why.svg');
  assert.equal(status, 0, stderr);
  const svg = readFileSync(join(folder, 'why.svg'), 'utf8');
  const [, width, height] = /^<svg [^>]*width="(\d+)" height="(\d+)"[^>]*>\n[\s\S]*<\/svg>\n$/.exec(svg) ?? [];
  const rectangles = [...svg.matchAll(/<rect x="(\d+)" y="(\d+)" width="(\d+)" height="(\d+)" fill="rgb\(/g)];
  const pieces = FEN.split(' ')[0].replace(/[\d/]/g, '').length;
  assert.equal(rectangles.length, 1 + 2 * (64 + pieces));
  for (const [x, y, w, h] of rectangles.map((match) => match.slice(1).map(Number))) {
    assert.ok(x + w <= Number(width) && y + h <= Number(height));
  }
  assert.match(svg, />[a-h][1-8][a-h][1-8] \d+\.\d%</);
  assert.match(svg, />W−L [+−]\d\.\d\d</);
  assert.doesNotMatch(svg, /NaN|undefined/);
});

test('what cannot be explained is one sentence', async () => {
  for (const [args, sentence] of [
    [['--move', 'e2e5'], /^e2e5 is not a legal move here; legal are /],
    [['--out', 'why.png'], /^--out needs a name that ends in \.svg/],
    [['--backend=random'], /has no network, so there is nothing to explain/],
    [['7k/5Q2/6K1/8/8/8/8/8 b - - 0 1'], /the game is over/],
  ] as const) {
    const { status, stdout, stderr } = await run('explain', '--weights', tiny, ...args);
    assert.equal(status, 1);
    assert.equal(stdout, '');
    assert.match(stderr, sentence);
  }
});

test('a FEN needs no quotes', async () => {
  assert.deepEqual(joinFenWords(['eval', ...FEN.split(' '), '--json']), ['eval', FEN, '--json']);
  assert.deepEqual(joinFenWords(['perft', '2', `--fen=${FEN.split(' ')[0]}`, 'w', '-', '-']), [
    'perft',
    '2',
    `--fen=${FEN.split(' ')[0]} w - -`,
  ]);
  assert.deepEqual(joinFenWords(['match', '-', 'w', '8/8']), ['match', '-', 'w', '8/8']);
  const { stdout, stderr, status } = await run('eval', '--weights', tiny, ...FEN.split(' '));
  assert.equal(status, 0, stderr);
  assert.match(stdout, /^Score: /);
});

test('Grad-CAM shows where the last feature maps look, as shares of the largest', async () => {
  const { method, squares, move, withoutHistory } = await explain('--method', 'gradcam', '--move', 'h5f7', FEN);
  assert.deepEqual([method, move, withoutHistory], ['gradcam', 'h5f7', null]);
  for (const key of ['policy', 'value'] as const) {
    const weights = squares.map((square) => square[key]);
    assert.ok(Math.min(...weights) >= 0 && Math.max(...weights) <= 1);
    assert.ok(Math.max(...weights) === 1 || weights.every((weight) => weight === 0));
  }
  const { stdout, status } = await run('explain', '--method', 'gradcam', '--weights', tiny, '--out', 'cam.svg', FEN);
  assert.equal(status, 0);
  assert.match(stdout, /squares that support the move/);
  assert.match(readFileSync(join(folder, 'cam.svg'), 'utf8'), /^<svg/);
});

test('Grad-CAM reads outputs in half precision', async () => {
  const half = join(folder, 'half-outputs.onnx');
  writeFileSync(half, createRandomNetwork({ ...TINY, float16: 'outputs' }));
  const { stdout } = await run('explain', '--json', '--method', 'gradcam', '--weights', half, FEN);
  const { policy } = JSON.parse((await run('eval', '--json', '--weights', half, FEN)).stdout);
  assert.equal((JSON.parse(stdout) as Explanation).move, policy[0].move);
});

test('Grad-CAM of a network with several bodies shows the one that evaluates the position', async () => {
  for (const fen of [
    'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1',
    'r2q1rk1/1b2bppp/p1n1p3/1p6/3P4/1B3N2/PP3PPP/R1BQR1K1 w - - 0 1',
    '8/8/4k3/8/2R5/4K3/8/8 w - - 0 1',
  ]) {
    const { stdout, status, stderr } = await run(
      'explain',
      '--json',
      '--method',
      'gradcam',
      '--weights',
      'light-48x5',
      fen,
    );
    assert.equal(status, 0, stderr);
    const { q, policy } = JSON.parse((await run('eval', '--json', '--weights', 'light-48x5', fen)).stdout);
    const { value, move } = JSON.parse(stdout) as { value: number; move: string };
    assert.equal(move, policy[0].move, fen);
    assert.ok(Math.abs(value - q) < 0.02, `${fen}: ${value} and ${q}`);
  }
});

test('Grad-CAM of an lc0 file works, and of an int8 network is refused in a sentence', async () => {
  const file = join(folder, 'cam.pb.gz');
  writeFileSync(file, encodeNetworkFile(createLc0Network({ blocks: 1, filters: 4, value: 'wdl' })));
  const { stdout, status, stderr } = await run('explain', '--json', '--method', 'gradcam', '--weights', file);
  assert.equal(status, 0, stderr);
  assert.equal((JSON.parse(stdout) as Explanation).squares.length, 64);
  // A copy, for in place of a bundled file the one that it was made from is explained.
  const int8 = join(folder, 'copy-int8.onnx');
  copyFileSync(join(repositoryRoot, 'models/default-int8.onnx'), int8);
  const refused = await run('explain', '--method', 'gradcam', '--weights', int8);
  assert.equal(refused.status, 1);
  assert.match(refused.stderr, /is in int8; gradients need single precision/);
});
