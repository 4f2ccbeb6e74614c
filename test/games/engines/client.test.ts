import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { createEngineSpec, formatPairs, parsePairs, splitWords } from '#sardonyx/games/engines/engine-spec.js';
import { decodeMate, encodeScore, InfoLines, parseInfoLine, type UciInfo } from '#sardonyx/games/engines/info-lines.js';
import { formatGo, UciClient } from '#sardonyx/games/engines/uci-client.js';
import { fakeEngine, skipWithoutStockfish, stockfish } from '../../support/shared-folder.js';

const QUICK = { startMs: 5_000, moveMs: 5_000 };

function info(line: string): UciInfo {
  const parsed = parseInfoLine(line);
  assert.notEqual(parsed, null);
  return parsed as UciInfo;
}

test('words are split at spaces outside quotes', () => {
  assert.deepEqual(unwrap(splitWords(`cmd=x  args="-a 'b c'" name='A B' e=""`)), [
    'cmd=x',
    "args=-a 'b c'",
    'name=A B',
    'e=',
  ]);
  assert.equal(splitWords('a "b').ok, false);
});

test('pairs are written so that they are read again, whatever is in them', () => {
  const pairs: [string, string][] = [
    ['weights', `/a "b'c/net.onnx`],
    ['name', ' = '],
    ['option.Debug Log File', ''],
    ['option.A=B', `""'"`],
  ];
  assert.deepEqual(unwrap(parsePairs(formatPairs(pairs.slice(0, 3)))), pairs.slice(0, 3));
  assert.deepEqual(unwrap(splitWords(formatPairs(pairs))).at(-1), `option.A=B=""'"`);
});

test('control characters of an engine reach neither its name nor a message about it', async () => {
  const client = await UciClient.start(fakeEngine('--name=\u001b[2Jevil\u009b\u0007', '--crash-at=1'), QUICK);
  assert.equal(client.name, '[2Jevil');
  await assert.rejects(client.go('startpos', { nodes: 1 }), /^EngineError: [^\p{Cc}]*$/u);
  await client.close();
});

test('an engine that floods waits for its lines to be taken, and goes on then', async () => {
  const flood =
    "const line = 'info depth 1 '.repeat(80) + '\\n'; process.stdin.once('data', () => { console.log('uciok'); \
    process.stdin.once('data', () => { console.log('readyok'); let sent = 0; const go = () => { \
    while (sent < 20e6 && process.stdout.write(line)) sent += line.length; \
    if (sent < 20e6) process.stdout.once('drain', go); else process.exit(7); }; go(); }); });";
  const spec = { command: process.execPath, args: ['-e', flood], name: 'Flood', folder: null, options: [] };
  const client = await UciClient.start(spec);
  await assert.rejects(client.go('startpos', { nodes: 1 }), /Flood ended with code 7/);
  await client.close();
});

test('an engine specification keeps the words it does not know for its caller', () => {
  const pairs = unwrap(parsePairs(`cmd=/bin/e name=E dir=/tmp args="-x 'y z'" option.Hash=16 nodes=5`));
  const { spec, rest } = unwrap(createEngineSpec(pairs));
  assert.deepEqual(spec, {
    command: '/bin/e',
    args: ['-x', 'y z'],
    name: 'E',
    folder: '/tmp',
    options: [['Hash', '16']],
  });
  assert.deepEqual(rest, [['nodes', '5']]);
  assert.equal(createEngineSpec([['name', 'E']]).ok, false);
  const wrong = parsePairs('cmd=x fast');
  assert.equal(wrong.ok ? '' : wrong.error, '"fast" is not of the form key=value');
});

test('an info line gives score, rank and moves, and other info lines nothing', () => {
  const line =
    'info depth 12 seldepth 18 multipv 2 score cp -31 lowerbound wdl 1 2 3 nodes 99 nps 1 time 7 pv e2e4 e7e5';
  assert.deepEqual(parseInfoLine(line), {
    rank: 2,
    depth: 12,
    score: { kind: 'cp', value: -31 },
    isBound: true,
    nodes: 99,
    pv: ['e2e4', 'e7e5'],
  });
  assert.equal(parseInfoLine('info string score cp 5 pv e2e4'), null);
  assert.equal(parseInfoLine('info depth 3 currmove e2e4 currmovenumber 1'), null);
});

test('mates are coded beyond every centipawn score and decoded again', () => {
  assert.equal(encodeScore({ kind: 'mate', value: 3 }), 31_994);
  assert.equal(encodeScore({ kind: 'mate', value: -1 }), -31_998);
  assert.equal(encodeScore({ kind: 'cp', value: 99_999 }), 30_000);
  for (const moves of [1, 40, -1, -999]) assert.equal(decodeMate(encodeScore({ kind: 'mate', value: moves })), moves);
  assert.equal(decodeMate(-30_000), null);
});

