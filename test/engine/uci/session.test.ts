/** Conversations with the search and the network replaced: what is answered, and what is left unchanged. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOptionStore } from '#sardonyx/engine/app/options.js';
import { type GamePosition, PerftClient } from '#sardonyx/engine/core/index.js';
import { type SessionSettings, UciSession } from '#sardonyx/engine/uci/index.js';
import { createInfo, FakeWorld, settle } from '../core/fake-ports.js';

function createSession(world = new FakeWorld(), bench: SessionSettings['bench'] = null, showHidden = false) {
  const lines: string[] = [];
  const faults: unknown[] = [];
  const options = createOptionStore();
  let hasEnded = false;
  const session = new UciSession({
    version: '1.2.3',
    showHidden,
    options,
    ports: world,
    writeLine: (line) => lines.push(line),
    bench,
    onFault: (error) => faults.push(error),
    onEnd: () => {
      hasEnded = true;
    },
  });
  const say = async (...texts: string[]) => {
    for (const text of texts) session.receive(text);
    await settle();
  };
  return { session, world, options, lines, faults, say, hasEnded: () => hasEnded };
}

/** Answers a fixed move of the start position; the warm-up search likewise. */
function answering(): FakeWorld {
  const world = new FakeWorld();
  const D2D4 = 11 | (27 << 6);
  world.onCreateSearch = (search) => {
    search.onGo = (id) => {
      search.send({ type: 'info', id, info: createInfo([D2D4]) });
      search.send({ type: 'bestMove', id, move: D2D4, ponder: 0 });
    };
  };
  return world;
}

const OPTION =
  /^option name (.+?) type (check|spin|combo|string|button)(?: default(?: (.*?))?)?((?: (?:min|max|var) \S+)*)$/;

/** The names of the options of an answer to `uci`, each with a line that GUIs can read. */
function readOptions(lines: readonly string[]): Set<string> {
  const names = new Set<string>();
  for (const line of lines) {
    const [, name, type, value, rest] = OPTION.exec(line) ?? assert.fail(line);
    assert.doesNotMatch(name, /\b(name|type|default|min|max|var)\b/i);
    assert.ok(!names.has(name.toLowerCase()), `${name} is listed twice`);
    names.add(name.toLowerCase());
    if (type === 'check') assert.match(value, /^(true|false)$/);
    if (type === 'combo') assert.ok(rest.split(' var ').slice(1).includes(value), line);
    if (type === 'spin') {
      const [, min, max] = / min (-?\d+) max (-?\d+)/.exec(rest) ?? [];
      assert.match(value, /^-?\d+$/);
      assert.ok(Number(min) <= Number(value) && Number(value) <= Number(max), line);
    }
  }
  return names;
}

test('uci is answered with name, author, well-formed options and uciok, hidden options left out unless they are asked for', async () => {
  for (const showHidden of [false, true]) {
    const { lines, say, session } = createSession(undefined, null, showHidden);
    await say('uci');
    assert.equal(lines[0], 'id name Sardonyx 1.2.3');
    assert.match(lines[1], /^id author ./);
    assert.equal(lines.at(-1), 'uciok');
    const names = readOptions(lines.slice(2, -1));
    const wanted = 'Hash, Threads, Move Overhead, MoveOverheadMs, Ponder, MultiPV, UCI_Chess960, UCI_ShowWDL';
    const more = 'UCI_AnalyseMode, UCI_Opponent, Clear Hash, SyzygyPath, WeightsFile, Backend, NNCacheSize';
    for (const name of `${wanted}, ${more}`.split(', ')) assert.ok(names.has(name.toLowerCase()), name);
    for (const name of ['temperature', 'taskworkers']) assert.equal(names.has(name), showHidden);
    // It may be asked again.
    const first = lines.splice(0);
    await say('uci');
    assert.deepEqual(lines, first);
    session.end();
  }
});

test('a whole turn: position, go, info, bestmove', async () => {
  const { lines, say, session } = createSession(answering());
  await say('ucinewgame', 'isready');
  assert.deepEqual(lines.splice(0), ['readyok']);
  await say('position startpos', 'go nodes 10');
  assert.match(lines[0], /^info depth 3 .* score cp 10 hashfull 250 nps 2500 tbhits 0 pv d2d4$/);
  assert.deepEqual(lines.slice(1), ['bestmove d2d4']);
  session.end();
});

