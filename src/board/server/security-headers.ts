/**
 * Headers of every answer. The page may load its own files and talk to its own server, and nothing else; nobody may frame it;
 * it sends no Referer; and it is isolated from other pages, so that an engine in the page could use shared memory.
 */
import type { OutgoingHttpHeaders } from 'node:http';

/** @param host as the browser called the server, port included: 'self' does not cover WebSockets in every browser */
export function createSecurityHeaders(host: string): OutgoingHttpHeaders {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    // The pieces are pictures inside of the style sheet.
    "img-src 'self' data:",
    `connect-src 'self' ws://${host}`,
    "worker-src 'self'",
    "manifest-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; ');
  return {
    'Content-Security-Policy': policy,
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Cross-Origin-Embedder-Policy': 'require-corp',
    'Cross-Origin-Resource-Policy': 'same-origin',
    'Permissions-Policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'Referrer-Policy': 'no-referrer',
    'X-Content-Type-Options': 'nosniff',
    'X-Frame-Options': 'DENY',
  };
}
