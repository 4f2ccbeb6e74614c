/** Whether a file that begins with these bytes, two at least, is gzipped (RFC 1952, 2.3.1). */
export function isGzip(head: Uint8Array): boolean {
  return head[0] === 0x1f && head[1] === 0x8b;
}
