/** The file a command was asked to write; a failure is one sentence. */
import { writeFile } from 'node:fs/promises';

export async function writeOutput(path: string, bytes: Uint8Array): Promise<void> {
  try {
    await writeFile(path, bytes);
  } catch (error) {
    throw new Error(`Cannot write ${path}: ${describeFailure(error as NodeJS.ErrnoException)}`);
  }
}

function describeFailure({ code, message }: NodeJS.ErrnoException): string {
  switch (code) {
    case 'ENOENT':
      return 'there is no such folder';
    case 'EISDIR':
      return 'it is a folder';
    case 'EACCES':
    case 'EPERM':
    case 'EROFS':
      return 'that is not permitted';
    case 'ENOSPC':
      return 'the disk is full';
    default:
      return message;
  }
}