test('options of every kind are taken, in any case, and a session without uci, isready or ucinewgame works as well', async () => {
  const { lines, say, session } = createSession(answering());
  for (const option of [
    'Threads value 1',
    'hash value 16',
    'Move Overhead value 50',
    'cpuct value 2.5',
    'UCI_ShowWDL value true',
    'ScoreType value Q',
    'Ponder value true',
    'UCI_Opponent value none none computer Stockfish 15',
    'UCI_AnalyseMode value true',
    'Clear Hash',
    'ClearTree',
    'TaskWorkers value 2',
  ])
    await say(`setoption name ${option}`);
  assert.deepEqual(lines, []);
  await say('position startpos', 'go nodes 20');
  assert.match(lines[0], / wdl \d+ \d+ \d+ /);
  assert.equal(lines.at(-1), 'bestmove d2d4');
  session.end();
});

test('finished games are answered with (none), mate 0 or a draw', async () => {
  const { lines, say, session } = createSession(answering());
  await say('isready');
  for (const [line, score] of [
    ['position fen R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1', / score mate 0 /],
    ['position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1', / score cp 0 /],
    ['setoption name ScoreType value win_percentage', / score cp 5000 /],
  ] as const) {
    lines.length = 0;
    await say(line, 'go wtime 100 btime 100');
    assert.match(lines[0], score);
    assert.deepEqual(lines.slice(1), ['bestmove (none)']);
  }
  session.end();
});

test('castling is written as the GUI expects it and read in both spellings', async () => {
  const world = new FakeWorld();
  // The first of searchmoves is played.
  world.onCreateSearch = (search) => {
    search.onGo = (id) => {
      const [move = 0] = search.lastGo.limits.searchMoves ?? [];
      search.send({ type: 'info', id, info: createInfo([move]) });
      search.send({ type: 'bestMove', id, move, ponder: 0 });
    };
  };
  const { lines, say, session } = createSession(world);
  const fen = 'r3k2r/pppppppp/8/8/8/8/PPPPPPPP/R3K2R w KQkq - 0 1';
  const shredder = fen.replace('KQkq', 'HAha');
  await say('isready');
  for (const [chess960, position, move, written] of [
    [false, fen, 'e1g1', 'e1g1'],
    [false, fen, 'e1h1', 'e1g1'],
    [true, `${fen} moves e1h1`, 'e8h8', 'e8h8'],
    [true, `${shredder} moves e1h1`, 'e8h8', 'e8h8'],
  ] as const) {
    await say(
      `setoption name UCI_Chess960 value ${chess960}`,
      `position fen ${position}`,
      `go nodes 1 searchmoves ${move}`,
    );
    assert.match(lines.at(-2) ?? '', new RegExp(` pv ${written}$`));
    assert.equal(lines.at(-1), `bestmove ${written}`);
  }
  session.end();
});

test('isready waits for the network, and is answered at once during a search', async () => {
  const world = new FakeWorld();
  const loaded = world.holdLoading();
  world.onCreateSearch = answering().onCreateSearch;
  const { lines, say, session } = createSession(world);
  await say('isready');
  assert.deepEqual(lines, []);
  loaded();
  await settle();
  assert.deepEqual(lines, ['readyok']);
  world.search.onGo = () => undefined;
  await say('go infinite', 'isready');
  assert.deepEqual(lines, ['readyok', 'readyok']);
  session.end();
});

test('isready holds back what follows until the network is loaded; a stop ends the search before it', async () => {
  const world = answering();
  const load = world.holdLoading();
  const { lines, say } = createSession(world);
  await say('isready', 'd', 'go movetime 1000', 'isready', 'go nodes 7', 'stop', 'nonsense');
  assert.equal(lines.length, 0);
  load();
  while (!lines.some((line) => line.startsWith('error'))) await settle();
  const answers = lines.map((line) => /^(readyok|Fen|bestmove|error)?/.exec(line)?.[0]).filter((word) => word !== '');
  assert.deepEqual(answers, ['readyok', 'Fen', 'bestmove', 'readyok', 'bestmove', 'error']);
});

test('a quit behind a wait leaves the search its time, also while the network loads', async () => {
  const world = answering();
  const load = world.holdLoading();
  const { lines, say } = createSession(world);
  await say('isready', 'go nodes 7', 'wait', 'quit');
  load();
  while (!lines.some((line) => line.startsWith('bestmove'))) await settle();
  assert.equal(lines[0], 'readyok');
});

