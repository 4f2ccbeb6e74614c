/**
 * Reads a file that may come from a stranger in a thread of its own, within the limits of its kind, so that the server answers
 * meanwhile. One at a time: several bombs together must not fill the memory either.
 */
import { startThread } from '#platform/threads.js';
import { failure, type Result } from '../../util/index.js';

export interface FileCheck {
  readonly kind: 'book' | 'network';
  readonly path: string;
  /** Further options of the engine, for a network. */
  readonly settings?: readonly (readonly [name: string, text: string])[];
}

/** Digits of the SHA-256 that tells books apart. */
export const DIGEST_DIGITS = 12;

let last: Promise<unknown> = Promise.resolve();

/**
 * Rejects with the sentence for the user.
 * @param name in place of the path in that sentence
 * @returns the first digits of a book's SHA-256; '' for a network
 */
export async function checkFile(check: FileCheck, name = check.path): Promise<string> {
  const answer = last.then(() => runCheck(check));
  last = answer;
  const result = await answer;
  if (result.ok) return result.value;
  throw new Error(result.error.replaceAll(check.path, name));
}

function runCheck(data: FileCheck): Promise<Result<string>> {
  return new Promise((resolve) => {
    const thread = startThread<never, Result<string>>(
      new URL('./file-check-worker.js', import.meta.url),
      { name: 'file check', data },
      {
        onMessage: (result) => resolve(result),
        onError: (error) => resolve(failure(`${data.path} cannot be read: ${error.message}`)),
      },
    );
    void thread.ended.then(() => resolve(failure(`${data.path} cannot be read`)));
  });
}
