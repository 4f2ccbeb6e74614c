/** `12.3`: sizes of files and downloads as people read them; a megabyte is a million bytes. */
export function formatMegabytes(bytes: number): string {
  return (bytes / 1e6).toFixed(1);
}