test('options of the network that change during a search are loaded after it, not under it', async () => {
  const world = answering();
  const { lines, say, session } = createSession(world);
  await say('isready');
  world.search.onGo = () => undefined;
  await say('go infinite', 'setoption name MinibatchSize value 12', 'uci');
  await settle();
  assert.deepEqual([world.networks.length, world.networks[0].disposed], [1, 0]);
  world.search.onStop = () =>
    world.search.send({ type: 'bestMove', id: world.search.lastGo.id, move: 11 | (27 << 6), ponder: 0 });
  await say('stop');
  assert.match(lines.at(-1) ?? '', /^bestmove /);
  while (world.networks.length < 2) await new Promise((resolve) => setTimeout(resolve, 10));
  session.end();
});

test('lines that belong together are numbered, whatever MultiPV says by then', async () => {
  const { lines, say, session, world } = createSession(answering());
  await say('isready', 'setoption name MultiPV value 2');
  world.search.onGo = () => undefined;
  await say('go infinite', 'setoption name MultiPV value 1');
  const [line] = createInfo([11 | (27 << 6)]).lines;
  const info = createInfo([], { lines: [line, { ...line, pv: [12 | (28 << 6)] }] });
  world.search.send({ type: 'info', id: world.search.lastGo.id, info });
  assert.match(lines.at(-2) ?? '', / multipv 1 pv d2d4$/);
  assert.match(lines.at(-1) ?? '', / multipv 2 pv e2e4$/);
  session.end();
});

test('a bad line costs one error line and changes nothing', async () => {
  const { lines, say, session } = createSession(answering());
  await say('position startpos moves d2d4', 'd');
  const before = lines.splice(0).join('\n');
  const bad = [
    'nonsense',
    'setoption name Nope value 3',
    'setoption name MultiPV value 0',
    'setoption name MultiPV value 1000000',
    'setoption name MultiPV value x',
    'setoption name Backend value abacus',
    'setoption name BackendOptions value threads',
    'setoption name BackendOptions value abacus-beads=512',
    'setoption name TimeManager value sundial',
    'position startpos moves e2e5',
    'position startpos moves e2e4 e7e6 e1e3',
    'position startpos moves e2e4 hello',
    'position fen',
    'position fen 8/8/8/8 w - - 0 1',
    'position fen 9/8/8/8/8/8/8/8 w - - 0 1',
    'position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQ1BNR w kq - 0 1',
    'position fen 4k3/8/8/8/8/8/8/4KR2 b - - 0 1 e8e7',
    'position',
    'go perft many',
    'ponderhit',
  ];
  for (const line of bad) {
    await say(line);
    assert.equal(lines.length, 1, line);
    assert.match(lines[0], /^error ./);
    lines.length = 0;
  }
  await say('stop', 'register later', 'debug on', '');
  assert.deepEqual(lines, []);
  await say('d');
  assert.equal(lines.join('\n'), before);
  session.end();
});

test('what a go cannot mean is skipped in one info string, and the go is answered', async () => {
  const { world, lines, say, session } = createSession(answering());
  await say('isready', 'position startpos');
  for (const [go, note, limits] of [
    ['go nodes 10 searchmoves d2d5 d2d4', /d2d5 is illegal/, { nodes: 10, searchMoves: [11 | (27 << 6)] }],
    ['go nodes 10 searchmoves d2d5', /d2d5 is illegal/, { nodes: 10, searchMoves: undefined }],
    ['go nodes 10 searchmoves', /searchmoves without moves/, { nodes: 10, searchMoves: undefined }],
    ['go movetime 500 foo 3', /: foo; 3$/, { nodes: undefined }],
    ['go nodes 10 wtime', /wtime without a number/, { nodes: 10, clock: undefined }],
    ['go wtime btime 500', /wtime without a number/, { nodes: undefined }],
    ['go depth many', /depth many/, { nodes: 1 }],
    ['go depth -1', /^$/, { depth: 1, nodes: undefined }],
    ['go nodes -5', /^$/, { nodes: 1 }],
    ['go nodez 100', /: nodez; 100$/, { nodes: 1 }],
    ['go foo', /: foo$/, { nodes: 1 }],
    ['go winc x', /: winc x$/, { nodes: 1 }],
    ['go searchmoves d2d5 e2e9', /d2d5 is illegal.*e2e9/, { nodes: 1, searchMoves: undefined }],
    ['go searchmoves', /searchmoves without moves/, { nodes: 1, searchMoves: undefined }],
    ['go searchmoves d2d4 nodez 100', /nodez/, { nodes: 1, searchMoves: [11 | (27 << 6)] }],
  ] as const) {
    lines.length = 0;
    await say(go);
    assert.equal(lines.at(-1), 'bestmove d2d4', go);
    const notes = lines.filter((line) => line.startsWith('info string'));
    assert.match(notes.join('\n'), note, go);
    assert.ok(notes.length < 2 && !lines.some((line) => line.startsWith('error')), lines.join('\n'));
    const sent: Record<string, unknown> = { ...world.search.lastGo.limits };
    for (const [name, value] of Object.entries(limits)) assert.deepEqual(sent[name], value, `${go}: ${name}`);
  }
  session.end();
});

