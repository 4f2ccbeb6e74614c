/** The three commands as users start them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { copyFileSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { plantEvaluatorFaults } from '../../support/evaluator-faults.js';
import { runCommand } from '../../support/run-command.js';
import { fakeEngine, repositoryRoot } from '../../support/shared-folder.js';

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-commands-'));
after(() => rmSync(folder, { recursive: true }));

/** Whatever hangs is killed, so that its code is null. */
const LONGEST_MS = 120_000;

interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/**
 * In the process of the test, or in one of its own if it is interrupted or fails on demand.
 * @param interruptAt SIGINT once this was printed, on either stream
 * @param environment further variables
 */
async function sardonyx(
  args: readonly string[],
  interruptAt?: RegExp,
  environment?: NodeJS.ProcessEnv,
): Promise<Finished> {
  if (interruptAt === undefined && environment === undefined) {
    const { status, ...output } = await runCommand(args, { cwd: folder });
    return { code: status, ...output };
  }
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  const child = spawn(process.execPath, [program, ...args], {
    cwd: folder,
    env: { ...process.env, ...environment },
    timeout: LONGEST_MS,
    killSignal: 'SIGKILL',
  });
  let stdout = '';
  let stderr = '';
  let isInterrupted = false;
  const look = (): void => {
    if (isInterrupted || interruptAt === undefined || !interruptAt.test(stdout + stderr)) return;
    isInterrupted = true;
    child.kill('SIGINT');
  };
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
    look();
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
    look();
  });
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, stdout, stderr })));
}

const { command, args } = fakeEngine();
const FAKE = `cmd="${command}" args="${args.join(' ')}"`;

test('selfplay plays by policy or value alone through a book once, and appends lc0’s results', async () => {
  const book = join(folder, 'two.epd');
  writeFileSync(
    book,
    `${[
      'rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq -',
      'rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w KQkq -',
    ].join('\n')}\n`,
  );
  const results = join(folder, 'results.txt');
  const flags = ['--backend=hash', `--openings-pgn=${book}`, '--max-plies=20', `--tournament-results-file=${results}`];
  for (const mode of ['--policy-mode-size=2', '--value-mode-size=2']) {
    const { code, stdout, stderr } = await sardonyx(['selfplay', '--games=-2', mode, ...flags]);
    assert.equal(code, 0, stderr);
    assert.equal(stdout.match(/^gameready /gm)?.length, 4, stdout);
  }
  const block = '\n\\[White "hash"\\]\n\\[Black "hash"\\]\n\\[Results "\\d \\d \\d"\\]\n';
  assert.match(readFileSync(results, 'utf8'), new RegExp(`^(${block}){4}$`));
  for (const [extra, sentence] of [
    ['--games=5', /^Games by policy or value alone: the book has openings for 4 games/],
    ['--value-mode-size=1', /not both/],
    ['--visits=3', /--visits, --playouts and --movetime have no meaning/],
  ] as const) {
    const { code, stderr } = await sardonyx(['selfplay', '--games=4', '--policy-mode-size=1', extra, ...flags]);
    assert.deepEqual([code, sentence.test(stderr)], [1, true], stderr);
  }
});

test('flags of selfplay for a colour, and for a player with a colour, hold for that side alone', async () => {
  const flags = [
    '--backend=hash',
    '--games=2',
    '--max-plies=8',
    '--move-thinking',
    '--parallelism=1',
    '--minibatch-size=1',
  ];
  const own = ['--visits=9', '--white.visits=5', '--player2.black.visits=3', '--player1.black.policy-softmax-temp=2'];
  const { code, stdout, stderr } = await sardonyx(['selfplay', ...flags, ...own]);
  assert.equal(code, 0, stderr);
  const searched = (marks: string): Set<string | undefined> =>
    new Set([...stdout.matchAll(new RegExp(`^info ${marks} .* nodes (\\d+)`, 'gm'))].map(([, nodes]) => nodes));
  assert.deepEqual([...searched('player 1 gameid 0 side white')], ['5']);
  assert.deepEqual([...searched('player 2 gameid 0 side black')], ['3']);
  assert.deepEqual([...searched('player 2 gameid 1 side white')], ['5']);
  assert.deepEqual([...searched('player 1 gameid 1 side black')], ['9']);
});

