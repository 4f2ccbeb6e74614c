#!/usr/bin/env node
// Runs the tests of devices (test/device) on SwiftShader, a GPU in software that is part of Debian's package `chromium`. So they
// use onnxruntime's real WebGPU on any machine. Without SwiftShader they are skipped with one sentence.
// usage: node scripts/test-device.mjs     SARDONYX_SWIFTSHADER: folder of libvulkan.so.1 and vk_swiftshader_icd.json
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const folder = process.env.SARDONYX_SWIFTSHADER ?? '/usr/lib/chromium';
const driver = join(folder, 'vk_swiftshader_icd.json');
if (!existsSync(driver) || !existsSync(join(folder, 'libvulkan.so.1'))) {
  console.log(`The device tests are skipped: ${folder} has no SwiftShader (Debian: apt install chromium).`);
  process.exit(0);
}
// Vulkan's loader needs a folder that only this user can access.
const runtime = mkdtempSync(join(tmpdir(), 'sardonyx-device-'));
const { LD_LIBRARY_PATH } = process.env;
const script = fileURLToPath(new URL('./test.mjs', import.meta.url));
const result = spawnSync(process.execPath, [script, join('test', 'device')], {
  stdio: 'inherit',
  env: {
    ...process.env,
    LD_LIBRARY_PATH: LD_LIBRARY_PATH ? `${folder}:${LD_LIBRARY_PATH}` : folder,
    VK_ICD_FILENAMES: driver,
    XDG_RUNTIME_DIR: runtime,
    SARDONYX_DEVICE_TESTS: '1',
  },
});
rmSync(runtime, { recursive: true, force: true });
process.exit(result.status ?? 1);
