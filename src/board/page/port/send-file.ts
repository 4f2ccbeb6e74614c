/** Sends a file to the server of `sardonyx board`, which keeps it as long as it runs. */
import { signal } from '@preact/signals';
import type { PortEvent } from '../../protocol/replies.js';

/** What is being sent or fetched now, for all to see; null = nothing. `share` is 0 to 1, null when it is not known. */
export const transfer = signal<{ readonly text: string; readonly share: number | null } | null>(null);

/** The server fetches something for the pages. */
export function showProgress({ text, share, isDone }: Extract<PortEvent, { type: 'progress' }>): void {
  transfer.value = isDone ? null : { text, share };
}

/**
 * Rejects with the sentence for the user.
 * @returns the name under which the server offers it
 */
export function sendFile(kind: 'network' | 'book', file: File): Promise<string> {
  const request = new XMLHttpRequest();
  return new Promise<string>((resolve, reject) => {
    request.open('PUT', `files/${kind}?name=${encodeURIComponent(file.name)}`);
    request.upload.onprogress = ({ loaded, total }) => {
      transfer.value = { text: `Sending ${file.name}`, share: total > 0 ? loaded / total : null };
    };
    request.onerror = () =>
      reject(new Error(`${file.name} could not be sent: the connection ended, or it is too large`));
    request.onload = () => {
      const answer = request.responseText.trim();
      if (request.status === 200) resolve(answer);
      else reject(new Error(answer === '' ? `${file.name} was refused` : answer));
    };
    request.send(file);
  }).finally(() => {
    transfer.value = null;
  });
}