test('match prints its result as JSON and its games on stderr', async () => {
  const { code, stdout, stderr } = await sardonyx([
    'match',
    '--engine',
    'random',
    '--engine',
    'random',
    '--games=4',
    '--json',
  ]);
  assert.equal(code, 0, stderr);
  const result = JSON.parse(stdout);
  assert.deepEqual(result.players, ['random 1', 'random 2']);
  assert.equal(result.wins + result.draws + result.losses, 4);
  assert.equal(stderr.match(/^Finished game/gm)?.length, 4);
});

test('match takes a network and an engine by flags of their own', async () => {
  const network = ['--backend=hash', '--player1.weights=none', '--player1.name=Net', '--player1.nodes=10'];
  const engine = ['--engine', `${FAKE} depth=1`, '--games=2', '--maxmoves=10', '--json'];
  const { code, stdout, stderr } = await sardonyx(['match', ...network, ...engine]);
  assert.equal(code, 0, stderr);
  assert.deepEqual(JSON.parse(stdout).players, ['Net', 'Fake']);
  const crowded = await sardonyx(['match', ...network, ...engine, '--engine', 'random']);
  assert.equal(crowded.code, 0, crowded.stderr);
  const { players, games, table } = JSON.parse(crowded.stdout);
  assert.deepEqual([players, games], [['Net', 'Fake', 'random'], 6]);
  assert.deepEqual(table.map(({ player }: { player: string }) => player).sort(), ['Fake', 'Net', 'random']);
  const gauntlet = await sardonyx(['match', ...network, ...engine, '--engine=random', '--tournament=gauntlet']);
  assert.equal(JSON.parse(gauntlet.stdout).games, 4);
});

test('games of another network under the same name are not counted together', async () => {
  const match = ['match', '--engine=net.onnx', '--engine=random', '--nodes=1', '--games=2', '--maxmoves=2'];
  const models = join(repositoryRoot, 'models');
  copyFileSync(join(models, 'tiny-test.onnx'), join(folder, 'net.onnx'));
  const first = await sardonyx([...match, '--results=networks.jsonl']);
  assert.equal(first.code, 0, first.stderr);
  const again = await sardonyx([...match, '--results=networks.jsonl']);
  assert.doesNotMatch(again.stderr, /Finished game/, 'nothing is left to play');
  copyFileSync(join(models, 'default-int8.onnx'), join(folder, 'net.onnx'));
  const other = await sardonyx([...match, '--results=networks.jsonl']);
  assert.equal(other.code, 1);
  assert.match(other.stderr, /^networks\.jsonl belongs to a match under other conditions/);
});

test('match says in one sentence what is wrong', async () => {
  for (const [wrong, sentence] of [
    [['--engine', 'random'], /^Player 2: A player is "random"/],
    [['--engine', 'random', '--engine', 'x.onnx', '--nodes=5', '--cpuct=much'], /^Option CPuct needs a number/],
    [
      ['--engine', 'random', '--engine', '/no/such', '--nodes=5'],
      /^\/no\/such cannot be started: there is no program \/no\/such$/m,
    ],
    [
      ['--engine', 'random', '--engine', 'cmd=/bin/true dir=/no/such', '--nodes=5'],
      /^\/bin\/true cannot be started: there is no folder \/no\/such$/m,
    ],
    [['--engine', 'random', '--engine', 'x.onnx'], /^Player 2: x\.onnx has no limit: give tc, st, movetime/],
    [['--engine', 'random', '--engine', 'nodes=1 x.onnx'], /^Player 2: "x\.onnx" is not of the form key=value/],
    [
      ['--engine', 'random', '--engine', 'weights=x nodes=1.5'],
      /^Player 2: nodes needs a whole number above 0, not "1\.5"/,
    ],
    [['--engine', 'random', '--engine', 'weights=x movetime=Infinity'], /^Player 2: movetime needs a number above 0/],
    [['--engine', 'random', '--engine', 'random', '--results=x', '--results=.'], /^Cannot write \.: it is a folder$/m],
    [['--engine=random', '--engine=random', '--engine=random', '--sprt=elo0=0 elo1=5'], /^--sprt tests two players/],
    [['--engine', 'random', '--engine', 'random', '--sprt=elo0=5 elo1=0'], /^--sprt: elo0 \(5\) must be below/],
    [['--engine', 'random', '--engine', 'random', '--openings-pgn=none.epd'], /^The book none\.epd cannot be read/],
    [
      ['--openings-mode=wild'],
      /^Invalid values: --openings-mode is "wild", not one of "sequential", "shuffled", "random"$/m,
    ],
    [
      ['--engine', 'random', '--engine', 'random', '--pgnout=none/x.pgn'],
      /^Cannot write none\/x\.pgn: there is no such folder$/m,
    ],
    [['--engine', 'random', '--engine', 'random', '--results=.'], /^Cannot write \.: it is a folder$/m],
  ] as const) {
    const { code, stdout, stderr } = await sardonyx(['match', ...wrong]);
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, sentence);
    assert.equal(stderr.trim().split('\n').length, 1, stderr);
  }
});

