#!/usr/bin/env node
// Runs the compiled tests (build/test, build/uci-tests) with Node's own test runner. `node --test <folder>` means different
// things before and after Node 22, so this script lists the files itself.
// usage: node scripts/test.mjs [word …]
// With words it runs only the files whose path contains one of them. Build first: npm run build
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
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
// A test that hangs ends the run some time; none may need anything like it, however busy the machine is.
// The spec reporter lists the failures once more at the end, where a log is read.
const flags = ['--test', '--test-concurrency=2', '--test-timeout=600000', '--test-reporter=spec'];
const result = spawnSync(process.execPath, [...flags, ...files], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(result.status ?? 1);
