import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPrng } from '#sardonyx/base/util/index.js';
import { computeBoundRadius } from '#sardonyx/engine/analysis/answer.js';
import type { PositionTask } from '#sardonyx/engine/analysis/parse-query.js';
import { TaskQueue } from '#sardonyx/engine/analysis/task-queue.js';
import { createTasks, requireResults, withRun } from './analysis-bench.js';

const ENDLESS = 1_000_000_000;

test('each turn of a query gets one final answer with the visits it asked for', async () => {
  await withRun({}, async ({ run, answers }) => {
    run.add(
      createTasks({
        id: 'game',
        moves: ['e4', 'e7e5', 'Nf3'],
        analyzeTurns: [0, 2, 3],
        maxVisits: 60,
        includePolicy: true,
        includePVVisits: true,
      }),
    );
    await run.whenIdle();
    assert.deepEqual(answers.map(({ turnNumber }) => turnNumber).sort(), [0, 2, 3]);
    for (const answer of answers) {
      const { id, isDuringSearch, moveInfos, rootInfo, policy } = requireResults(answer);
      assert.equal(id, 'game');
      assert.equal(isDuringSearch, false);
      assert.equal(rootInfo.visits, 60);
      assert.equal(rootInfo.currentPlayer, answer.turnNumber % 2 === 0 ? 'w' : 'b');
      assert.equal(
        moveInfos.reduce((sum, { visits }) => sum + visits, 0),
        59,
      );
      assert.deepEqual(
        moveInfos.map(({ order }) => order),
        moveInfos.map((_, index) => index),
      );
      assert.ok(moveInfos.every(({ visits }) => visits <= moveInfos[0].visits));
      assert.ok(Math.abs(Object.values(policy ?? {}).reduce((sum, prior) => sum + prior, 0) - 1) < 0.01);
      for (const move of moveInfos) {
        assert.equal(move.pv[0], move.move);
        assert.equal(move.pvVisits?.length, move.pv.length);
        assert.equal(move.pvVisits?.[0], move.visits);
        assert.ok(move.lcb < move.winrate && move.utilityLcb < move.utility);
        assert.equal(move.wdl.win + move.wdl.draw + move.wdl.loss, 1000);
      }
    }
  });
});

test('a position among many gets the answer it gets alone', async () => {
  const queries = ['e4', 'd4', 'c4', 'Nf3', 'g3', 'b3', 'f4', 'a3'].map((move) => ({ id: move, moves: [move] }));
  const alone: string[] = [];
  await withRun({}, async ({ run, answers }) => {
    for (const query of queries) {
      run.add(createTasks(query));
      await run.whenIdle();
    }
    alone.push(...answers.map((answer) => JSON.stringify(answer)));
  });
  await withRun({ parallel: 8 }, async ({ run, answers }) => {
    run.add(queries.flatMap(createTasks));
    await run.whenIdle();
    assert.deepEqual(answers.map((answer) => JSON.stringify(answer)).sort(), alone.sort());
  });
});

test('two hundred positions at once are all answered, over full batches', async () => {
  await withRun({ parallel: 64, leavesPerPosition: 0, delay: 1 }, async ({ run, answers, queue }) => {
    const tasks = Array.from({ length: 200 }, (_, n) => createTasks({ id: `q${n}`, maxVisits: 8 })).flat();
    run.add(tasks);
    await run.whenIdle();
    assert.equal(new Set(answers.map(({ id }) => id)).size, 200);
    assert.ok(answers.every((answer) => requireResults(answer).rootInfo.visits === 8));
    const { evaluations, batches } = queue.counters;
    assert.ok(evaluations / batches > 3, `${evaluations} evaluations in ${batches} batches of 4`);
  });
});

