/** One word for one thing in all commands: positions, limits, and flags that need another one. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { runCommand } from '../support/run-command.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-flags-'));
after(() => rmSync(folder, { recursive: true }));

const HASH = '--backend=hash';
const AFTER_E4 = 'rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1';

async function print(...args: string[]): Promise<string> {
  const { status, stdout, stderr } = await runCommand(args);
  assert.equal(status, 0, stderr);
  return stdout.replace(/Time: .*|\d+ ms|\d+ nps/g, '');
}

test('every command takes a position as words, with --fen, and with --moves behind it', async () => {
  const commands: [args: string[], ...more: string[]][] = [
    [['analyse'], '--nodes=50', HASH],
    [['eval'], HASH],
    [['encode']],
    [['perft', '2']],
    [['bench'], '--nodes=50', '--json', HASH],
  ];
  for (const [command, ...more] of commands) {
    const forms = [[AFTER_E4], AFTER_E4.split(' '), ['--fen', AFTER_E4], [`--fen=${AFTER_E4}`]];
    const printed = new Set<string>();
    for (const form of forms) {
      const text = await print(...command, ...form, ...more);
      printed.add(text.replace(/"(seconds|nps|evaluationsPerSecond)":[\d.]+/g, ''));
    }
    assert.equal(printed.size, 1, command[0]);
  }
  assert.match(await print('analyse', '--moves', 'e2e4', '--nodes=20', HASH), /^rnbqkbnr\/pppppppp\/8\/8\/4P3/);
  assert.match(await print('perft', '1', 'startpos', '--moves', 'e2e4', 'e7e5', '--divide'), /^f1a6: 1$/m);
  assert.match(await print('eval', '--fen=startpos', '--moves=e2e4 e7e5', HASH), /^f1a6 /m);
});

test('of two limits whichever comes first ends a search, and 0 and -1 are none', async () => {
  const read = async (...args: string[]): Promise<{ nodes: number }> =>
    JSON.parse(await print('analyse', 'startpos', '--json', HASH, ...args));
  assert.equal((await read()).nodes, 800);
  assert.equal((await read('--nodes=20', '--movetime=600000')).nodes, 20);
  assert.equal((await read('--nodes=20', '--movetime=-1')).nodes, 20);
  assert.ok((await read('--nodes=1000000000', '--movetime=30')).nodes < 1_000_000_000);
  const suite = join(folder, 'suite.epd');
  writeFileSync(suite, `${AFTER_E4.slice(0, -4)} bm e5;\n`);
  const [{ nodes }] = JSON.parse(await print('suite', suite, '--json', HASH, '--movetime=600000', '--nodes=30'));
  assert.equal(nodes, 30);
  for (const command of [
    ['suite', suite],
    ['analyse', suite],
  ]) {
    const { status, stderr } = await runCommand([...command, '--nodes=-1', HASH]);
    assert.deepEqual(
      [status, stderr],
      [1, 'Give --nodes or --movetime, otherwise the first position would be searched for ever\n'],
    );
  }
});

test('a flag that has no effect where it stands, or a value out of its range, is refused', async () => {
  const refusals: [line: string, sentence: string][] = [
    ['analyse startpos --dump-depth=3', '--dump-depth has no effect without --dump-tree'],
    ['analyse startpos --dump-depth=6', '--dump-depth has no effect without --dump-tree'],
    ['analyse startpos --quit-without-waiting', '--quit-without-waiting has no effect without --stdio'],
    ['analyse startpos --model=a=b', '--model has no effect without --stdio'],
    ['analyse startpos --parallel=2', '--concurrency has no effect without --stdio'],
    ['analyse --stdio --json', '--json has no effect with --stdio'],
    ['analyse --stdio --pgn=x', '--pgn has no effect with --stdio'],
    ['analyse --stdio startpos', 'With --stdio the positions come from stdin'],
    ['analyse --stdio --parallel=10000', '--concurrency must be a whole number from 0 to 512, not "10000"'],
    [
      'analyse --stdio --nodes=0',
      'Give --nodes or --movetime, otherwise a query without a limit would be searched for ever',
    ],
    ['analyse --stdio --nodes=-2', '--nodes must be a whole number from 1, or 0 or -1, not "-2"'],
    ['analyse games.pgn --moves e2e4', '--fen and --moves give one position, and games.pgn is a file to read'],
    ['doctor --sha256=x', '--sha256 has no effect without --install-cuda'],
    ['doctor --from=x', '--from has no effect without --install-cuda'],
    ['doctor --install-cuda --providers=cpu', '--providers has no effect with --install-cuda'],
    ['label --engine=x --out=y --sample=0.5', '--sample has no effect without --from'],
    ['label --engine=x --out=y --from z --wander=0.1', '--wander has no effect with --from'],
    ['label --engine=x --out=y --from z --leaves=2', '--leaves has no effect without --weights'],
    ['label --engine=x --out=y --from z --no-roots', '--no-roots has no effect without --leaves'],
    ['label --engine=x --out=y --backend=cpu', '--backend has no effect without --weights'],
    ['selfplay --visits=1 --full-search-share=0.3', '--full-search-share has no effect without --fast-visits'],
    ['selfplay --visits=1 --openings-mode=random', '--openings-mode has no effect without --openings-pgn'],
    [
      'match --engine=random --engine=random --openings-plies=3',
      '--openings-plies has no effect without --openings-pgn',
    ],
    ['match --engine=random --engine=random --tournament=gauntlet', '--tournament has no effect with two players'],
    ['match --engine=random --engine=random --event=x', '--event has no effect without --pgnout or --results'],
    [
      'match --engine=random --engine=random --time-margin=5',
      '--time-margin has no effect without a player that has a clock: tc, st or movetime',
    ],
    [
      'label --engine=light --out=x',
      'light is a network; an engine that plays it is "cmd=sardonyx option.WeightsFile=light"',
    ],
    ['match --engine=random --engine=random --maxmoves=3 --max-plies=6', '--maxmoves has no effect with --max-plies'],
    ['rescore x --out=y --men-limit=5', '--men-limit has no effect without --syzygy-paths'],
    ['describenet light --weights=x', '--weights has no effect with <file>'],
    ['board --loop-config=x', '--loop-config has no effect without --loop'],
  ];
  for (const [line, sentence] of refusals) {
    const { status, stderr } = await runCommand(line.split(' '));
    assert.deepEqual([status, stderr], [1, `${sentence}\n`], line);
  }
});

test('flags have their old names too, which the help does not show', async () => {
  const play = (...flags: string[]) =>
    runCommand(['match', '--engine=random', '--engine=random', '--games=2', '--rating-interval=0', '--json', ...flags]);
  for (const flags of [['--max-plies=6'], ['--maxmoves=3']]) {
    const { status, stdout, stderr } = await play('--parallelism=2', ...flags);
    assert.equal(status, 0, stderr);
    assert.match(stdout, /"max-plies":2/);
  }
  for (const command of ['match', 'selfplay', 'analyse', 'label']) {
    const { stdout } = await runCommand([command, '--help']);
    assert.match(stdout, /--concurrency/, command);
    assert.doesNotMatch(stdout, /--(?:parallel|parallelism|maxmoves|tb)\b/, command);
  }
  const out = join(folder, 'games.pgn');
  const played = await runCommand([
    'selfplay',
    HASH,
    '--visits=2',
    '--games=1',
    '--max-plies=4',
    '--parallelism=1',
    `--pgnout=${out}`,
  ]);
  assert.equal(played.status, 0, played.stderr);
  assert.match(readFileSync(out, 'utf8'), /1\. /);
});

test('a network’s name stands wherever its file does', async () => {
  const match = ['match', '--games=1', '--max-plies=2', '--rating-interval=0', '--json'];
  const { status, stdout, stderr } = await runCommand([...match, '--engine=light nodes=1', '--engine=random']);
  assert.equal(status, 0, stderr);
  assert.match(stdout, /light/);
  const random = await runCommand([...match, '--engine=random foo=3', '--engine=random']);
  assert.equal(random.stderr, 'Player 1: The random mover takes no "foo=": it has only a name\n');
  // What is set for all players may be meant for the others.
  assert.equal((await runCommand([...match, '--engine=random', '--engine=random', '--each=option.Hash=1'])).status, 0);
  const onnx = join(folder, 'light.pb.gz');
  const converted = await runCommand(['onnx2leela', '--input=default-large', `--output=${onnx}`]);
  assert.equal(converted.status, 0, converted.stderr);
  const refused = await runCommand(['leela2onnx', '--input=light', `--output=${onnx}`]);
  assert.match(refused.stderr, /^Cannot convert .*light\.onnx: it is not an lc0 network file\n$/);
});