test('what a position does not allow is dropped with one info string, once', async () => {
  const { lines, say, session } = createSession(answering());
  await say('isready', 'position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w KQkq e3 0 1');
  const notes = lines.filter((line) => line.startsWith('info string'));
  assert.match(notes.join('\n'), /castling right K was dropped.*\n.*e3/);
  lines.length = 0;
  await say('position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBN1 w KQkq e3 0 1 moves e2e4');
  await say('position fen rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1');
  assert.deepEqual(lines, []);
  session.end();
});

test('after a refused position a go has no move, until the next position', async () => {
  const { world, lines, say, session } = createSession(answering());
  await say('isready', 'position startpos');
  for (const refused of [
    'position startpos moves e2e5',
    'position fen 8/8/8/8 w - - 0 1',
    'position',
    'position foo',
  ]) {
    await say(refused);
    lines.length = 0;
    const searches = world.search.posted.length;
    await say('go nodes 10', 'go infinite', 'stop', 'go perft 1', 'eval');
    assert.equal(lines.filter((line) => line === 'bestmove (none)').length, 2, lines.join('\n'));
    assert.match(lines[0], /^info string The last position was refused/);
    assert.equal(lines.filter((line) => line.startsWith('error The last position was refused')).length, 2);
    assert.equal(world.search.posted.length, searches);
    lines.length = 0;
    await say('position startpos', 'go nodes 10');
    assert.equal(lines.at(-1), 'bestmove d2d4');
  }
  session.end();
});

test('a go whose words were not understood ends after ponderhit, and go infinite goes on', async () => {
  const { world, say, session } = createSession(answering());
  await say('isready', 'position startpos');
  world.search.onGo = () => undefined;
  world.search.onStop = () =>
    world.search.send({ type: 'bestMove', id: world.search.lastGo.id, move: 11 | (27 << 6), ponder: 0 });
  await say('go ponder nodez 100', 'ponderhit');
  assert.equal(world.search.lastGo.limits.nodes, 1);
  await say('stop', 'go infinite foo');
  assert.equal(world.search.lastGo.limits.nodes, undefined);
  session.end();
});

test('what a line throws is reported, and the lines behind it are followed, held-back ones too', async () => {
  const world = answering();
  const load = world.holdLoading();
  const { options, faults, lines, say, session } = createSession(world);
  options.connect({
    display: () => {
      throw new Error('planted');
    },
  });
  const bad = 'setoption name UCI_ShowWDL value true';
  await say('isready', bad, 'go nodes 3');
  load();
  while (!lines.some((line) => line.startsWith('bestmove'))) await settle();
  await say('setoption name UCI_ShowWDL value false', 'position startpos moves e2e4', 'd');
  assert.equal(faults.length, 2);
  assert.ok(lines.some((line) => /^Fen: .* b KQkq/.test(line)));
  session.end();
});

test('a search that cannot begin is answered with a legal move', async () => {
  const { world, faults, lines, say, session } = createSession(answering());
  await say('isready');
  world.search.onGo = () => {
    throw new Error('planted');
  };
  await say('go nodes 3');
  assert.equal(faults.length, 1);
  assert.match(lines.at(-1) ?? '', /^bestmove [a-h]/);
  world.onCreateSearch = answering().onCreateSearch;
  await say('go nodes 3');
  assert.equal(lines.at(-1), 'bestmove d2d4');
  session.end();
});

