/** Matches through the server: `sardonyx match` underneath, its files the same. The random mover plays itself. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { countScore, listScores } from '#sardonyx/board/game/page-text.js';
import type { MatchGame, MatchOffer, MatchState } from '#sardonyx/board/protocol/replies.js';
import { BoardProcess, type BoardSocket } from '../support/board-process.js';
import { fakeEngine, repositoryRoot } from '../support/shared-folder.js';

let board: BoardProcess;
let page: BoardSocket;
const scratch = mkdtempSync(join(tmpdir(), 'sardonyx-held-'));
/** While this file is there, Slow plays no game from the one on whose number it holds. */
const held = join(scratch, 'held');
const { command, args: words } = fakeEngine('--think=15', `--hold-while=${held}`);
const SLOW = `cmd="${command}" args="${words.join(' ')}" name=Slow`;
const SETTINGS = { players: ['random', 'random'], clock: null, nodes: 1, games: 6, sprt: null, chess960: false };

before(async () => {
  const ghost = join(scratch, 'ghost');
  writeFileSync(ghost, '', { mode: 0o755 });
  board = await BoardProcess.start(['--backend=hash', `--engine=cmd="${ghost}" name=Ghost`, `--engine=${SLOW}`]);
  // The server looks for its engines when it starts.
  rmSync(ghost);
  page = await board.connect();
});

after(async () => {
  page.close();
  await board.stop();
  rmSync(scratch, { recursive: true });
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
  const files = ['--results', join(folder, `${name}.jsonl`), '--pgnout', join(folder, `${name}.pgn`), '--games', '8'];
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  const players = ['--engine=random', '--engine=random', '--each=nodes=1'];
  execFileSync(process.execPath, [program, 'match', ...players, ...files], { stdio: 'pipe' });
  assert.equal((await read(name)).games.length, 8);
});

test('a match is paused and goes on', async () => {
  const name = (await page.ask('startMatch', { ...SETTINGS, games: 100_000 })).answer as string;
  while ((await read(name)).games.length < 2) await new Promise((resolve) => setTimeout(resolve, 50));
  await page.ask('pauseMatch', { name });
  const paused = await waitForEnd(name);
  assert.equal(paused.problem, '');
  await page.ask('resumeMatch', { name });
  assert.equal((await read(name)).isRunning, true);
  while ((await read(name)).games.length <= paused.games.length)
    await new Promise((resolve) => setTimeout(resolve, 50));
  assert.match(String((await page.ask('deleteMatch', { name })).error), /pause it first/);
  await page.ask('pauseMatch', { name });
  await waitForEnd(name);
  // A match that was killed leaves the lock of a process that is gone.
  writeFileSync(join(board.folder, 'matches', `${name}.jsonl.lock`), '4194304 1', { flag: 'a' });
  // Another one of the same second has a name of its own; of a deleted one nothing is left.
  const others = await Promise.all([1, 2].map(() => page.ask('startMatch', { ...SETTINGS, games: 2 })));
  assert.equal(new Set(others.map(({ answer }) => answer)).size, 2);
  await Promise.all(others.map(({ answer }) => waitForEnd(String(answer))));
  for (const { answer } of [{ answer: name }, ...others]) await page.ask('deleteMatch', { name: answer });
  assert.match(String((await page.ask('readMatch', { name })).error), /no match of that name/);
  assert.deepEqual(
    readdirSync(join(board.folder, 'matches')).filter((file) => file.startsWith(name)),
    [],
  );
});

test('an engine that cannot be started is one sentence', async () => {
  const { answer } = await page.ask('startMatch', { ...SETTINGS, players: ['random', 'Ghost'] });
  assert.match((await waitForEnd(answer as string)).problem, /there is no program .*ghost/);
});

test('players that were not offered, and names that are paths, are refused', async () => {
  const { error } = await page.ask('startMatch', { ...SETTINGS, players: ['random', '/bin/sh'] });
  assert.match(String(error), /No player of that name/);
  const lines = await page.ask('startMatch', { ...SETTINGS, players: ['random', 'a\nb\u001b[2J'] });
  assert.equal(lines.error, 'No player of that name is offered: a b\\u001b[2J');
  for (const name of ['../package', '/etc/passwd', 'a/b', '..', '']) {
    for (const type of ['readMatch', 'resumeMatch']) {
      assert.equal((await page.ask(type, { name })).type, 'refusal', name);
    }
  }
  assert.match(String((await page.ask('readMatch', { name: 'nothing' })).error), /no match of that name/);
});

test('three players meet each other, two boards are watched, and only new games are read', async () => {
  const settings = {
    players: ['random', 'random', 'Slow'],
    tournament: 'gauntlet',
    nodes: 1,
    games: 2,
    concurrency: 2,
  };
  writeFileSync(held, '1');
  const name = (await page.ask('startMatch', { ...SETTINGS, ...settings })).answer as string;
  const isHeld = ({ white, black }: MatchState['live'][number]) => [white, black].includes('Slow');
  let boards: MatchState['live'] = [];
  while (boards.length === 0) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    boards = (await read(name)).live.filter(isHeld);
  }
  rmSync(held);
  await waitForEnd(name);
  for (const { fen, lastMove, plies } of boards) {
    assert.match(fen, /^\S+ [wb] /);
    assert.equal(lastMove === null, plies === 0);
  }
  const state = await read(name);
  assert.equal(state.problem, '');
  assert.equal(state.total, 4);
  assert.deepEqual(state.players, ['random 1', 'random 2', 'Slow']);
  assert.equal(state.table.length, 3);
  assert.equal(state.elo, null);
  assert.deepEqual(
    state.course.map(({ game, elo }) => [game, elo.length]),
    [1, 2, 3, 4].map((game) => [game, 3]),
  );
  const news = (await page.ask('readMatch', { name, from: 3 })).answer as MatchState;
  assert.deepEqual([news.games, news.played, news.course.length], [state.games.slice(3), 4, 1]);
});

