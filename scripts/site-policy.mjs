// The content security policy of the site: scripts/build-site.mjs writes it into the page, and tests serve every page with it.
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