test('a line over a megabyte is refused, as a position the position too, and a go is answered at once', async () => {
  const { world, lines, say, session } = createSession(answering());
  await say('isready', 'position startpos');
  const rest = ' e2e4 e7e5'.repeat(150_000);
  for (const start of ['position startpos moves', '  position fen', ' '.repeat(1 << 20)]) {
    lines.length = 0;
    await say((start + rest).slice(0, (1 << 20) + 1), 'go nodes 10', 'position startpos', 'go nodes 10');
    assert.match(lines[0], /^error The line is too long: .{0,70}$/);
    assert.match(lines[1], /^info string The last position was refused/);
    assert.equal(lines[2], 'bestmove (none)');
    assert.equal(lines.at(-1), 'bestmove d2d4');
  }
  lines.length = 0;
  await say(`setoption name LogFile value ${rest}`, `foo${rest}`);
  assert.equal(lines.filter((line) => line.startsWith('error The line is too long')).length, 2);
  await say(`go searchmoves${rest} movetime 100`);
  assert.equal(lines.at(-1), 'bestmove d2d4');
  assert.equal(world.search.lastGo.limits.nodes, 1);
  session.end();
});

test('a failure of the engine itself is an info string, because error is for refused lines', async () => {
  const { world, lines, say, session } = createSession();
  world.createNetwork = () => Promise.reject(new Error('Cannot load missing.onnx: there is no such file'));
  await say('setoption name WeightsFile value missing.onnx', 'isready');
  assert.ok(lines.includes('info string Cannot load missing.onnx: there is no such file'), lines.join('\n'));
  assert.ok(!lines.some((line) => line.startsWith('error')));
  session.end();
});

test('wait holds back what follows, but not stop', async () => {
  const world = answering();
  const { lines, say, session } = createSession(world);
  await say('isready');
  world.search.onGo = () => undefined;
  world.search.onStop = () =>
    world.search.send({ type: 'bestMove', id: world.search.lastGo.id, move: 11 | (27 << 6), ponder: 0 });
  lines.length = 0;
  await say('go infinite', 'wait', 'xyzzy', 'isready');
  assert.deepEqual(lines, ['readyok']);
  await say('stop');
  assert.deepEqual(lines.slice(-2), ['bestmove d2d4', 'Nothing happens.']);
  session.end();
});

test('quit and the end of input pass a wait for a search without end, and wait their turn behind one that ends', async () => {
  for (const [go, leaves] of [
    ['go infinite', true],
    ['go nodes 1000', false],
  ] as const) {
    for (const leave of [
      (session: UciSession) => session.receive('quit'),
      (session: UciSession) => session.endOfInput(),
    ]) {
      const world = answering();
      const { say, session, hasEnded } = createSession(world);
      await say('isready');
      const answer = (): void =>
        world.search.send({ type: 'bestMove', id: world.search.lastGo.id, move: 11 | (27 << 6), ponder: 0 });
      world.search.onGo = () => undefined;
      world.search.onStop = answer;
      await say(go, 'wait');
      leave(session);
      await settle();
      assert.equal(hasEnded(), leaves, go);
      answer();
      await settle();
      await settle();
      assert.ok(hasEnded());
    }
  }
});

test('a stop also ends a search that is held back', async () => {
  const world = answering();
  const { lines, say, session } = createSession(world);
  await say('isready');
  const answer = (): void =>
    world.search.send({ type: 'bestMove', id: world.search.lastGo.id, move: 11 | (27 << 6), ponder: 0 });
  world.search.onGo = () => undefined;
  world.search.onStop = () => queueMicrotask(answer);
  await say('go infinite', 'wait', 'go infinite', 'stop');
  await settle();
  assert.equal(lines.filter((line) => line.startsWith('bestmove')).length, 2);
  session.end();
});

test('wait waits for perft too', async () => {
  const { lines, say, session } = createSession(answering());
  await say('go perft 2', 'wait', 'xyzzy');
  while (!lines.includes('Nothing happens.')) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(lines.at(-2), 'Nodes searched: 400');
  session.end();
});

test('perft counts, divides, and can be stopped', async () => {
  const { lines, say, session } = createSession(answering());
  await say('isready');
  assert.deepEqual(lines.splice(0), ['readyok']);
  await say('position startpos', 'go perft 3');
  while (!lines.some((line) => line.startsWith('Nodes searched')))
    await new Promise((resolve) => setTimeout(resolve, 5));
  assert.equal(lines.length, 21);
  assert.ok(lines.includes('e2e4: 600'));
  assert.equal(lines.at(-1), 'Nodes searched: 8902');
  lines.length = 0;
  await say('go perft 9', 'isready', 'stop');
  assert.equal(lines.at(-1), 'Nodes searched: 0');
  session.end();
});

