/** A training loop through the server. A script stands in for Python: it says what it was called with. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { LoopGames, LoopState } from '#sardonyx/board/protocol/replies.js';
import { readLoopState } from '#sardonyx/board/server/loop-control.js';
import { BoardProcess, type BoardSocket } from '../support/board-process.js';

test('the state of a loop that a stranger wrote is read as far as it is one, or is one sentence', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-loop-'));
  const read = (state: unknown): ReturnType<typeof readLoopState> => {
    writeFileSync(join(folder, 'state.json'), JSON.stringify(state));
    return readLoopState(folder);
  };
  try {
    for (const state of [null, 5, 'x']) assert.throws(() => read(state), /its state\.json cannot be read$/);
    for (const state of [
      { generations: [null], changes: [null, 1], current: null, plan: null },
      { generations: 5, changes: {}, stage: 'constructor' },
      { stage: '__proto__' },
    ]) {
      const { generations, changes, progress } = read(state);
      assert.deepEqual([generations, changes, progress], [[], [], null]);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the state of a training loop is read as the loop writes it; where there is none, a sentence says so', () => {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-loop-'));
  try {
    assert.throws(() => readLoopState(folder), /no training loop/);
    const rows = [
      {
        number: 1,
        base: 0,
        games: 100,
        positions: 7000,
        policy_loss: 2.5,
        value_loss: 0.9,
        promoted: true,
        measured: { wins: 40, draws: 12, losses: 8, pairs: [0, 2, 6, 8, 14], elo: 206.4, elo_error: 78.5 },
        gate: { wins: 30, draws: 5, losses: 15, pairs: [0, 0, 0, 0, 0], elo: null, elo_error: null },
      },
      { number: 2, base: 1, games: null, gate: null, promoted: null, measured: null },
    ];
    writeFileSync(
      join(folder, 'state.json'),
      JSON.stringify({ current: { number: 2 }, stage: 'selfplay', best: 1, generations: rows }),
    );
    const state = readLoopState(folder);
    assert.deepEqual([state.generation, state.stage, state.best], [2, 'selfplay', 1]);
    assert.deepEqual(state.generations[0].gate, [30, 5, 15]);
    assert.deepEqual(
      state.generations.map(({ elo, eloError }) => [elo, eloError]),
      [
        [206.4, 78.5],
        [null, null],
      ],
    );
    assert.equal(state.generations[1].policyLoss, null);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

const folder = mkdtempSync(join(tmpdir(), 'sardonyx-loop-control-'));
const loopFolder = join(folder, 'loop');
const calls = join(folder, 'calls.txt');
/** While this file is there, Python lacks the packages. */
const bare = join(folder, 'bare');
const FAKE_PYTHON = `#!${process.execPath}
const [script, ...args] = process.argv.slice(2);
const { appendFileSync, existsSync } = require('node:fs');
appendFileSync(${JSON.stringify(calls)}, JSON.stringify([script, ...args]) + '\\n');
if (existsSync(${JSON.stringify(bare)})) {
  console.error("Traceback (most recent call last):\\n  File x\\nModuleNotFoundError: No module named 'torch'");
  process.exit(1);
} else if (args.includes('--promote')) console.log('promoted generation ' + args.at(-1));
else if (args.includes('--rollback')) { console.error('loop: there is no such network'); process.exit(1); }
else {
  console.error('generation 2: selfplay');
  process.on('SIGINT', () => process.exit(130));
  setInterval(() => undefined, 1000);
}
`;
const GAME = (result: string): string =>
  `[Event "selfplay"]\n[White "a"]\n[Black "b"]\n[Result "${result}"]\n\n1. e4 ${result}\n\n`;

/** Windows runs no file that begins with #!, and ends a process without a signal. */
const needsScripts = { skip: process.platform === 'win32' };

let board: BoardProcess;
let page: BoardSocket;

before(async () => {
  const write = (path: string, text: string): void => {
    mkdirSync(join(loopFolder, path, '..'), { recursive: true });
    writeFileSync(join(loopFolder, path), text);
  };
  const row = { number: 1, base: 0, games: 3, window: 500, seconds: { selfplay: 36, training: 4 }, promoted: true };
  const current = { number: 2, base: 1, seconds: {} };
  const plan = { selfplay: { games: 9 } };
  write('state.json', JSON.stringify({ current, stage: 'selfplay', best: 1, generations: [row], plan, changes: [] }));
  write('loop.yaml', 'run: {name: test}\n');
  for (const file of ['0000.onnx', '0000.pt', '0001.onnx', '0001.pt', '0002.onnx']) write(`networks/${file}`, '');
  write('generations/0001/games/games-0000/games.pgn', GAME('1-0') + GAME('0-1'));
  write('generations/0001/games/games-0001/games.pgn', GAME('1/2-1/2'));
  write('generations/0002/games/games-0000.part/games.jsonl', '{"conditions":{}}\n{"game":0}\n{"game":1}\n');
  writeFileSync(join(folder, 'python'), FAKE_PYTHON);
  chmodSync(join(folder, 'python'), 0o755);
  board = await BoardProcess.start(['--backend=hash', `--loop=${loopFolder}`, `--python=${join(folder, 'python')}`]);
  page = await board.connect();
});

