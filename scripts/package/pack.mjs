#!/usr/bin/env node
// Builds and packs the npm package: it stages a folder with a package.json of its own, so that the package is the same whatever
// was built before. `.npmrc` lets no hook of npm run, so a plain `npm pack` could pack a clone that nobody has built.
// usage: npm run pack -- [FOLDER]      (default: build/npm; prints the path of the .tgz)
import { execFileSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = resolve(process.argv[2] ?? join(root, 'build', 'npm'));
const stage = join(root, 'build', 'npm', 'package');
const run = (...args) => execFileSync(process.execPath, args, { cwd: root, stdio: ['ignore', 2, 2] });

/** Files below a folder of the clone, their paths relative to the clone, with '/'. */
function list(folder) {
  const entries = readdirSync(join(root, folder), { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) =>
      posix.relative(root.replaceAll('\\', '/'), join(entry.parentPath, entry.name).replaceAll('\\', '/')),
    );
}

/** Compiled files that have a source (`tsc -b` deletes nothing), the board's page, and what users of `sardonyx/web` load. */
function isProgram(path) {
  if (path.startsWith('dist/board/page/')) return true;
  if (path.startsWith('dist/web/')) return !/board-worker\.js$|(?<!create-engine)\.d\.ts$/.test(path);
  const [, name] = /^dist\/(.*?)(?:\.d\.ts|\.js)$/.exec(path) ?? [];
  return (
    name !== undefined &&
    !/^(board\/site|platform\/browser)\//.test(name) &&
    existsSync(join(root, 'src', `${name}.ts`))
  );
}

/** Links to files that the package does not hold become plain text, pictures are left out. */
function cutLinks(text, file, files) {
  return text.replace(/(!?)\[([^\]]*)\]\(([^)\s]+)\)/g, (link, picture, label, target) => {
    const path = posix.join(posix.dirname(file), target.split('#')[0]);
    if (/^(https?:|#)/.test(target) || files.has(path)) return link;
    return picture === '' ? label : '';
  });
}

const build = [
  ['node_modules/typescript/bin/tsc', '-b'],
  ['node_modules/typescript/bin/tsc', '-b', 'src/web'],
  ['scripts/build-page.mjs'],
  ['scripts/build-web.mjs'],
];
for (const step of build) run(...step);

const files = new Set([
  ...list('dist').filter(isProgram),
  ...list('models').filter((path) => /\.(onnx|json|md)$/.test(path)),
  ...list('docs').filter((path) => /^docs\/(?!dev\/|images\/)/.test(path)),
  ...['scripts/preinstall.mjs', 'README.md', 'CHANGELOG.md', 'SECURITY.md', 'LICENSE'],
]);
for (const file of list('dist/web/models')) files.delete(file.slice('dist/web/'.length)); // each network once
rmSync(stage, { recursive: true, force: true });
for (const file of files) {
  const copy = join(stage, file);
  mkdirSync(dirname(copy), { recursive: true });
  if (/\.md$/.test(file)) writeFileSync(copy, cutLinks(readFileSync(join(root, file), 'utf8'), file, files));
  else if (/^dist\/.*\.js$/.test(file)) {
    const text = readFileSync(join(root, file), 'utf8').replace(/\n\/\/# sourceMappingURL=\S+\s*$/, '\n');
    writeFileSync(copy, text, { mode: file === 'dist/cli/main.js' ? 0o755 : 0o644 });
  } else copyFileSync(join(root, file), copy);
}
const {
  private: _,
  devDependencies,
  scripts,
  files: own,
  ...manifest
} = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
writeFileSync(
  join(stage, 'package.json'),
  `${JSON.stringify({ ...manifest, scripts: { preinstall: scripts.preinstall } }, null, 2)}\n`,
);
mkdirSync(out, { recursive: true });
const npm = process.env.npm_execpath;
const command = npm === undefined ? ['npm'] : [process.execPath, npm];
const flags = ['pack', '--json', '--ignore-scripts', '--pack-destination', out];
const [packed] = JSON.parse(
  execFileSync(command[0], [...command.slice(1), ...flags], { cwd: stage, encoding: 'utf8' }),
);
const megabytes = (bytes) => (bytes / 1e6).toFixed(1);
console.error(
  `${packed.entryCount} files, ${megabytes(packed.size)} MB packed, ${megabytes(packed.unpackedSize)} MB unpacked`,
);
console.log(join(out, packed.filename));
