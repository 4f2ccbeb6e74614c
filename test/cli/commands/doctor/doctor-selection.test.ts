/** What `sardonyx doctor` says about the choice between bundled networks: the speeds, the choice, the reason, and what overrules it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { failure, success } from '#sardonyx/base/util/index.js';
import { parseFinding } from '#sardonyx/cli/commands/doctor/doctor.js';
import { describeSelection, type Finding } from '#sardonyx/cli/commands/doctor/doctor-findings.js';
import type { Bundle, BundledNetwork } from '#sardonyx/engine/weights/network-catalogue.js';
import { NetworkSelector } from '#sardonyx/engine/weights/network-selection.js';
import { SpeedStore } from '#sardonyx/engine/weights/speed-store.js';

const createEntry = (file: string, eloAtEqualNodes: number): BundledNetwork => ({
  file,
  precision: 'fp32',
  backends: ['cpu'],
  input: 'lc0-112',
  policy: 'lc0-1858',
  sha256: file,
  eloAtEqualNodes,
});
const bundle: Bundle = {
  networks: [createEntry('strong.onnx', 140), createEntry('fast.onnx', 0)],
  eloPerSpeedDoubling: 70,
};
const nowhere = new SpeedStore(() => undefined);

async function describe(...nodesPerSecond: number[]): Promise<Finding | null> {
  const measure = async () => success([nodesPerSecond]);
  const selection = await new NetworkSelector(measure, nowhere).select(bundle, 'cpu', '');
  assert.ok(selection !== null);
  return describeSelection(selection);
}

test('the finding names the network, the reason, the speeds, and the flags that overrule it', async () => {
  assert.deepEqual(await describe(1234.5, 2469), {
    what: 'cpu network',
    isFine: true,
    text:
      'strong.onnx, because fast.onnx is predicted to be 70 Elo weaker; nodes/s of the fastest search: strong.onnx 1,235, ' +
      'fast.onnx 2,469; 1 of 1 measurements agree, so the next start measures again; not saved',
    fix: '--weights=strong or --weights=fast overrules the choice',
  });
  assert.match(
    (await describe(1000, 8000))?.text ?? '',
    /^fast\.onnx, because strong\.onnx is predicted to be 70 Elo weaker;/,
  );
  assert.match(
    (await describe(1000, 4300))?.text ?? '',
    /^strong\.onnx, because fast\.onnx is predicted to be only 7 Elo stronger \(up to 10 count as a tie, /,
  );
});

test('speeds that are kept come with their file', () => {
  const [network] = bundle.networks;
  const candidates = [{ network, nodesPerSecond: 1000, predictedLeadElo: 0 }];
  const known = { rounds: 8, agreeing: 7, isClear: true, isSure: true, path: '/cache/speeds/1.json' };
  const finding = describeSelection({ network, candidates, problem: null, ...known });
  assert.match(finding?.text ?? '', /; 7 of 8 measurements agree, which is enough; saved in \/cache\/speeds\/1\.json$/);
  const unclear = describeSelection({ network, candidates, problem: null, ...known, agreeing: 4, isClear: false });
  assert.match(unclear?.text ?? '', /because the measurements do not agree, so the network that is stronger at equal/);
});

test('a failed measurement is reported with the network that plays', async () => {
  const selection = await new NetworkSelector(async () => failure('no abacus'), nowhere).select(bundle, 'cpu', '');
  assert.ok(selection !== null);
  assert.deepEqual(describeSelection(selection), {
    what: 'cpu network',
    isFine: false,
    text: 'strong.onnx; the speeds of the bundled networks cannot be measured: no abacus',
  });
});

test('without a choice there is nothing to say', async () => {
  const single = { ...bundle, networks: bundle.networks.slice(0, 1) };
  const selection = await new NetworkSelector(() => assert.fail('measured'), nowhere).select(single, 'cpu', '');
  assert.ok(selection !== null);
  assert.equal(describeSelection(selection), null);
});

test('a finding is read from the process that tried a provider, whatever libraries print before and after it', () => {
  const finding = { what: 'cuda', isFine: true, text: 'works' };
  const line = JSON.stringify(finding);
  assert.deepEqual(parseFinding(`Loading\n{"what":1}\n${line}\nnull\n5\nBye\n`), finding);
  for (const text of ['', 'null\n', '5', '{"what":"cuda"}\n', `[${line}]`])
    assert.equal(parseFinding(text), null, text);
});