test('a perft whose thread dies says why', async () => {
  const game = { rootFen: 'no position', moves: [] } as unknown as GamePosition;
  const cut = await new Promise((resolve) => {
    new PerftClient(game, 1, { onMove: () => undefined, onEnd: (_nodes, cut) => resolve(cut) });
  });
  assert.match(String(cut), /^failed: .*no position/);
});

test('quit and the end of input end the session, the answer owed included', async () => {
  for (const how of ['quit', 'end']) {
    const world = answering();
    const { lines, say, session, hasEnded } = createSession(world);
    await say('isready');
    world.search.onGo = (id) => world.search.send({ type: 'info', id, info: createInfo([11 | (27 << 6)]) });
    world.search.onStop = () =>
      world.search.send({ type: 'bestMove', id: world.search.lastGo.id, move: 11 | (27 << 6), ponder: 0 });
    await say('go infinite');
    if (how === 'quit') await say('quit', 'uci');
    else session.endOfInput();
    await settle();
    assert.equal(lines.at(-1), 'bestmove d2d4');
    assert.ok(hasEnded());
  }
});

test('the end of input waits for what ends by itself; quit does not, and gives no move that nobody searched', async () => {
  for (const [asked, how, answers] of [
    [['isready', 'go nodes 10'], 'end', ['readyok', 'bestmove d2d4']],
    [
      ['isready', 'go nodes 10', 'wait', 'go nodes 20', 'wait', 'go perft 1'],
      'end',
      ['readyok', 'bestmove d2d4', 'bestmove d2d4'],
    ],
    [['go infinite'], 'end', []],
    [['isready', 'go nodes 10'], 'quit', []],
  ] as const) {
    const world = answering();
    const load = world.holdLoading();
    const { lines, say, session, hasEnded } = createSession(world);
    await say(...asked);
    if (how === 'end') session.endOfInput();
    else session.receive('quit');
    load();
    while (!hasEnded()) await settle();
    const said = lines.filter((line) => /^(readyok|bestmove)/.test(line));
    assert.deepEqual(said.sort().reverse(), answers, asked.join());
    if (asked.some((line) => line === 'go perft 1')) assert.equal(lines.at(-1), 'Nodes searched: 20');
  }
});

/** A bench without an end of its own. */
function benchUntilStopped(_words: readonly string[], writeLine: (line: string) => void, signal: AbortSignal) {
  writeLine('Position 1');
  return new Promise<void>((_resolve, reject) =>
    signal.addEventListener('abort', () => reject(signal.reason as Error)),
  );
}

test('quit does not wait for a bench, and stop ends one', async () => {
  const { lines, say, hasEnded } = createSession(answering(), benchUntilStopped);
  await say('bench', 'stop');
  assert.deepEqual(lines, ['Position 1', 'info string bench stopped']);
  await say('bench', 'isready', 'd');
  assert.deepEqual(lines.slice(2), ['Position 1', 'readyok']);
  await say('quit');
  assert.ok(hasEnded());
  assert.equal(lines.length, 4);
});

test('a quit that arrives together with bench, as from a pipe, waits for its end', async () => {
  let finish: () => void = () => undefined;
  const { lines, say, hasEnded } = createSession(answering(), (_words, writeLine) => {
    return new Promise((resolve) => {
      finish = () => {
        writeLine('Nodes 1');
        resolve();
      };
    });
  });
  await say('bench', 'quit');
  assert.ok(!hasEnded());
  finish();
  await settle();
  assert.deepEqual(lines, ['Nodes 1']);
  assert.ok(hasEnded());
});

test('after the end of the input a count that writes nothing writes a line now and then, which a client that is gone does not take', async (t) => {
  const { lines, say, session } = createSession(answering(), benchUntilStopped);
  await say('bench');
  t.mock.timers.enable({ apis: ['setInterval'] });
  session.endOfInput();
  t.mock.timers.tick(4999);
  assert.deepEqual(lines, ['Position 1']);
  t.mock.timers.tick(1);
  assert.deepEqual(lines, ['Position 1', 'info string The input has ended; still counting']);
  await say('stop');
  session.end();
});

test('the end of input waits for a bench', async () => {
  let finish: () => void = () => undefined;
  const { session, say, hasEnded } = createSession(answering(), () => {
    return new Promise((resolve) => {
      finish = resolve;
    });
  });
  await say('bench');
  session.endOfInput();
  await settle();
  assert.ok(!hasEnded());
  finish();
  await settle();
  assert.ok(hasEnded());
});