test('the highest priority goes first, the older of equals, and what has begun is not interrupted', async () => {
  await withRun({ parallel: 1 }, async ({ run, answers, next }) => {
    const begun = next(({ isDuringSearch }) => isDuringSearch);
    run.add(createTasks({ id: 'begun', maxVisits: 3000, reportDuringSearchEvery: 0.001 }));
    await begun;
    run.add([...createTasks({ id: 'low', priority: -1 }), ...createTasks({ id: 'first' })]);
    run.add([...createTasks({ id: 'second' }), ...createTasks({ id: 'high', priority: 5 })]);
    run.add(createTasks({ id: 'turns', moves: ['e4', 'e5'], analyzeTurns: [0, 1, 2], priorities: [1, 9, 2] }));
    await run.whenIdle();
    assert.deepEqual(
      answers.filter(({ isDuringSearch }) => !isDuringSearch).map(({ id, turnNumber }) => `${id} ${turnNumber}`),
      ['begun 0', 'turns 1', 'high 0', 'turns 2', 'turns 0', 'first 0', 'second 0', 'low 0'],
    );
  });
});

for (const [treeMb, places] of [
  [100, 3],
  [1, 1],
]) {
  test(`so little memory that ${places} of four positions are under way at a time: ${treeMb} MB`, async () => {
    await withRun({ treeBytes: treeMb * 2 ** 20 }, async ({ run, answers, next }) => {
      const asked = ['a', 'b', 'c', 'd'];
      const query = { maxVisits: ENDLESS, reportDuringSearchEvery: 0.005 };
      run.add(asked.flatMap((id) => createTasks({ id, ...query })));
      for (let reports = 0; reports < 20; reports++) await next(({ isDuringSearch }) => isDuringSearch);
      assert.deepEqual([...new Set(answers.map(({ id }) => id))].sort(), asked.slice(0, places));
    });
  });
}

test('terminate answers with what was found, or that nothing was', async () => {
  await withRun({ parallel: 2 }, async ({ run, answers, next }) => {
    const begun = next(({ id, isDuringSearch }) => isDuringSearch && id === 'endless');
    const query = { id: 'endless', moves: ['e4'], analyzeTurns: [0, 1], maxVisits: ENDLESS };
    run.add(createTasks({ ...query, reportDuringSearchEvery: 0.02 }));
    run.add(createTasks({ id: 'waiting', moves: ['d4'], analyzeTurns: [0, 1] }));
    await begun;
    run.terminate({ queryId: 'waiting', turnNumbers: [1] });
    assert.deepEqual(answers.at(-1), { id: 'waiting', turnNumber: 1, isDuringSearch: false, noResults: true });
    run.terminate({ queryId: 'endless', turnNumbers: null });
    await run.whenIdle();
    const final = answers.filter(({ isDuringSearch }) => !isDuringSearch);
    assert.equal(final.length, 4);
    const stopped = final.filter(({ id }) => id === 'endless').map(requireResults);
    assert.equal(stopped.length, 2);
    assert.ok(stopped.every(({ rootInfo }) => rootInfo.visits >= 1 && rootInfo.visits < ENDLESS));
    const spared = final.find(({ id, turnNumber }) => id === 'waiting' && turnNumber === 0);
    assert.equal(requireResults(spared).rootInfo.visits, 40);
  });
});

test('partial reports come during the search, with growing visits, and then the final answer', async () => {
  await withRun({ delay: 1 }, async ({ run, answers }) => {
    run.add(createTasks({ maxTime: 0.5, reportDuringSearchEvery: 0.05, multiPv: 3 }));
    await run.whenIdle();
    const results = answers.map(requireResults);
    assert.ok(results.length >= 3, `${results.length} reports`);
    assert.deepEqual(
      results.map(({ isDuringSearch }) => isDuringSearch),
      results.map((_, index) => index < results.length - 1),
    );
    for (let i = 1; i < results.length; i++) {
      assert.ok(results[i].rootInfo.visits >= results[i - 1].rootInfo.visits);
      assert.ok(results[i].moveInfos.length <= 3);
    }
  });
});

