#!/usr/bin/env node
// Makes the single-file executables: each holds Node, the program, onnxruntime and the bundled networks.
// It needs the built program (npm run build) and the npm registry. Any Linux machine can make all targets.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';
import { bundleProgram } from './bundle.mjs';
import { NODE_VERSION, targets } from './targets.mjs';
import { fetchNode, installTools, placeInPkgCache, requireTool } from './tools.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const root = resolve(here, '..', '..');

const flags = yargs(hideBin(process.argv))
  .usage('npm run package -- [target…]\n\nMakes the single-file executables; without a target all of them.')
  .command('$0 [targets..]', false, (command) =>
    command.positional('targets', { type: 'string', array: true, choices: Object.keys(targets) }),
  )
  .option('out', { type: 'string', default: join(root, 'build', 'package'), describe: 'Folder of the executables' })
  .version(false)
  .strict()
  .parseSync();
if (process.platform !== 'linux' || process.arch !== 'x64') {
  console.error('npm run package needs Linux on x64, where it makes the executables of all systems');
  process.exit(1);
}
const pageFolder = join(root, 'dist', 'board', 'page');
// One name as `--targets NAME` is no list.
const named = [flags.targets ?? []].flat();
const wanted = named.length > 0 ? named : Object.keys(targets);

const work = join(root, 'build', 'package');
const out = resolve(flags.out);
mkdirSync(out, { recursive: true });
const tools = installTools(work);
const home = join(work, 'home');
// pkg makes the blob with the Node that it packs, so this machine's own build of that Node is always needed.
const host = targets['linux-x64'];
const hostNode = fetchNode(work, host.node);
const scripts = await bundleProgram(requireTool(tools, 'esbuild'), root);
const common = writeCommonAssets(join(work, 'assets'));

for (const name of wanted) {
  const target = targets[name];
  placeInPkgCache(home, target, fetchNode(work, target.node));
  const assets = { ...common, ...writeNatives(join(work, 'assets', name), name, target) };
  const output = join(out, target.output);
  rmSync(output, { force: true });
  const job = join(work, `${name}.json`);
  writeFileSync(
    job,
    JSON.stringify({
      sea: join(tools, 'node_modules', '@yao-pkg', 'pkg', 'lib-es5', 'sea.js'),
      main: join(work, 'assets', 'main.cjs'),
      options: {
        targets: [{ ...target.pkg, nodeRange: `node${NODE_VERSION}`, output }],
        signature: false,
        seaConfig: { assets },
      },
    }),
  );
  execFileSync(hostNode, [join(here, 'run-pkg.cjs'), job], {
    stdio: ['ignore', 2, 2],
    env: { ...process.env, HOME: home, USERPROFILE: home },
  });
  console.log(`${output}  ${(statSync(output).size / 1e6).toFixed(1)} MB`);
}

/** The assets that are the same for all targets. @returns asset name → path */
function writeCommonAssets(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  const assets = {};
  const add = (name, content) => {
    const path = join(folder, name.replaceAll('/', '~'));
    writeFileSync(path, content);
    assets[name] = path;
  };
  for (const [name, code] of scripts) add(name, code);
  delete assets['main.cjs'];
  add('package.json', readFileSync(join(root, 'package.json')));
  add('build.txt', describeBuild());
  const list = join(root, 'models', 'bundled.json');
  assets['models/bundled.json'] = list;
  for (const { file } of JSON.parse(readFileSync(list, 'utf8')).networks) {
    assets[`models/${file}`] = join(root, 'models', file);
  }
  for (const file of ['files.json', ...JSON.parse(readFileSync(join(pageFolder, 'files.json'), 'utf8'))]) {
    assets[`dist/board/page/${file}`] = join(pageFolder, file);
  }
  return assets;
}

function writeNatives(folder, name, { natives }) {
  mkdirSync(folder, { recursive: true });
  const source = join(root, 'node_modules', 'onnxruntime-node', 'bin', 'napi-v6', natives.folder);
  const assets = {};
  for (const file of natives.files) {
    if (!existsSync(join(source, file))) throw new Error(`onnxruntime-node has no ${natives.folder}/${file}`);
    assets[`native/${file}`] = join(source, file);
  }
  const list = join(folder, 'files.json');
  const version = readOnnxRuntimeVersion();
  writeFileSync(list, JSON.stringify({ version, name: `onnxruntime-${version}-${name}`, files: natives.files }));
  assets['native/files.json'] = list;
  return assets;
}

function readOnnxRuntimeVersion() {
  return JSON.parse(readFileSync(join(root, 'node_modules', 'onnxruntime-node', 'package.json'), 'utf8')).version;
}

function describeBuild() {
  const git = (...args) => {
    try {
      return execFileSync('git', args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] }).trim();
    } catch {
      return '';
    }
  };
  const commit = git('rev-parse', '--short=12', 'HEAD');
  const date = git('show', '-s', '--format=%cs', 'HEAD');
  return `${[commit, date].filter(Boolean).join(' ')}\n`;
}
