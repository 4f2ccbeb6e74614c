import assert from 'node:assert/strict';
import { test } from 'node:test';
import { AnalysisSession } from '#sardonyx/engine/analysis/analysis-session.js';
import type { PositionTask, TaskSelection } from '#sardonyx/engine/analysis/parse-query.js';
import { DEFAULTS } from './analysis-bench.js';

interface Reply {
  readonly id?: string;
  readonly error?: string;
  readonly warning?: string;
  readonly field?: string;
  readonly [key: string]: unknown;
}

function converse(...lines: (string | object)[]): {
  sent: Reply[];
  tasks: PositionTask[];
  selections: TaskSelection[];
  clearings: number;
} {
  const result = { sent: [] as Reply[], tasks: [] as PositionTask[], selections: [] as TaskSelection[], clearings: 0 };
  const session = new AnalysisSession(
    {
      models: [
        {
          name: 'N',
          network: 'N',
          host: {
            add: (tasks) => result.tasks.push(...tasks),
            terminate: (selection) => result.selections.push(selection),
          },
          clearCache: () => {
            result.clearings++;
          },
        },
      ],
      version: '1.2.3',
      send: (message) => result.sent.push(message as Reply),
    },
    DEFAULTS,
  );
  for (const line of lines) session.receiveLine(typeof line === 'string' ? line : JSON.stringify(line));
  return result;
}

test('fen is initialFen, and a rule of moves may reach deeper than any search', () => {
  const fen = '4k3/8/8/8/8/8/4P3/4K3 w - - 0 1';
  const allowMoves = [{ player: 'w', moves: ['e2e4'], untilDepth: 1e9 }];
  const { sent, tasks } = converse(
    { id: 'a', fen, allowMoves },
    { id: 'b', fen, initialFen: fen },
    { id: 'c', fen: 'x' },
  );
  assert.deepEqual(
    tasks.map(({ rootFen }) => rootFen),
    [fen, fen],
  );
  assert.equal(tasks[0].moveRules.length, 1);
  assert.deepEqual([sent.length, sent[0].field], [1, 'fen']);
});

test('castling from other squares than in standard chess is written king takes rook, asked for or not', () => {
  const unusual = '4k3/8/8/8/8/8/8/RK5R w KQ - 0 1';
  const standard = '4k3/8/8/8/8/8/8/R3K2R w KQ - 0 1';
  const { tasks } = converse(
    { id: 'a', initialFen: unusual },
    { id: 'b', initialFen: unusual, moves: ['Kc1'], chess960: false },
    { id: 'c', initialFen: standard },
    { id: 'd', initialFen: standard, chess960: true },
  );
  assert.deepEqual(
    tasks.map(({ chess960 }) => chess960),
    [true, true, false, true],
  );
});