test('the last block of MultiPV lines counts, without a move twice, and with bounds replaced unless they count', () => {
  for (const countsBounds of [false, true]) {
    const lines = new InfoLines(countsBounds);
    for (const [rank, cp, move] of [
      [1, 30, 'a2a3'],
      [2, 20, 'b2b3'],
      [3, 10, 'c2c3'],
    ]) {
      lines.add(info(`info depth 5 multipv ${rank} score cp ${cp} nodes 1 pv ${move}`));
    }
    lines.add(info('info depth 6 multipv 1 score cp 90 nodes 1 pv c2c3'));
    lines.add(info('info depth 6 multipv 2 score cp 55 lowerbound nodes 1 pv a2a3'));
    const listed = lines.list().map(({ rank, score, pv }) => `${rank} ${score.value} ${pv[0]}`);
    assert.deepEqual(listed, ['1 90 c2c3', `2 ${countsBounds ? 55 : 30} a2a3`, '3 20 b2b3']);
  }
});

test('go says every limit', () => {
  const clocks = { whiteMs: 1000.4, blackMs: 900, whiteIncrementMs: 10, blackIncrementMs: 20, movesToGo: 5 };
  assert.equal(formatGo({ clocks }), 'go wtime 1000 btime 900 winc 10 binc 20 movestogo 5');
  assert.equal(formatGo({ nodes: 7, depth: 3, movetimeMs: 50 }), 'go nodes 7 depth 3 movetime 50');
});

test('a conversation: name, options, scores of several moves, end', async () => {
  const client = await UciClient.start({ ...fakeEngine('--name=Tester'), options: [['multipv', '3']] }, QUICK);
  assert.equal(client.name, 'Tester');
  await client.newGame();
  const answer = await client.go('startpos moves e2e4', { nodes: 10 });
  assert.equal(answer.lines.length, 3);
  assert.equal(answer.lines[0].pv[0], answer.bestMove);
  await client.close();
  assert.equal(client.isAlive, false);
});

test('what goes wrong is said in one sentence', async () => {
  await assert.rejects(UciClient.start({ ...fakeEngine(), command: '/no/such/engine' }, QUICK), /cannot be started/);
  await assert.rejects(
    UciClient.start({ ...fakeEngine(), options: [['Hush', '1']] }, QUICK),
    /Fake has no option "Hush"/,
  );
  await assert.rejects(
    UciClient.start({ ...fakeEngine('--mute'), name: 'Mute' }, { startMs: 300, moveMs: 100 }),
    /^EngineError: Mute sent no uciok within 0.3 s$/,
  );
  const crashing = await UciClient.start({ ...fakeEngine('--crash-at=1'), name: 'Crash' }, QUICK);
  await assert.rejects(crashing.go('startpos', {}), /^EngineError: Crash ended with code 3; it said: out of luck$/);
  assert.equal(crashing.isAlive, false);
  const hanging = await UciClient.start({ ...fakeEngine('--hang-at=1'), name: 'Hang' }, QUICK);
  await assert.rejects(hanging.go('startpos', {}, 100), /Hang sent no bestmove within 0.1 s/);
  await hanging.close();
});

test('an engine that outlives the script that started it is not waited for', {
  skip: process.platform === 'win32' && 'there is no sh',
}, async () => {
  const script = { ...fakeEngine(), command: 'sh', args: ['-c', 'sleep 20; true'], name: 'Script' };
  const startedAt = performance.now();
  await assert.rejects(UciClient.start(script, { startMs: 100, moveMs: 100 }), /Script sent no uciok within 0.1 s/);
  assert.ok(performance.now() - startedAt < 15_000);
});

test('an engine is not charged for the time that the main thread is busy', async () => {
  const client = await UciClient.start(fakeEngine(), QUICK);
  await client.go('startpos', { nodes: 1 });
  const answer = client.go('startpos moves e2e4', { nodes: 1 });
  // The search scheduler holds the main thread like this.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000);
  const { timeMs } = await answer;
  // The engine needs less than a millisecond; the rest is for busy test machines.
  assert.ok(timeMs >= 0 && timeMs < 500, `charged ${timeMs} ms`);
  await client.close();
});

test('Stockfish answers', { skip: skipWithoutStockfish }, async () => {
  const client = await UciClient.start({ ...stockfish, options: [['MultiPV', '5']] }, QUICK);
  const answer = await client.go('startpos', { nodes: 2_000 });
  assert.equal(answer.lines.length, 5);
  assert.match(client.name, /Stockfish/);
  await client.close();
});
