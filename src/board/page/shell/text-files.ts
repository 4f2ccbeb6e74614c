/** Texts between the page and the user's own files and clipboard. */
import { addNotice } from './notices.js';

const LARGEST_FILE_BYTES = 20e6;

/** Puts a text into the browser's downloads. */
export function saveFile(name: string, content: string): void {
  const url = URL.createObjectURL(new Blob([content], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

/** Rejects with the sentence for the user. */
export async function readFile(file: File): Promise<string> {
  if (file.size > LARGEST_FILE_BYTES) throw new Error('The file is larger than 20 MB');
  return file.text();
}

export async function copyText(content: string): Promise<void> {
  try {
    await navigator.clipboard.writeText(content);
    addNotice('note', 'Copied');
  } catch {
    addNotice('warning', 'The browser does not let this page copy');
  }
}
