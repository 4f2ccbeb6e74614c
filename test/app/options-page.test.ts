import assert from 'node:assert/strict';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { listOptionSpecs } from '#sardonyx/app/settings.js';
import { formatOption } from '#sardonyx/uci/options.js';
import { formatOptionsPage } from '../support/options-page.js';
import { repositoryRoot } from '../support/shared-folder.js';

/** ScoreType has one choice more than lc0's. */
function normalise(line: string): string {
  return line.trim().replace(' var centipawn_leela', '');
}

const PAGE = join(repositoryRoot, 'docs', 'options.md');

// UPDATE_DOCS=1 writes the page instead of comparing it.
test('docs/options.md is what the options say of themselves', () => {
  if (process.env.UPDATE_DOCS !== undefined) writeFileSync(PAGE, formatOptionsPage());
  assert.ok(existsSync(PAGE));
  assert.equal(readFileSync(PAGE, 'utf8'), formatOptionsPage(), 'run the test with UPDATE_DOCS=1');
});

test('every option of lc0 is there, with its default and range', (t) => {
  const file = join(repositoryRoot, '..', 'shared', 'reference', 'lc0-uci-options.txt');
  if (!existsSync(file)) {
    t.skip('the list of lc0’s options is not in the shared folder beside the checkout');
    return;
  }
  // Backends differ by nature.
  const ownWay = new Set(['Backend', 'WeightsFile']);
  const ours = new Map(listOptionSpecs().map((spec) => [spec.uci, formatOption(spec)]));
  for (const line of readFileSync(file, 'utf8').trim().split('\n')) {
    const name = /^option name (.+?) type /.exec(line)?.[1] ?? '';
    if (ownWay.has(name)) continue;
    assert.equal(normalise(ours.get(name) ?? `${name} is missing`), normalise(line));
  }
});