test('match ends with status 1 and its sentence when a player cannot play, and keeps what was played', async () => {
  const crashing = fakeEngine('--crash-at=1');
  const engine = `cmd="${crashing.command}" args="${crashing.args.join(' ')}" name=Broken`;
  const faults = plantEvaluatorFaults({ failAfter: 1, fallbackFails: true });
  for (const [player, sentence, lines] of [
    [
      ['--engine', engine],
      /^The match ends because Broken has crashed in 3 games in a row; the last time: Broken ended with /m,
      4,
    ],
    [
      ['--backend=hash', '--player1.type=network'],
      /^The match ends because hash cannot evaluate any more: made to fail when falling back$/m,
      1,
    ],
  ] as const) {
    const results = join(folder, `broken-${lines}.jsonl`);
    const flags = ['--engine=random', '--nodes=5', '--games=8', `--results=${results}`];
    const { code, stdout, stderr } = await sardonyx(['match', ...player, ...flags], undefined, faults);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, sentence);
    assert.equal(readFileSync(results, 'utf8').trimEnd().split('\n').length, lines);
  }
});

test('shards of inputs that hold no position are an error, which the one sentence about a single file says', async () => {
  const junk = ['junk.pgn', 'more-junk.pgn'];
  for (const name of junk) writeFileSync(join(folder, name), 'neither a game\nnor a move\n');
  for (const [names, sentence] of [
    [junk.slice(0, 1), /^junk\.pgn: game 1 skipped: [^\n]*\n$/],
    [junk, /^No position could be taken from the inputs$/m],
  ] as const) {
    const { code, stdout, stderr } = await sardonyx(['shards', ...names, '--out=no-shards']);
    assert.deepEqual([code, stdout], [1, '']);
    assert.match(stderr, sentence);
  }
});

test('backendbench and analyse name the file that they cannot read or write', async () => {
  for (const [args, sentence] of [
    [['backendbench', '--weights=none'], /^Cannot read the network none: there is no such file\n$/],
    [['analyse', 'startpos', '--backend=hash', '--pgn=none/x.pgn'], /^--pgn writes games: give a PGN file\n$/],
    [
      ['analyse', 'startpos', '--backend=hash', '--dump-tree=none/x.dot'],
      /^Cannot write none\/x\.dot: there is no such folder\n$/,
    ],
  ] as const) {
    const { code, stdout, stderr } = await sardonyx([...args]);
    assert.equal(code, 1);
    assert.equal(stdout, '');
    assert.match(stderr, sentence);
  }
});

/** A name of two lines as the match uses it. */
const RANDOM = 'random {"type":';

test('match shows its running games as JSON lines, and its results file says how it was started', async () => {
  const own = [
    'match',
    '--engine',
    'type=random name=\'random\n{"type":\'',
    '--engine',
    `cmd="${command}" args="${args.join(' ')} --think=40" name=Fake`,
    '--games',
    '2',
  ];
  const files = ['--results', 'live.jsonl', '--pgnout', 'live.pgn', '--maxmoves', '20', '--live'];
  const { code, stdout } = await sardonyx([...own, ...files, '--each', 'tc=60+1']);
  assert.equal(code, 0);
  // Nothing but JSON: whoever reads it need not tell lines of text apart.
  const lines = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.deepEqual([lines.at(-1).type, lines.at(-1).games], ['report', 2]);
  const positions = lines.filter(({ type }) => type === 'position');
  assert.ok(positions.length >= 1);
  for (const { white, black, fen, remainingMs } of positions) {
    assert.deepEqual([white, black].sort(), ['Fake', RANDOM]);
    assert.match(fen, / [wb] /);
    assert.equal(remainingMs.filter((ms: number | null) => ms === null).length, 1);
  }
  assert.deepEqual(
    lines.filter(({ type }) => type === 'result').map(({ game }) => game),
    [0, 1],
  );
  const [header] = readFileSync(join(folder, 'live.jsonl'), 'utf8').split('\n');
  const { origin } = JSON.parse(header);
  // No arguments: whoever goes on with a match builds its command from checked fields.
  assert.deepEqual(
    [origin.args, origin.players, origin.games, origin.pgn.endsWith('live.pgn')],
    [undefined, [RANDOM, 'Fake'], 2, true],
  );
});

