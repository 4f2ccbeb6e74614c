import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { OptionStore } from '#sardonyx/base/options/index.js';
import { unwrap } from '#sardonyx/base/util/index.js';
import { createOptionStore } from '#sardonyx/engine/app/options.js';
import { formatIdentity } from '#sardonyx/engine/uci/options.js';
import { parseContempt } from '#sardonyx/search/protocol/params.js';

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

test('a default that arrives under one name does not undo what was set under another, in any order', () => {
  const aliases = createOptionStore().declared.filter(({ help }) => help.startsWith('Another name of'));
  const pairs = aliases.map((alias) => [/^Another name of (.+)\.$/.exec(alias.help)?.[1] ?? '', alias.uci] as const);
  assert.equal(pairs.length, 3);
  for (const pair of pairs) {
    for (const [set, left] of [pair, pair.toReversed()]) {
      for (const order of [
        [set, left],
        [left, set],
      ]) {
        const store = createOptionStore();
        const spec = store.find(set);
        assert.ok(spec !== undefined && spec.kind !== 'button');
        const wanted = spec.kind === 'int' ? '77' : 'a file';
        for (const name of order) unwrap(store.set(name, name === set ? wanted : String(spec.default)));
        assert.equal(String(store.values.get(pair[0])), wanted, order.join(', then '));
        // Under its own name the default is a wish.
        unwrap(store.set(set, String(spec.default)));
        assert.equal(store.values.get(pair[0]), spec.default);
      }
    }
  }
});

test('all announced options sent back change nothing, in the order announced and by name, whatever is set', () => {
  const set: [name: string, text: string][] = [
    ['WeightsFile', 'a net.onnx'],
    ['MoveOverheadMs', '77'],
    ['MinimumKLDGainPerNode', '0.0000001'],
    ['CPuct', '1.2345678'],
    ['Backend', 'cudnn-fp16'],
    ['UCI_LimitStrength', 'on'],
    ['TimeManager', 'legacy(slowmover=1.2)'],
    ['ConfigFile', ''],
    ['Skill Level', '3'],
  ];
  const send = (store: OptionStore, line: string): void => {
    const [, name, value] = /^option name (.+) type \S+ default ?(.*?)(?: (?:min|max|var) .*)?$/.exec(line) ?? [];
    if (name !== undefined) unwrap(store.set(name, value));
  };
  for (const settings of [[], set, [['EvalFile', 'x.pb']], [['Debug Log File', 'log.txt']]] as [string, string][][]) {
    for (const sort of [(lines: string[]) => lines, (lines: string[]) => lines.toSorted()]) {
      const store = createOptionStore();
      for (const [name, text] of settings) unwrap(store.set(name, text));
      const before = JSON.stringify([...store.values]);
      const lines = formatIdentity('', store.announce(), true);
      let changes = 0;
      store.connect({
        search: () => changes++,
        pool: () => changes++,
        evaluator: () => changes++,
        log: () => changes++,
      });
      for (const line of sort(lines)) send(store, line);
      assert.equal(JSON.stringify([...store.values]), before);
      assert.equal(changes, 0);
      // Cute Chess sends what its user has changed among all the others.
      for (const line of sort(lines)) send(store, line.replace(/(Move Overhead type spin default) \d+/, '$1 123'));
      assert.equal(store.getNumber('MoveOverheadMs'), 123);
    }
  }
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
