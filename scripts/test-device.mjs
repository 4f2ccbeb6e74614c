#!/usr/bin/env node
// Runs the tests of devices (test/device) on SwiftShader, a GPU in software that is part of Debian's package `chromium`. So they
// use onnxruntime's real WebGPU on any machine. Without SwiftShader they are skipped with one sentence.
// usage: node scripts/test-device.mjs [--games-minutes=N] [--no-tests]
// With --games-minutes one engine also plays games on the device for that long, and its memory must stay flat (soak.mjs).
// SARDONYX_SWIFTSHADER: folder of libvulkan.so.1 and vk_swiftshader_icd.json
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import yargs from 'yargs';
import { hideBin } from 'yargs/helpers';

const flags = yargs(hideBin(process.argv))
  .option('games-minutes', { type: 'number', default: 0, describe: 'Minutes of games after the tests' })
  .option('tests', { type: 'boolean', default: true, describe: 'Run the tests' })
  .version(false)
  .strict()
  .parseSync();

const folder = process.env.SARDONYX_SWIFTSHADER ?? '/usr/lib/chromium';
const driver = join(folder, 'vk_swiftshader_icd.json');
if (!existsSync(driver) || !existsSync(join(folder, 'libvulkan.so.1'))) {
  console.log(`The device tests are skipped: ${folder} has no SwiftShader (Debian: apt install chromium).`);
  process.exit(0);
}
// Vulkan's loader needs a folder that only this user can access.
const runtime = mkdtempSync(join(tmpdir(), 'sardonyx-device-'));
const { LD_LIBRARY_PATH } = process.env;
const env = {
  ...process.env,
  LD_LIBRARY_PATH: LD_LIBRARY_PATH ? `${folder}:${LD_LIBRARY_PATH}` : folder,
  VK_ICD_FILENAMES: driver,
  XDG_RUNTIME_DIR: runtime,
  SARDONYX_DEVICE_TESTS: '1',
};
const root = fileURLToPath(new URL('..', import.meta.url));
const run = (script, ...args) =>
  spawnSync(process.execPath, [join(root, 'scripts', script), ...args], { stdio: 'inherit', cwd: root, env }).status;
const steps = [];
if (flags.tests) steps.push(['test.mjs', join('test', 'device')]);
if (flags['games-minutes'] > 0) {
  const engine =
    'node dist/cli/main.js --backend=webgpu --weights=models/tiny-test.onnx --minibatch-size=4 --nncache=2000';
  steps.push(['lab/soak.mjs', String(flags['games-minutes']), '--every=30', `--engine=${engine}`]);
}
const hasFailed = steps.map((step) => run(...step)).some((status) => status !== 0);
rmSync(runtime, { recursive: true, force: true });
process.exit(hasFailed ? 1 : 0);
