// Fetches the tools for packaging from the npm registry: pkg (locked in tools/), and each target's Node, which is put where pkg
// looks for a Node that it has downloaded. Everything is kept in the build folder for the next time.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { NODE_VERSION } from './targets.mjs';

const here = dirname(fileURLToPath(import.meta.url));

function runNpm(args, cwd) {
  const shell = process.platform === 'win32';
  return execFileSync('npm', [...args, '--no-audit', '--no-fund', '--loglevel=error'], {
    cwd,
    encoding: 'utf8',
    shell,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
}

/** @returns the folder in which pkg and esbuild can be required */
export function installTools(buildFolder) {
  const folder = join(buildFolder, 'tools');
  const lock = join(folder, 'package-lock.json');
  const wanted = readFileSync(join(here, 'tools', 'package-lock.json'));
  const isComplete = existsSync(join(folder, 'node_modules', '@yao-pkg', 'pkg', 'package.json'));
  if (isComplete && existsSync(lock) && readFileSync(lock).equals(wanted)) return folder;
  mkdirSync(folder, { recursive: true });
  for (const name of ['package.json', 'package-lock.json']) copyFileSync(join(here, 'tools', name), join(folder, name));
  // pkg runs on the Node it packs, whatever Node runs this script. No package needs its install script.
  runNpm(['ci', '--ignore-scripts', '--engine-strict=false'], folder);
  return folder;
}

export function requireTool(toolsFolder, name) {
  return createRequire(join(toolsFolder, 'package.json'))(name);
}

/** @returns the path of a package's archive in `folder`; elsewhere the repository has npm refuse to pack */
export function fetchArchive(specifier, folder) {
  mkdirSync(folder, { recursive: true });
  const [{ filename }] = JSON.parse(runNpm(['pack', specifier, '--json', `--pack-destination=${folder}`], folder));
  return join(folder, filename);
}

/** @returns the path of the target's Node executable, verified against the integrity written in targets.mjs */
export function fetchNode(buildFolder, { name, binary, integrity }) {
  const folder = join(buildFolder, 'node', `${name}-${NODE_VERSION}`);
  const path = join(folder, 'package', ...binary.split('/'));
  if (existsSync(`${folder}/complete`)) return path;
  rmSync(folder, { recursive: true, force: true });
  const archive = fetchArchive(`${name}@${NODE_VERSION}`, folder);
  const actual = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (actual !== integrity) throw new Error(`${name}@${NODE_VERSION} has the hash ${actual}, not ${integrity}`);
  execFileSync('tar', ['-xzf', archive, '-C', folder, `package/${binary}`]);
  rmSync(archive);
  chmodSync(path, 0o755);
  writeFileSync(join(folder, 'complete'), integrity);
  return path;
}

/** Puts a Node where pkg keeps verified downloads, below a home folder of our own. */
export function placeInPkgCache(home, target, nodePath) {
  const os = target.pkg.platform === 'macos' ? 'darwin' : target.pkg.platform;
  const stem = `node-v${NODE_VERSION}-${os}-${target.pkg.arch}`;
  const cache = join(home, '.pkg-cache', 'sea');
  const [archive, binary] =
    os === 'win' ? [`${stem}.zip`, `${stem}.exe`] : [`${stem}.tar.gz`, join(stem, 'bin', 'node')];
  const path = join(cache, binary);
  if (existsSync(`${path}.ok`)) return;
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(join(cache, archive), 'in place');
  writeFileSync(join(cache, `${archive}.ok`), '');
  copyFileSync(nodePath, `${path}.draft`);
  chmodSync(`${path}.draft`, 0o755);
  renameSync(`${path}.draft`, path);
  writeFileSync(`${path}.ok`, '');
}
