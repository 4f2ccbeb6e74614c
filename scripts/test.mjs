#!/usr/bin/env node
// Runs every compiled test (build/test, build/uci-tests) with node's own test runner, on every supported Node:
// `node --test <folder>` means different things before and after Node 22, so the files are listed here.
// usage: node scripts/test.mjs [word …]     only files whose path contains one of the words
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const words = process.argv.slice(2);
const files = ['test', 'uci-tests']
  .map((folder) => join(root, 'build', folder))
  .filter((folder) => existsSync(folder))
  .flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)))
  .filter((file) => file.endsWith('.test.js'))
  // A compiled test whose source is gone is left over from another commit.
  .filter((file) => existsSync(file.replace(join(root, 'build'), root.replace(/\/$/, '')).replace(/\.js$/, '.ts')))
  .filter((file) => words.length === 0 || words.some((word) => file.includes(word)))
  .sort();
if (files.length === 0) {
  console.error(`No compiled test matches ${words.join(', ') || 'anything'}; run \`npm run build\` first.`);
  process.exit(1);
}
const result = spawnSync(process.execPath, ['--test', '--test-concurrency=2', ...files], {
  cwd: root,
  stdio: 'inherit',
});
process.exit(result.status ?? 1);