test('a match of the command line is gone on with, one that is being played there is left alone', async () => {
  const folder = join(board.folder, 'matches');
  const program = join(repositoryRoot, 'dist', 'cli', 'main.js');
  const args = [
    'match',
    '--engine',
    'random',
    '--engine',
    SLOW,
    '--each',
    'nodes=1',
    '--games',
    '4',
    '--maxmoves',
    '10',
  ];
  const files = ['--results', join('matches', 'own.jsonl'), '--pgnout', join('matches', 'own.pgn')];
  writeFileSync(held, '2');
  const child = spawn(process.execPath, [program, ...args, ...files], { cwd: board.folder, stdio: 'ignore' });
  const ended = once(child, 'exit');
  while (!existsSync(join(folder, 'own.pgn'))) await new Promise((resolve) => setTimeout(resolve, 20));
  const running = await read('own');
  assert.deepEqual([running.isRunning, running.isElsewhere, running.total], [false, true, 4]);
  assert.match(String((await page.ask('resumeMatch', { name: 'own' })).error), /Another process/);
  child.kill('SIGINT');
  await ended;
  rmSync(held);
  const left = await read('own');
  assert.ok(left.games.length < 4 && !left.isElsewhere);
  await page.ask('resumeMatch', { name: 'own' });
  const state = await waitForEnd('own');
  assert.deepEqual([state.problem, state.games.length], ['', 4]);
  assert.deepEqual(state.players, ['random', 'Slow']);
  const pgn = (await page.ask('readMatchGame', { name: 'own', game: 3 })).answer as string;
  assert.match(pgn, /\[Round "2\.2"\]/);
  const games = (await board.download('matches/own.pgn')).text;
  assert.equal(games.split('[Event "').length - 1, 4);
});

test('a match that needs another engine than those of --engine is not gone on with', async () => {
  const folder = join(board.folder, 'matches');
  const header = JSON.parse(readFileSync(join(folder, 'own.jsonl'), 'utf8').split('\n')[0]);
  header.conditions.players[1].engine.command = '/bin/sh';
  writeFileSync(join(folder, 'foreign.jsonl'), `${JSON.stringify(header)}\n`);
  const { error } = await page.ask('resumeMatch', { name: 'foreign' });
  assert.match(String(error), /needs the engine \/bin\/sh: start the server with --engine/);
});

test('a book is sent, and the games of a match start from it', async () => {
  const sent = await board.send('files/book?name=my%20book.epd', '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1\n');
  assert.deepEqual([sent.status, sent.text], [200, 'my book.epd\n']);
  const offer = (await page.ask('readMatchOffer')).answer as MatchOffer;
  assert.deepEqual(offer.books, ['my book.epd']);
  const settings = { ...SETTINGS, players: ['random', 'random'], games: 2, book: 'my book.epd' };
  const name = (await page.ask('startMatch', settings)).answer as string;
  assert.equal((await waitForEnd(name)).problem, '');
  const pgn = (await page.ask('readMatchGame', { name, game: 0 })).answer as string;
  assert.match(pgn, /\[FEN "4k3\/8\/8\/8\/8\/8\/4P3\/4K3 w - - 0 1"\]/);
  assert.equal(readdirSync(join(board.folder, 'matches', 'books')).length, 1);
  const unknown = await page.ask('startMatch', { ...settings, book: '/etc/passwd' });
  assert.match(String(unknown.error), /No book of that name/);
});

test('a sent book may be packed, also by bzip2', async () => {
  const packed =
    '425a6839314159265359690aaddb000003d9000010401126000200200021a0cd410c08cb1909cb578bb9229c2848348556ed80';
  const sent = await board.send('files/book?name=open.pgn.bz2', Buffer.from(packed, 'hex'));
  assert.deepEqual([sent.status, sent.text], [200, 'open.pgn.bz2\n']);
});

test('files that are no books or networks, or too large, are refused in one sentence', async () => {
  const refuse = async (path: string, text: string, status: number, expected: RegExp): Promise<void> => {
    const answer = await board.send(path, text);
    assert.equal(answer.status, status, answer.text);
    assert.match(answer.text, expected);
    assert.equal(answer.text.trim().split('\n').length, 1);
  };
  await refuse('files/book?name=a.epd', 'no position', 422, /a\.epd: Line 1/);
  await refuse('files/book?name=a.exe', 'x', 422, /is no book/);
  await refuse('files/network?name=net.onnx', 'no network', 422, /^The network net\.onnx/);
  await refuse('files/network?name=..%2F..%2Fnet.pb.gz', 'no network', 422, /net\.pb\.gz/);
  await refuse('files/book?name=large.pgn', 'x'.repeat(33e6), 413, /too large/);
  assert.equal((await board.send('files/program?name=a.epd', 'x')).status, 405);
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