test('a dead position, which needs no evaluator, keeps nobody from stopping it or working beside it', async () => {
  await withRun({ parallel: 2 }, async ({ run, answers }) => {
    run.add(createTasks({ id: 'dead', initialFen: '8/8/4k3/8/8/8/8/K7 w - - 0 1', maxVisits: ENDLESS }));
    run.add(createTasks({ id: 'alive' }));
    while (answers.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    assert.equal(answers[0].id, 'alive');
    run.terminate({ queryId: 'dead', turnNumbers: null });
    await run.whenIdle();
    assert.deepEqual(requireResults(answers[1]).rootInfo.wdl, { win: 0, draw: 1000, loss: 0 });
  });
});

test('allowed moves alone are searched, avoided ones are not', async () => {
  await withRun({}, async ({ run, answers }) => {
    run.add(createTasks({ allowMoves: ['e4', 'd2d4'] }));
    await run.whenIdle();
    const allowed = requireResults(answers[0]).moveInfos.map(({ move }) => move);
    assert.deepEqual(allowed.sort(), ['d2d4', 'e2e4']);
    run.add(createTasks({ avoidMoves: ['e4'], maxVisits: 1 }));
    run.add(createTasks({ avoidMoves: ['e4'], maxVisits: 100 }));
    await run.whenIdle();
    assert.equal(requireResults(answers[1]).moveInfos.length, 1);
    for (const answer of answers.slice(1)) {
      assert.ok(requireResults(answer).moveInfos.every(({ move }) => move !== 'e2e4'));
    }
  });
});

test('finished games, mates and Chess960 castling are told as they are', async () => {
  await withRun({}, async ({ run, answers }) => {
    run.add(createTasks({ id: 'mated', moves: ['f3', 'e5', 'g4', 'Qh4#'] }));
    const stalemate = { initialFen: '7k/5Q2/6K1/8/8/8/8/8 b - - 0 1' };
    run.add(createTasks({ id: 'stalemate', ...stalemate }));
    run.add(createTasks({ id: 'share', ...stalemate, overrideSettings: { ScoreType: 'win_percentage' } }));
    run.add(createTasks({ id: 'mate', initialFen: '7k/5ppp/8/8/8/8/8/R5K1 w - - 0 1', maxVisits: 2000 }));
    const castling = { initialFen: '4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1', allowMoves: ['O-O'] };
    run.add(createTasks({ id: 'standard', ...castling }));
    run.add(createTasks({ id: '960', chess960: true, ...castling }));
    await run.whenIdle();
    const find = (id: string) => requireResults(answers.find((answer) => answer.id === id));
    assert.deepEqual(find('mated').moveInfos, []);
    assert.equal(find('mated').rootInfo.mate, 0);
    assert.deepEqual(find('mated').rootInfo.wdl, { win: 0, draw: 0, loss: 1000 });
    assert.deepEqual(find('stalemate').rootInfo.wdl, { win: 0, draw: 1000, loss: 0 });
    assert.deepEqual([find('stalemate').rootInfo.scoreCp, find('share').rootInfo.scoreCp], [0, 5000]);
    const [best] = find('mate').moveInfos;
    assert.deepEqual([best.move, best.mate, best.scoreCp, best.winrate], ['a1a8', 1, null, 1]);
    assert.equal(find('mate').rootInfo.mate, 1);
    assert.equal(find('standard').moveInfos[0].move, 'e1g1');
    assert.equal(find('960').moveInfos[0].move, 'e1h1');
  });
});

test('settings of one query do not touch another', async () => {
  await withRun({ parallel: 1 }, async ({ run, answers }) => {
    run.add(createTasks({ id: 'plain' }));
    run.add(createTasks({ id: 'wide', overrideSettings: { cpuct: 50, ScoreType: 'Q' } }));
    run.add(createTasks({ id: 'plain' }));
    await run.whenIdle();
    const [plain, wide, again] = answers.map(requireResults);
    assert.deepEqual(again, plain);
    assert.notDeepEqual(wide.moveInfos, plain.moveInfos);
    assert.ok(Math.abs((wide.rootInfo.scoreCp ?? 0) - wide.rootInfo.q * 10000) <= 1);
  });
});

test('a position whose evaluators fail on the way has no results, be they never so many visits', async () => {
  await withRun({ parallel: 1, failAfter: 20 }, async ({ run, answers }) => {
    run.add([...createTasks({ id: 'whole', maxVisits: 10 }), ...createTasks({ id: 'cut', maxVisits: 100 })]);
    await run.whenIdle();
    assert.equal(requireResults(answers[0]).rootInfo.visits, 10);
    assert.match(JSON.stringify(answers[1]), /"id":"cut".*No evaluator could answer/);
  });
});

test('many visits: five standard errors of the mean', () => {
  const mean = 0.2;
  const variance = 0.09;
  const radius = computeBoundRadius(10_000, mean, mean * mean + variance);
  assert.ok(Math.abs(radius - 5 * Math.sqrt(variance / 10_000)) < 1e-6);
});

test('few visits that agree prove little, and each further one proves more', () => {
  let last = computeBoundRadius(0, 0.5, 0.25);
  for (const visits of [1, 2, 3, 5, 10, 100, 1000]) {
    const radius = computeBoundRadius(visits, 0.5, 0.25);
    assert.ok(radius > 0 && radius < last, `${visits} visits: ${radius} after ${last}`);
    last = radius;
  }
  assert.ok(computeBoundRadius(1, 0.5, 0.25) > 2);
});

test('a wider spread moves the bound further down', () => {
  assert.ok(computeBoundRadius(50, 0, 0.3) > computeBoundRadius(50, 0, 0.1));
});

test('moves of either player are left out, or are the only ones, down to a depth', async () => {
  await withRun({}, async ({ run, answers }) => {
    const replies = ['e7e5', 'c7c5'];
    const allowed = [{ player: 'B', moves: replies, untilDepth: 2 }];
    run.add(createTasks({ id: 'allow', allowMoves: allowed, maxVisits: 800 }));
    const avoided = [
      { player: 'w', moves: ['e2e4', 'd2d4', 'b1c3'], untilDepth: 3 },
      { player: 'b', moves: ['e7e5'], untilDepth: 2 },
    ];
    run.add(createTasks({ id: 'avoid', avoidMoves: avoided, maxVisits: 800 }));
    await run.whenIdle();
    const lines = (id: string): readonly (readonly string[])[] =>
      requireResults(answers.find((answer) => answer.id === id)).moveInfos.map(({ pv }) => pv);
    const replied = lines('allow').filter((pv) => pv.length > 1);
    assert.ok(replied.length > 10);
    for (const [, reply] of replied) assert.ok(replies.includes(reply), reply);
    for (const [move, reply, second] of lines('avoid')) {
      assert.ok(!['e2e4', 'd2d4', 'b1c3'].includes(move), move);
      assert.notEqual(reply, 'e7e5');
      assert.ok(!['e2e4', 'd2d4', 'b1c3'].includes(second), second);
    }
    assert.equal(lines('avoid').length, 17);
  });
});

test('castling is known in deeper positions, however it is written', async () => {
  await withRun({}, async ({ run, answers }) => {
    const initialFen = '4k3/8/8/8/8/8/8/4K2R b K - 0 1';
    for (const castling of ['e1g1', 'e1h1']) {
      const rule = [{ player: 'w', moves: [castling], untilDepth: 2 }];
      run.add(createTasks({ id: `allow ${castling}`, initialFen, maxVisits: 500, allowMoves: rule }));
      run.add(createTasks({ id: `avoid ${castling}`, initialFen, maxVisits: 500, avoidMoves: rule }));
    }
    await run.whenIdle();
    for (const answer of answers) {
      const replies = requireResults(answer).moveInfos.map(({ pv }) => pv[1]);
      assert.equal(replies.length, 5);
      for (const reply of replies) assert.equal(reply === 'e1g1', answer.id.startsWith('allow'), answer.id);
    }
  });
});

const [template] = createTasks({ id: 'q' });

test('tasks leave by priority and then by age, whatever was taken out between', () => {
  const random = createPrng(7);
  const queue = new TaskQueue();
  const expected: PositionTask[] = [];
  for (let n = 0; n < 500; n++) {
    const task = { ...template, queryId: `q${n % 3}`, turnNumber: n, priority: random.nextBelow(5) };
    queue.add(task);
    expected.push(task);
  }
  const removed = queue.remove({ queryId: 'q1', turnNumbers: null });
  assert.deepEqual(
    removed,
    expected.filter(({ queryId }) => queryId === 'q1'),
  );
  const rest = expected.filter(({ queryId }) => queryId !== 'q1');
  rest.sort((a, b) => b.priority - a.priority || a.turnNumber - b.turnNumber);
  const taken: PositionTask[] = [];
  for (let task = queue.take(); task !== undefined; task = queue.take()) taken.push(task);
  assert.deepEqual(taken, rest);
  assert.equal(queue.size, 0);
});