test('a match that could not start keeps nobody from its results file', async () => {
  const own = ['match', '--engine=random', '--games=2', '--results=unplayed.jsonl', '--pgnout=unplayed.pgn'];
  for (const wrong of [
    'cmd=./nosuch name=Ghost',
    `cmd="${command}" args="${args.join(' ')}" option.None=1 name=Fake`,
  ]) {
    assert.equal((await sardonyx([...own, `--engine=${wrong}`, '--each=nodes=1'])).code, 1);
  }
  const played = await sardonyx([...own, '--engine=type=random name=other', '--maxmoves=3']);
  assert.deepEqual([played.code, readFileSync(join(folder, 'unplayed.jsonl'), 'utf8').split('\n').length], [0, 4]);
});

test('two processes do not play the same match, and the lock of a killed one counts for nothing', async () => {
  const own = ['match', '--engine', 'random', '--engine', 'random', '--games', '2', '--results', 'locked.jsonl'];
  writeFileSync(join(folder, 'locked.jsonl.lock'), String(process.ppid));
  const refused = await sardonyx(own);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^locked\.jsonl is in use: process \d+ plays this match\n$/);
  writeFileSync(join(folder, 'locked.jsonl.lock'), String(2 ** 22 + 1));
  assert.equal((await sardonyx(own)).code, 0);
  assert.equal(existsSync(join(folder, 'locked.jsonl.lock')), false);
});

test('Ctrl-C ends a match with its result so far', {
  skip: process.platform === 'win32' && 'Windows ends a process without a signal',
}, async () => {
  const players = ['--engine', FAKE, '--engine', 'random', '--depth=1', '--games=1000000'];
  const { code, stdout, stderr } = await sardonyx(['match', ...players], /Finished game 3/);
  assert.equal(code, 130, stderr);
  assert.match(stdout, /^Interrupted after \d+ of 1000000 games\nResults of .* vs random:/);
});

test('selfplay prints lc0’s lines and writes records', async () => {
  const flags = [
    '--backend=hash',
    '--visits=8',
    '--games=3',
    '--max-plies=20',
    '--training',
    '--out=records',
    '--seed=1',
  ];
  const { code, stdout, stderr } = await sardonyx(['selfplay', ...flags]);
  assert.equal(code, 0, stderr);
  assert.equal(stdout.match(/^gameready trainingfile records\/game_00000\d\.gz gameid \d/gm)?.length, 3);
  assert.match(stdout, /^tournamentstatus final P1: /m);
  assert.equal(readdirSync(join(folder, 'records')).filter((name) => name.endsWith('.gz')).length, 3);
  const again = await sardonyx(['selfplay', ...flags.filter((flag) => !flag.startsWith('--seed')), '--json']);
  assert.equal(JSON.parse(again.stdout).moves, 0, 'a finished run has nothing left to play');
});

