/** Matches through the server: `sardonyx match` underneath, its files the same. The random mover plays itself. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { countScore, listScores } from '#sardonyx/board/game/match-progress.js';
import type { MatchGame, MatchState } from '#sardonyx/board/protocol/replies.js';
import { BoardProcess, type BoardSocket } from '../support/board-process.js';
import { repositoryRoot } from '../support/shared-folder.js';

let board: BoardProcess;
let page: BoardSocket;
const SETTINGS = { players: ['random', 'random'], clock: null, nodes: 1, games: 6, sprt: null, chess960: false };

before(async () => {
  board = await BoardProcess.start(['--backend=hash', '--engine=cmd=/no/such/engine name=Ghost']);
  page = await board.connect();
});

after(async () => {
  page.close();
  await board.stop();
});

async function read(name: string): Promise<MatchState> {
  return (await page.ask('readMatch', { name })).answer as MatchState;
}

async function waitForEnd(name: string): Promise<MatchState> {
  for (;;) {
    const state = await read(name);
    if (!state.isRunning) return state;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

test('a match is played to its end; score, games and files are there, and the command line takes it over', async () => {
  const name = (await page.ask('startMatch', SETTINGS)).answer as string;
  const state = await waitForEnd(name);
  assert.equal(state.problem, '');
  assert.equal(state.games.length, 6);
  assert.deepEqual(state.players, ['random 1', 'random 2']);
  const pgn = (await page.ask('readMatchGame', { name, game: 5 })).answer as string;
  assert.match(pgn, /\[Round "3\.2"\]/);
  assert.match(String((await page.ask('readMatchGame', { name, game: 6 })).error), /no such game/);
  const folder = join(board.folder, 'matches');
  assert.deepEqual(readdirSync(folder).sort(), [`${name}.json`, `${name}.jsonl`, `${name}.pgn`]);
  const { args } = JSON.parse(readFileSync(join(folder, `${name}.json`), 'utf8')) as { args: string[] };
  const files = ['--results', join(folder, `${name}.jsonl`), '--pgnout', join(folder, `${name}.pgn`), '--games', '8'];
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  execFileSync(process.execPath, [program, 'match', ...args, ...files], { stdio: 'pipe' });
  assert.equal((await read(name)).games.length, 8);
});

test('a match is paused and goes on', async () => {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const name = (await page.ask('startMatch', { ...SETTINGS, games: 100_000 })).answer as string;
  while ((await read(name)).games.length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  await page.ask('pauseMatch', { name });
  const paused = await waitForEnd(name);
  assert.equal(paused.problem, '');
  await page.ask('resumeMatch', { name });
  assert.equal((await read(name)).isRunning, true);
  while ((await read(name)).games.length <= paused.games.length)
    await new Promise((resolve) => setTimeout(resolve, 50));
  await page.ask('pauseMatch', { name });
  await waitForEnd(name);
});

test('an engine that cannot be started is one sentence', async () => {
  await new Promise((resolve) => setTimeout(resolve, 1000));
  const { answer } = await page.ask('startMatch', { ...SETTINGS, players: ['random', 'Ghost'] });
  assert.match((await waitForEnd(answer as string)).problem, /no\/such\/engine/);
});

test('players that were not offered, and names that are paths, are refused', async () => {
  const { error } = await page.ask('startMatch', { ...SETTINGS, players: ['random', '/bin/sh'] });
  assert.match(String(error), /No player of that name/);
  for (const name of ['../package', '/etc/passwd', 'a/b', '..', '']) {
    for (const type of ['readMatch', 'resumeMatch']) {
      assert.equal((await page.ask(type, { name })).type, 'refusal', name);
    }
  }
  assert.match(String((await page.ask('readMatch', { name: 'nothing' })).error), /no match of that name/);
});

test('scores are counted by player and colour', () => {
  const games: MatchGame[] = [
    { white: 'A', black: 'B', result: '1-0', reason: 'checkmate', plies: 10 },
    { white: 'B', black: 'A', result: '1/2-1/2', reason: 'threefold', plies: 20 },
    { white: 'A', black: 'B', result: '0-1', reason: 'time', plies: 30 },
  ];
  assert.deepEqual(countScore(games, 'A'), { wins: 1, draws: 1, losses: 1 });
  assert.deepEqual(countScore(games, 'A', false), { wins: 0, draws: 1, losses: 0 });
  assert.deepEqual(listScores(games, 'A'), [100, 75, 50]);
});
