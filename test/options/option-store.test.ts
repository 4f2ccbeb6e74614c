import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createOptionStore } from '#sardonyx/app/options.js';
import { parseContempt } from '#sardonyx/search/formulas/contempt.js';
import { unwrap } from '#sardonyx/util/index.js';

test('options are found in any case and keep their defaults until set', () => {
  const store = createOptionStore();
  assert.equal(store.getNumber('MoveOverheadMs'), 200);
  assert.ok(store.set('moveoverheadms', '50').ok);
  assert.equal(store.getNumber('MoveOverheadMs'), 50);
});

test('another name sets the option it stands for', () => {
  const store = createOptionStore();
  assert.ok(store.set('EvalFile', 'net.onnx').ok);
  assert.equal(store.getString('WeightsFile'), 'net.onnx');
  assert.ok(store.set('debug log file', 'log.txt').ok);
  assert.equal(store.getString('LogFile'), 'log.txt');
  assert.ok(store.set('move overhead', '77').ok);
  assert.equal(store.getNumber('MoveOverheadMs'), 77);
});

test('a wrong value, name or combination changes nothing and is explained', () => {
  const store = createOptionStore();
  const wrong: [name: string, text: string, sentence: RegExp][] = [
    ['Nonsense', '1', /Unknown option: Nonsense/],
    ['MultiPV', '0', /between 1 and 500/],
    ['MultiPV', 'two', /whole number/],
    ['MultiPV', '0x3', /whole number/],
    ['CPuct', '', /needs a number/],
    ['UCI_ShowWDL', 'maybe', /true or false/],
    ['ScoreType', 'pawns', /must be one of centipawn/],
    ['TimeManager', 'nonsense', /must be one of legacy/],
    ['Contempt', 'abc', /^Option Contempt is a list .* "abc" is not$/],
  ];
  const before = JSON.stringify([...store.values]);
  for (const [name, text, sentence] of wrong) {
    const result = store.set(name, text);
    assert.ok(!result.ok, name);
    assert.match(result.error, sentence);
  }
  assert.equal(JSON.stringify([...store.values]), before);
});

test('Contempt takes what the search can read, and nothing else', () => {
  for (const text of [
    '',
    '5',
    '-2.5',
    'stockfish=20',
    'a=1, b=-2,3',
    '=4',
    ',',
    'abc',
    'x=y',
    'x=',
    'a=b=3',
    '1,two',
  ]) {
    assert.equal(createOptionStore().set('Contempt', text).ok, parseContempt(text) !== null, text);
  }
});

test('lc0’s words for a search mean ours', () => {
  const store = createOptionStore();
  unwrap(store.set('SearchAlgorithm', 'DAG-preview'));
  assert.equal(store.getString('SearchAlgorithm'), 'graph');
  unwrap(store.set('SearchAlgorithm', 'classic'));
  assert.equal(store.getString('SearchAlgorithm'), 'tree');
  assert.ok(!store.set('SearchAlgorithm', 'constructor').ok);
});

test('<empty> is how the protocol writes an empty string', () => {
  const store = createOptionStore();
  unwrap(store.set('LogFile', '<empty>'));
  assert.equal(store.getString('LogFile'), '');
  unwrap(store.set('Contempt', ' <empty> '));
  assert.equal(store.getString('Contempt'), '');
});

test('Slowmover and TimeManager must fit together', () => {
  const store = createOptionStore();
  assert.ok(store.set('Slowmover', '1.5').ok);
  assert.ok(!store.set('TimeManager', 'smooth').ok);
  assert.ok(store.set('Slowmover', '1').ok);
  assert.ok(store.set('TimeManager', 'smooth').ok);
});

test('no option name contains a word that splits option lines', () => {
  for (const spec of createOptionStore().declared) {
    assert.doesNotMatch(spec.uci, /\b(name|type|default|min|max|var)\b/i);
    if (spec.kind === 'choice') for (const choice of spec.choices) assert.doesNotMatch(choice, /\s/);
  }
});

test('flags and one-letter flags are unique', () => {
  const specs = createOptionStore().declared;
  const flags = specs.flatMap((spec) => [spec.flag, spec.alias ?? '']).filter((flag) => flag !== '');
  assert.equal(new Set(flags).size, flags.length);
});

test('a change calls the handlers of its effect and no others; what changes nothing calls none', () => {
  const called: string[] = [];
  const store = createOptionStore();
  const disconnect = store.connect({
    tables: () => called.push(`tables ${store.getString('SyzygyPath')}`),
    evaluator: () => called.push('evaluator'),
    forgetTree: () => called.push('forgetTree'),
    search: () => called.push('search'),
  });
  unwrap(store.set('SyzygyPath', '/tb'));
  unwrap(store.set('syzygypath', '/tb'));
  unwrap(store.set('ScoreType', 'Q'));
  assert.ok(!store.set('PolicyTemperature', 'hot').ok);
  unwrap(store.set('PolicyTemperature', '1.359'));
  unwrap(store.set('ClearTree', ''));
  unwrap(store.set('ClearTree', ''));
  unwrap(store.set('Move Overhead', '30'));
  assert.deepEqual(called, ['tables /tb', 'forgetTree', 'forgetTree', 'search']);
  unwrap(store.clone().set('CPuct', '2'));
  disconnect();
  unwrap(store.set('CPuct', '3'));
  assert.equal(called.length, 4);
});

test('stores that agree in the options of an effect describe them alike', () => {
  const [first, second] = [createOptionStore(), createOptionStore()];
  unwrap(first.set('HistoryFill', 'no'));
  assert.equal(first.describe('tables', 'pool'), second.describe('tables', 'pool'));
  assert.notEqual(first.describe('evaluator', 'tables'), second.describe('evaluator', 'tables'));
});
