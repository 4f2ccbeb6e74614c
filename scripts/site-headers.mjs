// How files of the site are served: the content security policy and the types. scripts/build-site.mjs writes them into the page
// and its service worker; tests serve every page with them.
import { extname } from 'node:path';

/** The user may open a network of any address; everything else comes from the site. */
export const SITE_POLICY = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self' blob: https: http://localhost:*",
  "worker-src 'self'",
  "manifest-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

const TYPES = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.mjs': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.webmanifest': 'application/manifest+json',
  '.tsv': 'text/tab-separated-values; charset=utf-8',
  '.wasm': 'application/wasm',
};

/** Content-Type of a file. */
export function getContentType(name) {
  return TYPES[extname(name)] ?? 'application/octet-stream';
}
