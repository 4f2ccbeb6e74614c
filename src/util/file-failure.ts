/** Why a file cannot be read or written, in words for the user: Node's own messages name system calls. */

export function describeReadFailure(error: unknown): string {
  return describeFailure(error as NodeJS.ErrnoException, 'there is no such file');
}

export function describeWriteFailure(error: unknown): string {
  return describeFailure(error as NodeJS.ErrnoException, 'there is no such folder');
}

function describeFailure({ code, message }: NodeJS.ErrnoException, whatIsMissing: string): string {
  switch (code) {
    case 'ENOENT':
    case 'ENOTDIR':
      return whatIsMissing;
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
