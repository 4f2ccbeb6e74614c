/**
 * Priors and values of Maia 1900 in positions with repetitions, castling, en passant, promotions, black to move and
 * fifty-move counts, against what lc0 v0.33 (blas) printed for them: `go nodes 1` with VerboseMoveStats and
 * `--policy-softmax-temp=1.0`. lc0 prints castling as king takes rook, priors in hundredths of a percent. And the visits of all root
 * moves, where lc0's prefetch or its solid tree change them.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { it } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { formatUciMove, type Move, parseFen, parseUciMove, START_FEN } from '#sardonyx/chess/rules/index.js';
import { expandPlanes, getInputEncoding, getPolicyEncoding } from '#sardonyx/networks/encoding/index.js';
import { loadLc0Network } from '#sardonyx/networks/lc0/index.js';
import { computeFastExp } from '#sardonyx/networks/nn/evaluators/value-head.js';
import { findChannelBlock } from '#sardonyx/networks/onnx/index.js';
import { INPUT_SIZE, openModel, runModel } from '../../support/lc0-onnx.js';
import { findShared, repositoryRoot } from '../../support/shared-folder.js';

interface GoldenPosition {
  readonly position: string;
  readonly value: number;
  /** Percent. */
  readonly priors: Readonly<Record<string, number>>;
}

interface GoldenVisits {
  readonly position: string;
  readonly searchmoves: string;
  readonly visits: Readonly<Record<string, number>>;
}

const MAX_PRIOR_DIFFERENCE = 0.02;
const MAX_VALUE_DIFFERENCE = 0.0005;

const maia = findShared('nets/maia-1900.pb.gz');

for (const [name, channelBlock] of [
  ["ONNX's convolutions", 0],
  ['rank convolutions', await findChannelBlock()],
] as const) {
  it(`Maia 1900 with ${name} has the priors and values that lc0 prints`, { skip: maia.skip }, () =>
    compareWithLc0(channelBlock),
  );
}

async function compareWithLc0(channelBlock: number): Promise<void> {
  const path = join(repositoryRoot, 'test', 'networks', 'lc0', 'golden', 'maia-1900.json');
  const golden = JSON.parse(readFileSync(path, 'utf8')) as GoldenPosition[];
  const session = await openModel(unwrap(await loadLc0Network(maia.path, { cacheFolder: null, channelBlock })));
  const input = unwrap(getInputEncoding('lc0-112'));
  const policy = unwrap(getPolicyEncoding('lc0-1858'));
  const masks = new Uint32Array(2 * input.planes);
  const values = new Float32Array(input.planes);
  const planes = new Float32Array(INPUT_SIZE);
  const moves = new Uint16Array(256);
  for (const { position: text, value, priors } of golden) {
    const [root, line = ''] = text.replace(/^fen /, '').split(' moves ');
    const position = unwrap(parseFen(root === 'startpos' ? START_FEN : root));
    for (const word of line.split(' ')) if (word) position.makeMove(unwrap(parseUciMove(position, word)));
    const transform = input.writePacked(position, 'fen_only', masks, 0, values, 0);
    expandPlanes(masks, 0, values, 0, input.planes, planes, 0);
    const output = await runModel(session, planes);

    const count = position.generateLegalMoves(moves);
    assert.equal(count, Object.keys(priors).length, text);
    const logits = Array.from(
      { length: count },
      (_, i) => output.policy[policy.moveToIndex(position, moves[i] as Move, transform)],
    );
    const most = Math.max(...logits);
    const weights = logits.map((logit) => computeFastExp(logit - most));
    const sum = weights.reduce((total, weight) => total + weight, 0);
    for (let i = 0; i < count; i++) {
      const move = formatUciMove(moves[i] as Move, true);
      const difference = Math.abs((100 * weights[i]) / sum - priors[move]);
      assert.ok(difference <= MAX_PRIOR_DIFFERENCE, `${move} differs by ${difference} points in ${text}`);
    }
    assert.ok(output.wdl);
    const difference = Math.abs(output.wdl[0] - output.wdl[2] - value);
    assert.ok(difference <= MAX_VALUE_DIFFERENCE, `the value differs by ${difference} in ${text}`);
  }
}

/** lc0: `go nodes 250`, one thread, `--minibatch-size=1 --smart-pruning-factor=0`; it may make one visit more than it is asked for. */
it('one thread and minibatches of one make the visits of lc0, prefetch and solid tree included', {
  skip: maia.skip,
}, () => {
  const path = join(repositoryRoot, 'test', 'networks', 'lc0', 'golden', 'visits.json');
  const golden = JSON.parse(readFileSync(path, 'utf8')) as GoldenVisits[];
  const searches = golden.map(({ position, searchmoves }) => {
    const limits = searchmoves === '' ? '' : ` searchmoves ${searchmoves}`;
    return `ucinewgame\nposition ${position}\ngo nodes 250${limits}\nwait\n`;
  });
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  const args = [
    program,
    `--weights=${maia.path}`,
    '--threads=1',
    '--minibatch-size=1',
    '--smart-pruning-factor=0',
    '--verbose-move-stats',
  ];
  const { stdout } = spawnSync(process.execPath, args, { input: `${searches.join('')}quit\n`, encoding: 'utf8' });
  const answers = stdout.split(/^bestmove.*$/m);
  golden.forEach(({ position, visits }, i) => {
    const found: Record<string, number> = {};
    for (const [, move, n] of answers[i].matchAll(/^info string (\S+)\s+\(\s*\d+\s*\) N:\s*(\d+)/gm)) {
      if (move !== 'node' && Number(n) > 0) found[move] = Number(n);
    }
    const moves = new Set([...Object.keys(found), ...Object.keys(visits)]);
    let difference = 0;
    for (const move of moves) difference += Math.abs((found[move] ?? 0) - (visits[move] ?? 0));
    assert.ok(difference <= 1, `${position}: ${JSON.stringify(found)}`);
  });
});
