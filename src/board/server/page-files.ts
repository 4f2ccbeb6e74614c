/** The built files of the page, read once when the server starts, each also in gzip. */
import { gzipSync } from 'node:zlib';
import { readProgramFile } from '#platform/program-files.js';

const FOLDER = 'dist/board/page';
/** Written by scripts/build-page.mjs: a JSON array of paths below the folder. */
const LIST = `${FOLDER}/files.json`;

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  tsv: 'text/tab-separated-values; charset=utf-8',
  json: 'application/json',
  webmanifest: 'application/manifest+json',
};

export interface PageFile {
  readonly bytes: Uint8Array;
  /** For browsers that take it; all files of the page are text. */
  readonly gzipped: Uint8Array;
  readonly type: string;
  /** Its name has a hash of its content, so that it never changes. */
  readonly isImmutable: boolean;
}

/** URL path → file. Throws the sentence for the user when the page was never built. */
export function readPageFiles(): ReadonlyMap<string, PageFile> {
  const list = readProgramFile(LIST);
  if (list === null) throw new Error('The page is not built: run `npm run build` first');
  const files = new Map<string, PageFile>();
  for (const name of JSON.parse(Buffer.from(list).toString('utf8')) as string[]) {
    const bytes = readProgramFile(`${FOLDER}/${name}`);
    if (bytes === null) throw new Error(`The page is incomplete: ${name} is missing`);
    const type = TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream';
    files.set(name === 'index.html' ? '/' : `/${name}`, {
      bytes,
      gzipped: gzipSync(bytes),
      type,
      isImmutable: name.startsWith('assets/'),
    });
  }
  return files;
}
