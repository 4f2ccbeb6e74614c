/** The commands beside UCI: output, JSON, exit status, one sentence for what is wrong. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { START_FEN } from '#sardonyx/chess/rules/index.js';
import { type CommandResult, runCommand } from '../support/run-command.js';
import { repositoryRoot } from '../support/shared-folder.js';

const TINY_NETWORK = join(repositoryRoot, 'models', 'tiny-test.onnx');
const TINY = `--weights=${TINY_NETWORK}`;

/** Without a command, the program's first file decides what the flags are for. */
const PROGRAM = join(repositoryRoot, 'dist', 'cli', 'main.js');

const run = (...args: string[]) => runCommand(args);

async function runJson(...args: string[]): Promise<Record<string, unknown>> {
  const { status, stdout, stderr } = await run(...args, '--json');
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

test('bench prints nodes, speed and a signature that is the same every time', async () => {
  const args = ['bench', '--backend=hash', '--nodes=500', '--num-positions=4'];
  const counted = await run('bench', '500', '--backend=hash', '--num-positions=4');
  assert.match(counted.stdout, /^Nodes searched +: 2000$/m);
  const first = await runJson(...args);
  for (const key of ['nodes', 'seconds', 'nps', 'signature', 'evaluations'])
    assert.equal(typeof first[key], 'number', key);
  assert.equal((await runJson(...args, '--threads=2')).signature, first.signature);
  assert.notEqual((await runJson(...args, '--cpuct=3')).signature, first.signature);
});

// UPDATE_DOCS=1 writes the page instead of comparing it.
test('the signatures of bench are those of the docs', async () => {
  const page = join(repositoryRoot, 'docs', 'dev', 'signatures.md');
  const rows: string[] = [];
  for (const search of ['tree', 'graph']) {
    const { signature } = await runJson('bench', '--backend=hash', `--search=${search}`);
    rows.push(
      `| \`sardonyx bench --backend=hash${search === 'tree' ? '' : ` --search=${search}`}\` | ${signature} |\n`,
    );
  }
  const text = `${SIGNATURES}${rows.join('')}`;
  if (process.env.UPDATE_DOCS !== undefined) writeFileSync(page, text);
  assert.equal(
    readFileSync(page, 'utf8'),
    text,
    'the search has changed; if it should, run the test with UPDATE_DOCS=1',
  );
});

const SIGNATURES = `# Signatures

\`bench\` on the hash evaluator prints a signature over all visits that it searched; a change of the search changes it. This page is generated
([CONTRIBUTING.md](../../CONTRIBUTING.md)).

| command | signature |
|---|---|
`;

test('perft counts, in text and in JSON', async () => {
  assert.equal((await runJson('perft', '4')).nodes, 197281);
  const { status, stdout } = await run('perft', '2', '--divide', '--fen', 'r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1');
  assert.equal(status, 0);
  assert.match(stdout, /^e1g1: \d+$/m);
  assert.match(stdout, /^Nodes searched: 568$/m);
});

test('backendbench gives a row for each batch size', async () => {
  const rows = (await runJson(
    'backendbench',
    '--backend=random',
    '--max-batch-size=4',
    '--batch-step=0',
    '--batches=3',
  )) as unknown as {
    batch: number;
    threads: number;
    evaluationsPerSecond: number;
  }[];
  assert.deepEqual(
    rows.map((row) => row.batch),
    [1, 2, 4],
  );
  for (const row of rows) assert.ok(row.evaluationsPerSecond > 0 && row.threads > 0);
});

test('backendbench and benchmark print lc0’s columns and lines', async () => {
  const table = await run(
    'backendbench',
    '--backend=random',
    '--max-batch-size=3',
    '--batches=5',
    '--header-only-once',
    '--clippy',
  );
  const [header, ...lines] = table.stdout.trimEnd().split('\n');
  assert.equal(header, 'size, mean nps, mean ms,   sdev,     cv, max nps,  median, min nps, first max, first mean');
  assert.deepEqual(
    lines.slice(0, 3).map((line) => line.split(',').length),
    [10, 10, 10],
  );
  assert.match(
    lines.slice(3).join('\n'),
    /^Recommended minibatch-size for this net:\n {2}1s\/move {3}\(Bullet\): +\d+\n/,
  );
  const args = ['--backend=random', '--nodes=50', '--movetime=-1', '--num-positions=2'];
  const { stdout, status } = await run('benchmark', ...args);
  assert.equal(status, 0);
  assert.match(
    stdout,
    /^\nPosition: 1\/2 rnbq.*\n(Benchmark time \d+ ms, \d+ nodes, \d+ nps, move \w+\n)+bestmove \w+\n\nPosition: 2\/2/,
  );
  assert.match(stdout, /\n={27}\nTotal time \(ms\) : \d+\nNodes searched {2}: 100\nNodes\/second {4}: \d+\n$/);
  assert.equal((await run('benchmark', '--backend=random', '--movetime=-1')).status, 1);
});

test('eval tells WDL and policy, and of a file who reads it', async () => {
  assert.match(
    (await run('eval', process.execPath)).stderr,
    /is a file, and this command takes one position \(FEN\); "sardonyx analyse /,
  );
  assert.match(
    (await run('eval', 'rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w KQkq - 0 1', TINY)).stderr,
    /^The castling right K was dropped: /m,
  );
  const result = (await runJson('eval', TINY)) as unknown as {
    wdl: { win: number; draw: number; loss: number };
    policy: { move: string; prior: number }[];
  };
  assert.equal(result.policy.length, 20);
  assert.ok(Math.abs(result.policy.reduce((sum, { prior }) => sum + prior, 0) - 1) < 0.01);
  assert.equal(result.wdl.win + result.wdl.draw + result.wdl.loss, 1000);
});

test('analyse takes a FEN', async () => {
  const mate = '7k/5ppp/8/8/8/8/8/R5K1 w - - 0 1';
  const result = (await runJson('analyse', mate, TINY, '--nodes=50')) as unknown as {
    best: string;
    score: unknown;
    bestSan: string;
  };
  assert.equal(result.bestSan, 'Ra8#');
  assert.deepEqual(result.score, { kind: 'mate', value: 1 });
  assert.match((await run('analyse', mate, TINY, '--nodes=50')).stdout, /#1 .*Ra8#/);
});

const SCHOLAR = '[Event "Scholar"]\n[Result "1-0"]\n\n1. e4 {best} e5 2. Qh5 (2. Nf3) Nc6 3. Bc4 Nf6 $4 4. Qxf7# 1-0\n';
const WRONG = '[White "X"]\n[Black "Y"]\n\n1. Ke3 *\n';
const HALF_WRONG = '[White "V"]\n[Black "W"]\n\n1. d4 d5 2. Rh5 Nf6 *\n';
const CHESS960 =
  '[Variant "Chess960"]\n[FEN "nrbnbkrq/pppppppp/8/8/8/8/PPPPPPPP/NRBNBKRQ w KQkq - 0 1"]\n\n1. O-O O-O *\n';

/** Runs `sardonyx analyse` on a file with this text. `annotated` is what --pgn has written. */
async function analysePgn(text: string, ...flags: string[]): Promise<CommandResult & { annotated: string }> {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-analyse-'));
  const input = join(folder, 'games.pgn');
  const output = join(folder, 'out.pgn');
  try {
    writeFileSync(input, text);
    const result = await run('analyse', input, '--backend=hash', '--nodes=30', `--pgn=${output}`, ...flags);
    return { ...result, annotated: existsSync(output) ? readFileSync(output, 'utf8') : '' };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

test('analyse takes a PGN and writes it with remarks beside those of the author', async () => {
  const { status, stderr, stdout, annotated } = await analysePgn(SCHOLAR);
  assert.equal(status, 0, stderr);
  assert.equal(stdout, '');
  assert.equal(stderr, '');
  assert.match(annotated, /\[Event "Scholar"\]/);
  assert.ok(annotated.split('\n').every((line) => line.length <= 80));
  assert.match(
    annotated.replace(/\s+/g, ' '),
    /1\. e4 (\$\d )?\{ best [^}]*\}.* \(2\. Nf3\).* Nf6 \$4 .*4\. Qxf7# \{ \[%eval #0\] \} 1-0/,
  );
  assert.equal(annotated.match(/\[%eval /g)?.length, 7);
});

test('a game that cannot be read costs a sentence, and the others are analysed', async () => {
  const games = [SCHOLAR, WRONG, HALF_WRONG, CHESS960];
  const { status, stdout, stderr, annotated } = await analysePgn(games.join('\n'), '--json');
  assert.equal(status, 0, stderr);
  const [left, half, ...others] = stderr.trimEnd().split('\n');
  assert.match(left, /^Game 2 \(X - Y\) cannot be read: line \d+, move 1\.Ke3: Ke3 is illegal in /);
  assert.match(half, /^Game 3 \(V - W\) is analysed only up to line \d+, move 2\.Rh5: Rh5 is illegal in /);
  assert.deepEqual(others, []);
  const results = JSON.parse(stdout) as {
    headers: { White: string };
    positions: { playedSan: string; played: string }[];
  }[];
  assert.deepEqual(
    results.map(({ positions }) => positions.length),
    [8, 3, 3],
  );
  assert.equal(results[1].headers.White, 'V');
  assert.deepEqual([results[2].positions[0].playedSan, results[2].positions[0].played], ['O-O', 'f1g1']);
  assert.match(annotated, /2\. Rh5 Nf6 \*\n\n\[Event/);
});

test('analyse of a file without a readable game ends with status 1 and writes nothing', async () => {
  for (const [text, sentences] of [
    [WRONG, 1],
    [`${WRONG}\n${WRONG}`, 2],
    ['', 1],
  ] as const) {
    const { status, stdout, stderr, annotated } = await analysePgn(text);
    assert.equal(status, 1, text);
    assert.equal(stdout + annotated, '');
    assert.equal(stderr.trimEnd().split('\n').length, sentences, stderr);
  }
});

test('a file of another kind does not fill stderr: after twenty notes only their number is told', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-notes-'));
  const file = join(folder, 'rubbish');
  writeFileSync(file, `${Array(60).fill('rubbish').join('\n')}\n`);
  const { status, stderr } = await run('suite', file, '--backend=hash');
  assert.equal(status, 1);
  const notes = stderr.trimEnd().split('\n');
  assert.equal(notes.length, 22);
  assert.deepEqual(notes.slice(-2), ['40 more are not shown', `${file} holds no position with bm, am or dm`]);
  writeFileSync(file, Array(60).fill(WRONG).join('\n'));
  const games = (await run('analyse', file, '--backend=hash')).stderr.trimEnd().split('\n');
  assert.equal(games.length, 21);
  rmSync(folder, { recursive: true });
});

test('analyse does not write over the file that it reads', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-analyse-'));
  const input = join(folder, 'my games.pgn');
  writeFileSync(input, SCHOLAR);
  const { status, stderr } = await run('analyse', input, '--backend=hash', `--pgn=${input}`);
  assert.equal(status, 1);
  assert.equal(stderr, '--pgn names the file that is read: give another name\n');
  assert.equal(readFileSync(input, 'utf8'), SCHOLAR);
  rmSync(folder, { recursive: true });
});

test('analyse takes several PGN files, and says which of them holds what cannot be read', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-analyse-'));
  const [first, second] = ['a.pgn', 'b.pgn'].map((name) => join(folder, name));
  writeFileSync(first, SCHOLAR);
  writeFileSync(second, `${WRONG}\n${HALF_WRONG}`);
  const { status, stdout, stderr } = await run('analyse', first, second, '--backend=hash', '--nodes=30', '--json');
  assert.equal(status, 0, stderr);
  assert.equal((JSON.parse(stdout) as unknown[]).length, 2);
  const notes = stderr.trimEnd().split('\n');
  assert.ok(notes[0].startsWith(`${second}: Game 1 (X - Y) cannot be read`), stderr);
  assert.ok(notes[1].startsWith(`${second}: Game 2 (V - W) is analysed only up to`), stderr);
  rmSync(folder, { recursive: true });
});

test('analyse of a Chess960 position writes castling in SAN, and king takes rook in UCI moves', async () => {
  const { lines } = (await runJson(
    'analyse',
    '1k6/8/8/8/8/8/PPP5/RK6 w A - 0 1',
    '--backend=hash',
    '--nodes=2000',
    '--multipv=20',
  )) as unknown as { lines: { pv: string[]; pvSan: string[] }[] };
  assert.equal(lines.find(({ pvSan }) => pvSan[0] === 'O-O-O')?.pv[0], 'b1a1');
  for (const { pv, pvSan } of lines) assert.equal(pvSan.length, pv.length);
});

test('analyse --chess960 writes castling king takes rook in games that do not say Chess960 too', async () => {
  const text = '[Event "Plain"]\n\n1. Nf3 Nf6 2. g3 g6 3. Bg2 Bg7 4. O-O O-O *\n';
  for (const [flags, castling] of [
    [[], 'e1g1'],
    [['--chess960'], 'e1h1'],
  ] as const) {
    const { status, stdout, stderr, annotated } = await analysePgn(text, '--json', ...flags);
    assert.equal(status, 0, stderr);
    const [{ positions }] = JSON.parse(stdout) as { positions: { played: string; playedSan: string }[] }[];
    assert.deepEqual([positions[6].playedSan, positions[6].played], ['O-O', castling]);
    assert.equal(positions.length, 9);
    assert.match(annotated, /4\.\sO-O\s/);
  }
});

test('describenet and doctor say what there is', async () => {
  assert.match((await run('describenet', TINY_NETWORK)).stdout, /lc0-112/);
  const { status, stdout, stderr } = await run('doctor', '--providers=cpu');
  assert.equal(status, 0, stderr);
  assert.match(stdout, /ok {2}onnxruntime/);
  assert.match(stdout, /ok {2}cpu/);
});

test('every command has help', async () => {
  const overview = (await run('--help')).stdout;
  const commands = [...overview.matchAll(/^ {2}sardonyx ([a-z][a-z0-9-]*)/gm)].map(([, command]) => command);
  // As many as there are files or folders of commands, at the least.
  assert.ok(commands.length >= 20, overview);
  for (const command of commands) {
    const { status, stdout } = await run(command, '--help');
    assert.equal(status, 0, command);
    assert.match(stdout, new RegExp(`^sardonyx ${command}`), command);
    assert.match(stdout, /--help/, command);
  }
});

test('the help of a command lists its own flags and says where the engine’s are; `sardonyx --help` lists those', async () => {
  for (const command of ['bench', 'analyse', 'match', 'selfplay', 'suite', 'eval', 'explain', 'backendbench']) {
    const { stdout } = await run(command, '--help');
    assert.match(stdout, /--json/, command);
    assert.match(stdout, /`sardonyx --help` lists/, command);
    assert.doesNotMatch(stdout, /--minibatch-size|--cpuct/, command);
  }
  const { stdout } = await run('--help');
  for (const group of ['Commands:', 'Network:', 'Engine:', 'Search:', 'Options:']) {
    assert.ok(stdout.includes(`\n${group}\n`), group);
  }
  assert.match(stdout, /--weights[\s\S]*--minibatch-size/);
  assert.doesNotMatch(stdout, /--task-workers/);
  assert.match((await run('--help', '--show-hidden')).stdout, /--task-workers/);
});

test('flags may stand before the command, and a flag is no value of another', async () => {
  const { status, stdout, stderr } = await run(
    '--nodes',
    '50',
    '--num-positions',
    '1',
    'bench',
    '--backend=hash',
    '--json',
  );
  assert.equal(status, 0, stderr);
  assert.equal(JSON.parse(stdout.split('\n').at(-2) ?? '').nodes, 50);
  assert.equal((await run('--json', 'perft', '2')).stdout.includes('"nodes":400'), true);
  const refusals: [args: string[], sentence: RegExp][] = [
    [['--weights', '--threads=2'], /^Flag --weights needs a value\n$/],
    [['bench', '--weights', '--threads=2'], /^Flag --weights needs a value\n$/],
    // The name of this command has a hyphen; without a token it ends at once.
    [['--broker=http://127.0.0.1:9', 'lichess-engine'], /^Set \w+ to a token of lichess: .*\n$/],
  ];
  for (const [args, sentence] of refusals) {
    const env = { ...process.env, LICHESS_API_TOKEN: '' };
    const refused = spawnSync(process.execPath, [PROGRAM, ...args], { encoding: 'utf8', env });
    assert.equal(refused.status, 1);
    assert.match(refused.stderr, sentence);
  }
});

test('what is wrong is one sentence on stderr and status 1', async () => {
  const wrong: string[][] = [
    ['perft', 'many'],
    ['perft'],
    ['perft', '3', '--fen', 'nonsense'],
    ['bench', '--backend=abacus'],
    ['bench', '--nodes=-4'],
    ['bench', '--nonsense'],
    ['eval', 'not a fen', TINY],
    ['analyse', 'no-such-file.pgn', TINY],
    ['analyse', '8/8/8/8/8/8/8/8 w - - 0 1', TINY],
    ['describenet', 'no-such-file.onnx'],
    ['dance'],
  ];
  for (const args of wrong) {
    const { status, stdout, stderr } = await run(...args);
    assert.equal(status, 1, args.join(' '));
    assert.equal(stdout, '', args.join(' '));
    assert.match(stderr, /^[^\n]+\n$/, args.join(' '));
  }
  const board = START_FEN.split(' ')[0];
  for (const [args, sentence] of [
    [['perft'], 'The command needs <depth>'],
    [['shards'], 'The command needs <inputs>, --out'],
    [['rescore'], 'The command needs <inputs> or --input, --out'],
    [['label'], 'The command needs --engine, --out'],
    [['leela2onnx', 'network.pb.gz'], 'The command needs --input, --output'],
    [
      ['onnx2leela', '--inptu', 'x'],
      'The command needs --input, --output. Unknown flag --inptu; did you mean --input?',
    ],
    [
      ['leela2onnx', '--input=x', '--valueHead=q', '--no-onnx2pytorch', '--hlo-batch-size=1'],
      'The command needs --output',
    ],
    [['networks', 'download'], 'Invalid values: <action> is "download", not one of "list", "get"'],
    [
      ['backendbench', '--fen=w'],
      `Illegal position: "w" is not a FEN: one begins with eight ranks and a / between them, as in ${START_FEN}`,
    ],
    [['eval', '8/8'], 'Illegal position: The board of the FEN has 2 ranks instead of 8'],
    [['eval', board.replace('pppppppp', '1')], 'Illegal position: Rank 7 of the FEN has 1 square instead of 8'],
    [['eval', '--fen', board, board], 'The position is given twice, as words and with --fen'],
    [['dance'], 'There is no command dance; sardonyx --help lists them'],
    [['help', 'help', 'anlyse'], 'There is no command anlyse; did you mean analyse?'],
    [['help', 'anlyse'], 'There is no command anlyse; did you mean analyse?'],
    [['analyse', 'startpos', '--ndoes', '5'], 'Unknown flag --ndoes; did you mean --nodes?'],
    [['bench', '--minibach-size=5'], 'Unknown flag --minibach-size; did you mean --minibatch-size?'],
    [['eval', '-nodes', '5'], 'Unknown flag -nodes; sardonyx eval --help lists its flags'],
    [['perft', '-each', '5'], 'Unknown flag -each; sardonyx perft --help lists its flags'],
    [
      ['suite', 'x.epd', '--no-such-thing', '--moves-time=5'],
      'Unknown flags: --no-such-thing, --moves-time (did you mean --movetime?); sardonyx suite --help lists its flags',
    ],
    [['doctor', 'a', 'b'], 'doctor takes no "a", "b"'],
    [['analyse', 'startpos', 'moves', 'e2e4'], 'Illegal position: Moves stand behind the FEN, where it must end'],
    [
      ['analyse', `fen ${board}`, 'b', 'e7e5'],
      'Illegal position: The castling field "e7e5" contains "7"; allowed are K, Q and A to H in either case, or a single -',
    ],
    [
      ['analyse', board.replace('8/8', '8/9')],
      'Illegal position: "9" on rank 5 of the FEN is neither a piece nor a number from 1 to 8',
    ],
  ] as const)
    assert.equal((await run(...args)).stderr, `${sentence}\n`, args.join(' '));
  assert.match((await run('analyse', board, '--backend=hash', '--nodes=10')).stdout, /^rnbqkbnr.* w - - 0 1: depth/);
});

test('analyse --dump-tree writes JSON or a picture, by the name of the file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-tree-'));
  const analyse = (input: string, file: string, ...more: string[]) =>
    run('analyse', input, '--backend=hash', '--nodes=300', `--dump-tree=${join(folder, file)}`, ...more);
  try {
    assert.equal((await analyse('startpos', 'tree.json', '--search=graph')).status, 0);
    const { fen, root } = JSON.parse(readFileSync(join(folder, 'tree.json'), 'utf8'));
    assert.match(fen, /^rnbqkbnr/);
    assert.equal(root.visits, 300);
    assert.match(root.children[0].move, /^[a-h][1-8][a-h][1-8]$/);
    assert.equal((await analyse('7k/5Q2/8/6K1/8/8/8/8 w - - 0 1', 'tree.dot', '--dump-depth=1')).status, 0);
    assert.match(readFileSync(join(folder, 'tree.dot'), 'utf8'), /^digraph search \{[\s\S]*f7g7 [\s\S]*\}\n$/);
    assert.match((await analyse('startpos', 'tree.svg')).stderr, /^--dump-tree writes \.json/);
    assert.match((await analyse('7k/5Q2/6K1/8/8/8/8/8 b - - 0 1', 'over.json')).stderr, /The game is over/);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
