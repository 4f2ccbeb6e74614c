/** Files by URL: `https:`, `blob:` of a file that the user chose, or relative to the script. No tablebases. */

export async function readFile(path: string): Promise<Uint8Array> {
  const response = await request(path);
  return new Uint8Array(await response.arrayBuffer());
}

export async function* streamFile(path: string): AsyncIterable<Uint8Array> {
  const { body } = await request(path);
  const reader = body?.getReader();
  for (;;) {
    const piece = await reader?.read();
    if (piece === undefined || piece.done) return;
    yield piece.value;
  }
}

export async function getFileSize(path: string): Promise<number> {
  return (await readFile(path)).length;
}

export async function readFilePart(path: string, position: number, length: number): Promise<Uint8Array> {
  return (await readFile(path)).subarray(position, position + length);
}

export function getFileName(path: string): string {
  const [address] = path.split(/[?#]/);
  return address.slice(address.lastIndexOf('/') + 1) || address;
}

export function describeReadFailure(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

export function describeWriteFailure(): string {
  return 'a page writes no files';
}

async function request(path: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path);
  } catch {
    throw new Error('the address cannot be reached from this page');
  }
  if (!response.ok) throw new Error(`the server answered ${response.status} ${response.statusText}`.trim());
  return response;
}

// A page cannot read folders of tablebases: every function throws.

function refuse(): never {
  throw new Error('a page has no folders of tablebases');
}

export const closeFile: (descriptor: number) => void = refuse;
export const openFile: (path: string, flags: 'r') => number = refuse;
export const readWholeFile: (path: string) => Uint8Array = refuse;
export const readInto: (
  descriptor: number,
  bytes: Uint8Array,
  offset: number,
  length: number,
  position: number,
) => number = refuse;
export const getSize: (path: string) => number = refuse;
export const listFolder: (folder: string) => string[] = refuse;
export const joinPath: (folder: string, name: string) => string = refuse;
