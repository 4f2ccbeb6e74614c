/** `sardonyx analyse --stdio` as a client sees it: lines of JSON through pipes. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';
import { needsProcess, openEngine, PROGRAM, TINY_NETWORK } from './uci-process.js';

const STDIO = ['analyse', '--stdio', `--weights=${TINY_NETWORK}`];
const BUNDLED_NETWORK = join(TINY_NETWORK, '..', 'default.onnx');
/** Evaluations that take their time, so that a search is still under way when the next line comes. */
const SLOW = ['analyse', '--stdio', '--backend=random', '--backend-opts=delay=2', '--nncache=0'];

interface Answer {
  readonly id: string;
  readonly turnNumber: number;
  readonly isDuringSearch: boolean;
  readonly noResults?: boolean;
  readonly error?: string;
  readonly moveInfos: readonly { readonly move: string; readonly visits: number; readonly pvVisits?: number[] }[];
  readonly rootInfo: { readonly visits: number; readonly winrate: number };
  readonly policy?: Readonly<Record<string, number>>;
}

test(
  'queries before the end of stdin are all answered, the wrong ones too, and the program ends with status 0',
  needsProcess,
  () => {
    const games = Array.from({ length: 200 }, (_, n) =>
      JSON.stringify({ id: `q${n}`, moves: [['e4', 'd4', 'c4', 'Nf3'][n % 4]], maxVisits: 4, priority: n % 3 }),
    );
    const lines = ['no JSON', '{"id":"wrong","moves":["e5"]}', ...games, '{"id":"v","action":"query_version"}'];
    // No line end after the last one.
    const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...STDIO], {
      input: lines.join('\n'),
      encoding: 'utf8',
      timeout: 900_000,
    });
    assert.equal(status, 0, stderr);
    assert.equal(stderr, '');
    const answers = stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as Answer & { version?: string });
    assert.equal(answers.length, 203);
    assert.match(answers.find(({ id }) => id === undefined)?.error ?? '', /not JSON/);
    assert.match(answers.find(({ id }) => id === 'wrong')?.error ?? '', /^Illegal move 1/);
    assert.match(answers.find(({ id }) => id === 'v')?.version ?? '', /^\d/);
    const results = answers.filter(({ rootInfo }) => rootInfo !== undefined);
    assert.equal(new Set(results.map(({ id }) => id)).size, 200);
    assert.ok(results.every(({ rootInfo, isDuringSearch }) => rootInfo.visits === 4 && !isDuringSearch));
  },
);

test('while a search runs it reports, takes more queries, and can be terminated', needsProcess, async (t) => {
  const engine = openEngine(t, SLOW);
  const report = engine.next(/"id":"long".*"isDuringSearch":true/);
  engine.send('{"id":"long","maxVisits":100000000,"reportDuringSearchEvery":0.05,"includePVVisits":true,"multiPv":2}');
  const partial = JSON.parse(await report) as Answer;
  assert.ok(partial.moveInfos.length <= 2);
  // Reports of the long one may come in the same breath.
  const short = engine.next(/"id":"short"/);
  engine.send('{"id":"short","maxVisits":5,"includePolicy":true}');
  assert.equal(Object.keys((JSON.parse(await short) as Answer).policy ?? {}).length, 20);
  const final = engine.next(/"id":"long".*"isDuringSearch":false/);
  await engine.ask('{"id":"stop","action":"terminate","terminateId":"long"}', /"action":"terminate"/);
  const { rootInfo } = JSON.parse(await final) as Answer;
  assert.ok(rootInfo.visits >= partial.rootInfo.visits && rootInfo.visits < 100_000_000);
  engine.child.stdin.end();
  assert.equal(await engine.exited, 0);
  assert.equal(engine.stderr, '');
});

test('with --quit-without-waiting the end of stdin ends the searches too', needsProcess, async (t) => {
  const engine = openEngine(t, [...SLOW, '--quit-without-waiting', '--concurrency=1']);
  const begun = engine.next(/"isDuringSearch":true/);
  engine.send('{"id":"a","maxVisits":100000000,"reportDuringSearchEvery":0.05}', '{"id":"b"}');
  await begun;
  engine.child.stdin.end();
  assert.equal(await engine.exited, 0);
  const final = engine.lines.map((line) => JSON.parse(line) as Answer).filter((answer) => !answer.isDuringSearch);
  assert.deepEqual(final.map(({ id, noResults }) => [id, noResults === true]).sort(), [
    ['a', false],
    ['b', true],
  ]);
});

test('queries may name one of several networks', needsProcess, () => {
  const queries = [
    '{"id":"models","action":"query_models"}',
    '{"id":"first","maxVisits":1,"includePolicy":true}',
    '{"id":"second","model":"big","maxVisits":1,"includePolicy":true}',
    '{"id":"third","model":"none"}',
  ];
  const models = [`--model=big=${BUNDLED_NETWORK}`, `--model=twin=${TINY_NETWORK}`];
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...STDIO, '--threads=1', ...models], {
    input: queries.join('\n'),
    encoding: 'utf8',
    timeout: 900_000,
  });
  assert.equal(status, 0, stderr);
  const answers = stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Answer & { models?: { name: string; network?: string }[] });
  const find = (id: string) => answers.find((answer) => answer.id === id);
  assert.deepEqual(
    find('models')
      ?.models?.slice(1)
      .map(({ name }) => name),
    ['big', 'twin'],
  );
  assert.notDeepEqual(find('first')?.policy, find('second')?.policy);
  assert.equal(Object.keys(find('second')?.policy ?? {}).length, 20);
  assert.match(find('third')?.error ?? '', /^There is no model none; there are /);
});

test('a client that goes away ends the program quietly', needsProcess, async (t) => {
  const engine = openEngine(t, SLOW);
  const begun = engine.next(/"isDuringSearch":true/);
  engine.send('{"id":"a","maxVisits":100000000,"reportDuringSearchEvery":0.02}');
  await begun;
  engine.child.stdout.destroy();
  assert.equal(await engine.exited, 0);
  assert.equal(engine.stderr, '');
});
