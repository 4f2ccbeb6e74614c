import assert from 'node:assert/strict';
import { test } from 'node:test';
import { describeGlyph, formatGlyphs } from '#sardonyx/board/game/glyphs.js';

test('the 139 glyphs of the standard have words, the usual ones a sign; others are shown by number', () => {
  const word = (nag: number) => describeGlyph(nag).word;
  for (let nag = 1; nag <= 139; nag++) assert.doesNotMatch(word(nag), /^Glyph/, String(nag));
  assert.equal(word(22), 'White is in zugzwang');
  assert.equal(word(45), 'Black has sufficient compensation for material');
  assert.equal(word(66), 'White has a vulnerable first rank');
  assert.equal(word(85), 'Black has a very strong pawn structure');
  assert.equal(word(105), 'Black has good piece coordination');
  assert.equal(word(129), 'Black has played the ending very well');
  assert.equal(word(139), 'Black is in severe time pressure');
  const signs = [1, 4, 7, 13, 14, 15, 16, 17, 18, 19, 20, 22, 36, 40, 44, 132, 138, 140, 146, 46, 201];
  assert.equal(
    signs.map((nag) => describeGlyph(nag).sign).join(' '),
    '! ?? □ ∞ ⩲ ⩱ ± ∓ +− −+ +− ⨀ ↑ → =/∞ ⇆ ⊕ ∆ N $46 $201',
  );
  assert.equal(formatGlyphs([16, 0, 5]), '!? ±');
});