const wrong: [name: string, query: object, field: string, sentence: RegExp][] = [
  ['no id', { id: undefined }, 'id', /needs an id/],
  ['an id that is a number', { id: 1 }, 'id', /must be a string/],
  ['a position without kings', { initialFen: '8/8/8/8/8/8/8/8 w - - 0 1' }, 'initialFen', /Illegal position/],
  ['two positions', { initialFen: '4k3/8/8/8/8/8/8/4K3 w - - 0 1', startpos: true }, 'startpos', /exclude/],
  ['an illegal move', { moves: ['e4', 'e4'] }, 'moves', /Illegal move 2 of the game/],
  ['moves that are no list', { moves: 'e4' }, 'moves', /list of strings/],
  ['a turn after the end', { moves: ['e4'], analyzeTurns: [2] }, 'analyzeTurns', /from 0 to 1/],
  ['no turns', { analyzeTurns: [] }, 'analyzeTurns', /at least one turn/],
  ['no visits', { maxVisits: 0 }, 'maxVisits', /from 1/],
  ['half a visit', { maxVisits: 1.5 }, 'maxVisits', /whole/],
  ['no time', { maxTime: 0 }, 'maxTime', /above 0/],
  ['both priorities', { priority: 1, priorities: [1] }, 'priorities', /exclude/],
  ['too many priorities', { priorities: [1, 2] }, 'priorities', /each of the 1 turns/],
  ['an option that is none', { overrideSettings: { Foo: 1 } }, 'overrideSettings.Foo', /not an option/],
  ['an option of the pool', { overrideSettings: { Threads: 1 } }, 'overrideSettings.Threads', /not an option/],
  ['a value out of range', { overrideSettings: { CPuct: -1 } }, 'overrideSettings.CPuct', /between/],
  [
    'a value of no kind',
    { overrideSettings: { CPuct: [] } },
    'overrideSettings.CPuct',
    /must be a string, a number, true or false/,
  ],
  ['both move lists', { allowMoves: ['e4'], avoidMoves: ['d4'] }, 'avoidMoves', /exclude/],
  ['a move that is none', { allowMoves: ['e4', 'e5'] }, 'allowMoves', /illegal/],
  ['a rule of nobody', { avoidMoves: [{ moves: ['e4'], untilDepth: 1 }] }, 'avoidMoves', /player .* must be w or b/],
  ['a rule without depth', { avoidMoves: [{ player: 'w', moves: ['e4'] }] }, 'avoidMoves', /untilDepth/],
  ['a deep move that is none', { avoidMoves: [{ player: 'b', moves: ['x'], untilDepth: 3 }] }, 'avoidMoves', /UCI/],
  [
    'two lists of allowed moves',
    { allowMoves: [1, 2].map((untilDepth) => ({ player: 'w', moves: ['e2e4'], untilDepth })) },
    'allowMoves',
    /one rule/,
  ],
  [
    'deep rules in a graph',
    {
      avoidMoves: [{ player: 'w', moves: ['e2e4'], untilDepth: 2 }],
      overrideSettings: { SearchAlgorithm: 'graph' },
    },
    'overrideSettings',
    /to be tree/,
  ],
  ['a model that is not there', { model: 'M' }, 'model', /There is no model M; there are N/],
  ['a policy of maybe', { includePolicy: 'maybe' }, 'includePolicy', /true or false/],
  ['an unknown action', { action: 'dance' }, 'action', /one of query_version/],
  ['a terminate of nothing', { action: 'terminate' }, 'terminateId', /terminateId/],
  ['turns of a terminate that are none', { action: 'terminate_all', turnNumbers: 'all' }, 'turnNumbers', /list/],
];
for (const [name, query, field, sentence] of wrong) {
  test(`${name}: an error with its field, and nothing is searched`, () => {
    const { sent, tasks, selections } = converse({ id: 'q', ...query });
    const expectsId = field !== 'id';
    assert.equal(sent.length, 1);
    assert.equal(sent[0].field, field);
    assert.match(sent[0].error ?? '', sentence);
    assert.equal(sent[0].id, expectsId ? 'q' : undefined);
    assert.deepEqual([tasks, selections], [[], []]);
  });
}

test('lines that are no JSON objects are errors, empty ones are nothing, and the next query is served', () => {
  const { sent, tasks } = converse('{', '', '   ', '[]', '5', 'null', '"x"', { id: 'q' });
  assert.equal(sent.length, 5);
  assert.match(sent[0].error ?? '', /^The line is not JSON: /);
  for (const { error } of sent.slice(1)) assert.equal(error, 'A query must be a JSON object');
  assert.equal(tasks.length, 1);
});

test('unknown fields are warned about and the query is served', () => {
  const { sent, tasks } = converse({ id: 'q', komi: 7.5, rules: 'chess' });
  assert.deepEqual(
    sent.map(({ field }) => field),
    ['komi', 'rules'],
  );
  assert.match(sent[0].warning ?? '', /ignored/);
  assert.equal(tasks.length, 1);
});

test('actions are echoed and done', () => {
  const { sent, selections, clearings } = converse(
    { id: 'a', action: 'query_version' },
    { id: 'b', action: 'query_models' },
    { id: 'c', action: 'clear_cache', note: 7 },
    { id: 'd', action: 'terminate', terminateId: 'x', turnNumbers: [1, 2] },
    { id: 'e', action: 'terminate_all' },
  );
  assert.deepEqual(sent, [
    { id: 'a', action: 'query_version', version: '1.2.3' },
    { id: 'b', action: 'query_models', models: [{ name: 'N' }] },
    { id: 'c', action: 'clear_cache', note: 7 },
    { id: 'd', action: 'terminate', terminateId: 'x', turnNumbers: [1, 2] },
    { id: 'e', action: 'terminate_all' },
  ]);
  assert.deepEqual(selections, [
    { queryId: 'x', turnNumbers: [1, 2] },
    { queryId: null, turnNumbers: null },
  ]);
  assert.equal(clearings, 1);
});

test('limits: those of the query, else those of the command line', () => {
  const { tasks } = converse({ id: 'a' }, { id: 'b', maxVisits: 7 }, { id: 'c', maxTime: 2 });
  assert.deepEqual(
    tasks.map(({ maxVisits, maxTimeMs }) => [maxVisits, maxTimeMs]),
    [
      [40, null],
      [7, null],
      [null, 2000],
    ],
  );
});

test('a move list may name moves of some turns only', () => {
  const { tasks } = converse({ id: 'q', moves: ['e4'], analyzeTurns: [0, 1], avoidMoves: ['e2e4', 'e7e5'] });
  assert.deepEqual(
    tasks.map(({ searchMoves }) => searchMoves.length),
    [19, 19],
  );
});
