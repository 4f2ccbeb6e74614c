#!/usr/bin/env node
// Builds the site into build/site: static files for any host, in any folder of it. index.html is the page of `sardonyx board`
// with the engine inside; the engine for pages (sardonyx.js and what it needs) lies beside it. The service worker knows the
// digest of every file, so that files of two builds are never mixed. usage: node scripts/build-site.mjs
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';
import { getContentType, SITE_POLICY } from './site-headers.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const output = join(root, 'build', 'site');
const ENGINE_FILES = ['sardonyx.js', 'board-worker.js', 'ort', 'models'];
/** The engine, not the service worker, stores networks. */
const UNLISTED = /^models\//;
/** Fetched when they are needed: one of two builds of ONNX Runtime, and the sets of pieces but the first. */
const LATE = /^(ort\/|assets\/pieces-)/;

function hash(content) {
  return createHash('sha256').update(content).digest('hex');
}

function listSiteFiles() {
  return readdirSync(output, { recursive: true })
    .map((name) => name.replaceAll('\\', '/'))
    .filter((name) => statSync(join(output, name)).isFile() && !UNLISTED.test(name))
    .sort();
}

function describeFiles() {
  const describe = (name) => {
    const content = readFileSync(join(output, name));
    const type = getContentType(name);
    return { sha256: hash(content), type, bytes: content.length, ...(LATE.test(name) && { isLate: true }) };
  };
  return Object.fromEntries(listSiteFiles().map((name) => [name, describe(name)]));
}

/** Writes index.html with a tag that makes the page run the engine itself, and the number of the build. */
function writeIndex(build) {
  const path = join(output, 'index.html');
  const head = [
    `<meta http-equiv="Content-Security-Policy" content="${SITE_POLICY}" />`,
    `<meta name="sardonyx-build" content="${build}" />`,
  ];
  const html = readFileSync(path, 'utf8');
  writeFileSync(
    path,
    html.replace('<meta charset="utf-8" />', (charset) => [charset, ...head].join('\n    ')),
  );
}

async function writeServiceWorker(build, files) {
  const bundle = await rolldown({
    input: join(root, 'src', 'board', 'site', 'service-worker.ts'),
    platform: 'browser',
    transform: {
      define: {
        SITE_FILES: JSON.stringify(files),
        SITE_BUILD: JSON.stringify(build),
        SITE_POLICY: JSON.stringify(SITE_POLICY),
      },
      target: 'es2022',
    },
    logLevel: 'warn',
  });
  await bundle.write({ file: join(output, 'service-worker.js'), format: 'iife', minify: true });
}

for (const script of ['build-page.mjs', 'build-web.mjs']) {
  execFileSync(process.execPath, [join(root, 'scripts', script)], { stdio: 'inherit' });
}
rmSync(output, { recursive: true, force: true });
cpSync(join(root, 'dist', 'board', 'page'), output, { recursive: true });
rmSync(join(output, 'files.json'));
for (const name of ENGINE_FILES) cpSync(join(root, 'dist', 'web', name), join(output, name), { recursive: true });
const build = hash(JSON.stringify([describeFiles(), SITE_POLICY])).slice(0, 16);
writeIndex(build);
await writeServiceWorker(build, describeFiles());
console.log(`The site is in ${output}: put its files on any host, in any folder.`);
