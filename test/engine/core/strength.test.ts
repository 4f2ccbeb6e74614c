/** Limited strength: the table, what reaches the search, and the fit that makes the table. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { unwrap } from '#sardonyx/base/util/index.js';
import { parseFen, parseUciMove } from '#sardonyx/chess/rules/index.js';
import { STRONGEST_ELO, WEAKEST_ELO } from '#sardonyx/engine/core/options.js';
import {
  computeMinibatch,
  computeSkillElo,
  computeStrength,
  STRENGTH_VALUE_CUTOFF,
} from '#sardonyx/engine/core/strength.js';
import { STRENGTH_LEVELS } from '#sardonyx/engine/core/strength-levels.js';
import { defaultSearchParams } from '#sardonyx/search/index.js';
import { createEngine, settle } from './fake-ports.js';

const LEVELS = [
  { elo: 1000, nodes: 1, temperature: 0.5 },
  { elo: 1400, nodes: 1, temperature: 0 },
  { elo: 1800, nodes: 64, temperature: 0.2 },
];

async function go(options: Readonly<Record<string, string>>, request = { whiteTimeMs: 1000, blackTimeMs: 1000 }) {
  const { engine, world, said } = createEngine();
  for (const [name, text] of Object.entries(options)) unwrap(engine.setOption(name, text));
  engine.go(request);
  await settle();
  const { posted, lastGo } = world.search;
  return {
    world,
    said,
    engine,
    params: lastGo.params,
    limits: lastGo.limits,
    types: posted.map(({ type }) => type),
  };
}

test('a measured Elo is played as it was measured, what lies between by interpolation', () => {
  for (const level of LEVELS) {
    const { nodes, temperature } = computeStrength(level.elo, LEVELS);
    assert.deepEqual({ nodes, temperature }, { nodes: level.nodes, temperature: level.temperature });
  }
  assert.deepEqual(computeStrength(1200, LEVELS), { nodes: 1, temperature: 0.25 });
  assert.deepEqual(computeStrength(1600, LEVELS), { nodes: 8, temperature: 0.1 });
  assert.equal(computeStrength(500, LEVELS).temperature, 0.5);
  assert.equal(computeStrength(3000, LEVELS).nodes, 64);
});

test('the table in use goes upwards, and its ends are the range of UCI_Elo', () => {
  for (let i = 1; i < STRENGTH_LEVELS.length; i++) {
    assert.ok(STRENGTH_LEVELS[i].elo > STRENGTH_LEVELS[i - 1].elo);
    assert.ok(STRENGTH_LEVELS[i].nodes >= STRENGTH_LEVELS[i - 1].nodes);
  }
  const { engine, said } = createEngine();
  assert.ok(engine.setOption('UCI_Elo', `${WEAKEST_ELO}`).ok);
  assert.deepEqual(said, []);
  assert.ok(engine.setOption('UCI_Elo', `${STRONGEST_ELO + 1}`).ok);
  assert.equal(engine.options.getNumber('UCI_Elo'), STRONGEST_ELO);
  assert.ok(engine.setOption('UCI_Elo', '100').ok);
  assert.equal(engine.options.getNumber('UCI_Elo'), WEAKEST_ELO);
  const range = `warning Option UCI_Elo goes from ${WEAKEST_ELO} to ${STRONGEST_ELO}`;
  assert.deepEqual(said, [
    `${range}: ${STRONGEST_ELO + 1} counts as ${STRONGEST_ELO}`,
    `${range}: 100 counts as ${WEAKEST_ELO}`,
  ]);
  assert.ok(!engine.setOption('UCI_Elo', 'much').ok);
  assert.equal(computeSkillElo(0), WEAKEST_ELO);
  assert.equal(computeSkillElo(20), STRONGEST_ELO);
});

test('a level searches its few nodes one by one from an empty tree and draws its move', async () => {
  const elo = Math.round((WEAKEST_ELO + STRONGEST_ELO) / 2);
  const expected = computeStrength(elo);
  const { params, limits, types } = await go({ UCI_LimitStrength: 'true', UCI_Elo: `${elo}` });
  assert.equal(limits.nodes, expected.nodes);
  assert.equal(params.temperature, expected.temperature);
  assert.equal(params.tempValueCutoff, STRENGTH_VALUE_CUTOFF);
  assert.deepEqual([params.minibatchSize, params.batchesInFlight], [1, 1]);
  assert.ok(types.indexOf('clearTree') >= 0 && types.indexOf('clearTree') < types.indexOf('go'));
});

test('only a level of many nodes evaluates several positions at a time', async () => {
  assert.deepEqual([1, 255, 256, 1024, 4096].map(computeMinibatch), [1, 1, 2, 8, 8]);
  const { params } = await go({ UCI_LimitStrength: 'true', UCI_Elo: `${STRONGEST_ELO}` });
  const { nodes } = computeStrength(STRONGEST_ELO);
  assert.deepEqual([params.minibatchSize, params.batchesInFlight], [computeMinibatch(nodes), 1]);
});

test('Skill Level is the same scale, and UCI_LimitStrength overrules it', async () => {
  const weakest = computeStrength(WEAKEST_ELO);
  assert.equal((await go({ 'Skill Level': '0' })).params.temperature, weakest.temperature);
  const both = await go({ 'Skill Level': '0', UCI_LimitStrength: 'true', UCI_Elo: `${STRONGEST_ELO}` });
  assert.equal(both.limits.nodes, computeStrength(STRONGEST_ELO).nodes);
});

test('without a limit, in analysis and in the search for a mate nothing changes', async () => {
  const cases = [
    [{}, { whiteTimeMs: 1000 }],
    [{ UCI_Elo: `${WEAKEST_ELO}` }, { nodes: 500 }],
    [{ UCI_LimitStrength: 'true' }, { infinite: true }],
    [{ UCI_LimitStrength: 'true' }, {}],
    [{ UCI_LimitStrength: 'true' }, { mate: 3 }],
    [{ UCI_LimitStrength: 'true', UCI_AnalyseMode: 'true' }, { nodes: 500 }],
  ] as const;
  for (const [options, request] of cases) {
    const { params, limits, types } = await go(options, request as never);
    const analyseMode = 'UCI_AnalyseMode' in options;
    assert.deepEqual(params, { ...defaultSearchParams, analyseMode });
    assert.equal(limits.nodes, 'nodes' in request ? request.nodes : undefined);
    assert.ok(!types.includes('clearTree'));
  }
});

test('fewer nodes asked for than the level has are fewer nodes', async () => {
  const { limits } = await go({ UCI_LimitStrength: 'true', UCI_Elo: `${STRONGEST_ELO}` }, { nodes: 2 } as never);
  assert.equal(limits.nodes, 2);
});

test('against a bare king a level chooses among the moves that mate; otherwise, and at full strength, among all', async () => {
  const fen = '7k/8/5K2/8/8/8/8/6Q1 w - - 0 1';
  const ask = async (options: Readonly<Record<string, string>>, request: object, position = fen) => {
    const { engine, world } = createEngine();
    for (const [name, text] of Object.entries(options)) unwrap(engine.setOption(name, text));
    unwrap(engine.setPosition(position, []));
    engine.go(request);
    await settle();
    return world.search.lastGo.limits.searchMoves;
  };
  const limited = { UCI_LimitStrength: 'true' };
  const move = (text: string) => unwrap(parseUciMove(unwrap(parseFen(fen)), text));
  assert.deepEqual(await ask(limited, { whiteTimeMs: 1000 }), [move('g1g7')]);
  assert.deepEqual(await ask({ 'Skill Level': '19' }, { depth: 9 }), [move('g1g7')]);
  assert.deepEqual(await ask(limited, { nodes: 5, searchMoves: [move('g1a1')] }), [move('g1a1')]);
  assert.equal(await ask({}, { whiteTimeMs: 1000 }), undefined);
  assert.equal(await ask(limited, { infinite: true }), undefined);
  assert.equal(await ask(limited, { nodes: 5 }, '7k/7p/5K2/8/8/8/8/6Q1 w - - 0 1'), undefined);
});

test('a level ponders within its nodes and says nothing of the limit', async () => {
  const request = { ponder: true, whiteTimeMs: 1000, blackTimeMs: 1000 };
  const { limits, world, said, engine } = await go({ 'Skill Level': '3' }, request);
  assert.equal(limits.infinite, true);
  assert.equal(limits.nodes, computeStrength(computeSkillElo(3)).nodes);
  world.search.send({ type: 'warning', id: world.search.lastGo.id, text: 'the limit is reached' });
  assert.deepEqual(said, []);
  assert.ok(engine.ponderHit().ok);
  const move = unwrap(parseUciMove(engine.position.position, 'e2e4'));
  const { id } = world.search.lastGo;
  world.search.send({ type: 'bestMove', id, move, ponder: 0 });
  await settle();
  assert.ok(world.search.lastGo.id > id, 'the opponent has played it, so the move on the clock is searched');
});

test('the fit finds the ratings behind scores, and its error shrinks with the games', async () => {
  const { fitRatings } = await import(new URL('../../../../scripts/lab/strength/fit.mjs', import.meta.url).href);
  const score = (difference: number): number => 1 / (1 + 10 ** (-difference / 400));
  const pairings = (games: number) => [
    { player: 0, opponent: { elo: 1500 }, games, points: games * score(1600 - 1500) },
    { player: 1, opponent: { player: 0 }, games, points: games * score(1450 - 1600) },
  ];
  const [strong, weak] = fitRatings(2, pairings(10000));
  assert.ok(Math.abs(strong.elo - 1600) < 1 && Math.abs(weak.elo - 1450) < 1);
  assert.ok(weak.error > strong.error, 'the error of a chain adds up');
  const [rough] = fitRatings(2, pairings(100));
  assert.ok(Math.abs(rough.error / strong.error - 10) < 0.5);
  const [unbeaten] = fitRatings(1, [{ player: 0, opponent: { elo: 1500 }, games: 20, points: 20 }]);
  assert.ok(unbeaten.elo > 1700 && unbeaten.elo < 3000 && unbeaten.error > 150);
});
