import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseTimeManager } from '#sardonyx/search/stop/parse-time-manager.js';

test('every manager is known by its name, with and without parameters', () => {
  const texts = [
    'legacy',
    'legacy()',
    ' legacy ( slowmover = 1.2 , steepness=6 ) ',
    'smooth',
    'smooth(mle-legacy(midpoint=40,steepness=5),max-move-budget=0.3)',
    'simple(base-pct=2)',
    'alphazero(alphazero-time-pct=10)',
  ];
  for (const text of texts) assert.ok(parseTimeManager(text).ok, text);
});

test('what is wrong with a time manager is said in one sentence', () => {
  const wrong: [text: string, sentence: RegExp][] = [
    ['', /must be one of legacy, smooth, simple, alphazero/],
    ['quick', /must be one of/],
    ['constructor', /must be one of/],
    ['legacy,smooth', /must be one of/],
    ['legacy(slomover=1)', /has no parameter slomover/],
    ['legacy(slowmover)', /written key=value/],
    ['legacy(slowmover=fast)', /between 0 and 100/],
    ['legacy(steepness=0)', /between 0.001/],
    ['simple(base-pct=-1)', /between/],
    ['alphazero(toString=1)', /has no parameter toString/],
  ];
  for (const [text, sentence] of wrong) {
    const result = parseTimeManager(text);
    assert.ok(!result.ok, text);
    assert.match(result.error, sentence);
  }
});

test('Slowmover belongs to legacy and may be given only once', () => {
  assert.ok(parseTimeManager('legacy', 1.5).ok);
  assert.ok(!parseTimeManager('smooth', 1.5).ok);
  assert.ok(!parseTimeManager('legacy(slowmover=2)', 1.5).ok);
});