test('selfplay shows its thinking as lc0 does, move by move', async () => {
  const flags = ['--backend=hash', '--visits=8', '--games=2', '--max-plies=6', '--move-thinking', '--parallelism=1'];
  const { code, stdout, stderr } = await sardonyx(['selfplay', ...flags, '--pgnout=thoughts.pgn']);
  assert.equal(code, 0, stderr);
  const lines = stdout.trim().split('\n');
  assert.match(
    lines[0],
    /^info player 1 gameid 0 side white depth \d+ seldepth \d+ time \d+ nodes \d+ score cp -?\d+ .*pv [a-h][1-8]/,
  );
  assert.match(lines[1], /^bestmove [a-h][1-8][a-h][1-8] player 1 gameid 0 side white$/);
  assert.match(lines[3], / player 2 gameid 0 side black$/);
  assert.equal(stdout.match(/^bestmove .* player 2 gameid 1 side white$/gm)?.length, 3);
  assert.equal(readFileSync(join(folder, 'thoughts.pgn'), 'utf8').match(/^\[Event/gm)?.length, 2);
});

test('selfplay without a limit is refused, and an endless one ends at Ctrl-C', async () => {
  const refused = await sardonyx(['selfplay', '--backend=hash']);
  assert.equal(refused.code, 1);
  assert.match(refused.stderr, /^Give --visits, --playouts or --movetime/);
  const wrong = await sardonyx(['selfplay', '--backend=hash', '--player1.visits=few']);
  assert.match(wrong.stderr, /^--visits must be a whole number from 1, not "few"$/m);
  const untold = await sardonyx(['selfplay', '--backend=hash', '--visits=1', '--syzygy-paths=no-such']);
  assert.deepEqual([untold.code, untold.stderr], [1, 'SyzygyPath: the folder no-such cannot be read\n']);
  const endless = ['selfplay', '--backend=hash', '--games=0', '--visits=5', '--max-plies=20'];
  const { code, stdout } = await sardonyx(endless, /gameready gameid 9/);
  assert.equal(code, 0);
  assert.doesNotMatch(stdout, /final/);
});

test('an error in the middle of self-play ends it with one sentence', async () => {
  writeFileSync(
    join(folder, 'damaged.epd'),
    '8/8/8/4k3/8/8/8/4K2R w K - 0 1\nrubbish\n8/8/8/4k3/8/8/8/Q3K3 w - - 0 1\n',
  );
  const flags = ['--backend=hash', '--visits=1000000', '--openings-pgn=damaged.epd', '--parallelism=3'];
  const { code, stderr } = await sardonyx(['selfplay', ...flags]);
  assert.equal(code, 1);
  assert.match(stderr, /^damaged\.epd: Line 2 is no position: [^\n]+\n$/);
});

test('label writes games of an engine', async () => {
  const { code, stdout, stderr } = await sardonyx([
    'label',
    `--engine=${FAKE}`,
    '--out=labels',
    '--games=2',
    '--max-plies=30',
    '--concurrency=1',
    '--json',
  ]);
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).games, 2);
  const manifest = JSON.parse(readFileSync(join(folder, 'labels', 'labels.json'), 'utf8'));
  assert.equal(manifest.files[0].games, 2);
});

test('label scores the positions of files, and says in one sentence what it cannot do', async () => {
  writeFileSync(join(folder, 'own.pgn'), '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 1-0\n');
  const label = ['label', `--engine=${FAKE}`, '--out=own', '--from=own.pgn', '--concurrency=1'];
  const network = ['--weights=none', '--backend=hash', '--leaves=2', '--leaf-nodes=10'];
  const { code, stdout, stderr } = await sardonyx([...label, ...network, '--player=b', '--results=lost', '--json']);
  assert.equal(code, 0, stderr);
  assert.deepEqual([JSON.parse(stdout).games, JSON.parse(stdout).positions], [7, 9]);
  for (const [flags, sentence] of [
    [['--results=lots', '--player=A'], /^--results is a list of lost, drawn, won, not "lots"$/m],
    [['--results=lost'], /^--results has no effect without --player$/m],
    [['--leaves=2'], /^--leaves has no effect without --weights$/m],
    [['--no-roots'], /^--no-roots has no effect without --leaves$/m],
    [['--player-to-move'], /^--player-to-move has no effect without --player$/m],
    [['--from=nothing.pgn'], /^nothing\.pgn cannot be read: /m],
    [['--player=A'], /belongs to a run with other settings/],
  ] as const) {
    const wrong = await sardonyx([...label, ...flags]);
    assert.equal(wrong.code, 1, flags[0]);
    assert.match(wrong.stderr, sentence);
  }
});

test('a program that is not there is named once, however many would have run', async () => {
  for (const args of [
    ['label', '--engine=no-such-program', '--out=missing', '--games=3', '--concurrency=3'],
    ['match', '--engine=no-such-program name=A', '--engine=random', '--nodes=1', '--games=6', '--concurrency=3'],
  ]) {
    const { code, stderr } = await sardonyx(args);
    assert.equal(code, 1);
    assert.match(stderr, /^\w[\w-]* cannot be started: there is no program no-such-program\n$/, args[0]);
  }
});

test('a folder that the system does not let be made is one sentence, and nobody waits', {
  skip: process.platform !== 'linux',
}, async () => {
  writeFileSync(join(folder, 'game.pgn'), '1. e4 e5 1/2-1/2\n');
  for (const args of [
    ['selfplay', '--backend=hash', '--games=1', '--visits=5', '--training', '--out=/proc/x'],
    ['label', `--engine=${FAKE}`, '--games=1', '--out=/proc/x'],
    ['shards', 'game.pgn', '--out=/proc/x'],
  ]) {
    const { code, stdout, stderr } = await sardonyx(args);
    assert.deepEqual([code, stdout], [1, ''], args[0]);
    assert.match(stderr, /^Cannot create the folder \/proc\/x: no folder can be created there$/m);
  }
});
