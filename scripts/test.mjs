#!/usr/bin/env node
// Runs the compiled tests (build/test, build/uci-tests) with Node's own test runner. `node --test <folder>` means different
// things before and after Node 22, so this script lists the files itself.
// usage: node scripts/test.mjs [word …]
// With words it runs only the files whose path contains one of them. Build first: npm run build
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { run } from 'node:test';
import { spec } from 'node:test/reporters';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
// On Windows people write chess\fen.
const words = process.argv.slice(2).map((word) => word.replaceAll('\\', '/'));
const files = ['test', 'uci-tests']
  .map((folder) => join(root, 'build', folder))
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  .filter((file) => file.endsWith('.test.js'))
  // Skip compiled tests whose source is gone; they are left over from another commit.
  .filter((file) => existsSync(file.replace(join(root, 'build'), root.replace(/\/$/, '')).replace(/\.js$/, '.ts')))
  .filter((file) => words.length === 0 || words.some((word) => file.replaceAll('\\', '/').includes(word)))
  .sort();
if (files.length === 0) {
  console.error(`No compiled test matches ${words.join(', ') || 'anything'}; run \`npm run build\` first.`);
  process.exit(1);
}
// Three files at a time, because browsers and programs often wait. Files that start them take longest and come first, so that all end together.
const LONG = /build\/(test\/(board|package|web)|uci-tests)\//;
const isLong = (file) => LONG.test(file.replaceAll('\\', '/'));
files.sort((a, b) => Number(isLong(b)) - Number(isLong(a)));
// A file that hangs ends the run some time; none may need anything like it, however busy the machine is.
const tests = run({ files, concurrency: 3, timeout: 3_600_000 });
tests.on('test:fail', ({ todo }) => {
  if (todo === undefined || todo === false) process.exitCode = 1;
});
// The spec reporter lists the failures once more at the end, where a log is read.
tests.compose(spec).pipe(process.stdout);