after(async () => {
  page.close();
  await board.stop();
  rmSync(folder, { recursive: true, force: true });
});

async function read(): Promise<LoopState> {
  return (await page.ask('readLoop')).answer as LoopState;
}

async function waitUntil(isReached: (state: LoopState) => boolean): Promise<LoopState> {
  for (;;) {
    const state = await read();
    if (isReached(state)) return state;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

function readCalls(): string[][] {
  return readFileSync(calls, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
}

test('the state of the loop comes with its rates, its networks and how far the stage is', needsScripts, async () => {
  const state = await read();
  assert.deepEqual([state.generation, state.stage, state.best], [2, 'selfplay', 1]);
  const [first] = state.generations;
  assert.deepEqual([first.gamesPerHour, first.window, first.seconds, first.hasNetwork], [300, 500, 40, true]);
  assert.equal(state.hasFirstNetwork, true);
  assert.deepEqual(state.progress, { done: 2, total: 9 });
  assert.deepEqual(state.control, {
    obstacle: '',
    isRunning: false,
    isStopping: false,
    isElsewhere: false,
    lines: [],
  });
});

test('games of the loop are counted and read through all tasks', needsScripts, async () => {
  const counted = (await page.ask('countLoopGames', { generation: 1 })).answer as LoopGames;
  assert.deepEqual(counted, { games: 3, gate: 0, measure: 0 });
  const last = await page.ask('readLoopGame', { generation: 1, kind: 'games', game: 2 });
  assert.match(String(last.answer), /\[Result "1\/2-1\/2"\]/);
  assert.match(
    String((await page.ask('readLoopGame', { generation: 1, kind: 'games', game: 3 })).error),
    /no such game/,
  );
  const path = await page.ask('readLoopGame', { generation: 1, kind: '../networks', game: 0 });
  assert.equal(path.type, 'refusal');
});

test('the loop is started with the configuration of its folder, and stopped in good order', needsScripts, async () => {
  await page.ask('startLoop');
  const running = await waitUntil(({ control }) => control.lines.length > 0);
  assert.deepEqual([running.control.isRunning, running.control.lines], [true, ['generation 2: selfplay']]);
  assert.match(String((await page.ask('changeBest', { kind: 'promote', network: 0 })).error), /stop it first/);
  await page.ask('stopLoop');
  await waitUntil(({ control }) => !control.isRunning);
  assert.deepEqual(readCalls()[0].slice(0, 3), ['-m', 'sardonyx_train', 'loop']);
  assert.deepEqual(readCalls()[0].slice(3), [
    '--config',
    join(loopFolder, 'loop.yaml'),
    '--set',
    `run.out=${loopFolder}`,
  ]);
});

test('a version is promoted; what the loop refuses is one sentence', needsScripts, async () => {
  const promoted = await page.ask('changeBest', { kind: 'promote', network: 1 });
  assert.equal(promoted.answer, 'promoted generation 1');
  assert.deepEqual(readCalls().at(-1)?.slice(-2), ['--promote', '1']);
  const refused = await page.ask('changeBest', { kind: 'rollback', network: 7 });
  assert.equal(refused.error, 'there is no such network');
});

test('a Python without the packages is one sentence, however it is called', needsScripts, async () => {
  writeFileSync(bare, '');
  const sentence = /python lacks the package torch: install it by "pip install scripts\/train"/;
  assert.match(String((await page.ask('changeBest', { kind: 'promote', network: 1 })).error), sentence);
  await page.ask('startLoop');
  const { control } = await waitUntil(({ control: { isRunning, lines } }) => !isRunning && lines.length > 0);
  assert.equal(control.lines.length, 1);
  assert.match(control.lines[0], sentence);
});

test('without --loop nothing is started', needsScripts, async () => {
  const other = await BoardProcess.start();
  try {
    const socket = await other.connect();
    assert.equal((await socket.ask('readLoop')).answer, null);
    for (const type of ['startLoop', 'stopLoop']) {
      assert.match(String((await socket.ask(type)).error), /--loop=FOLDER/);
    }
    socket.close();
  } finally {
    await other.stop();
  }
});
