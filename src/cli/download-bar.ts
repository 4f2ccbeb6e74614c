/** A download on stderr: a bar on a terminal, sentences elsewhere. */
import { type DownloadWatcher, describeDownload } from '../networks/index.js';
import { formatMegabytes } from '../util/index.js';
import { createProgressBar, printNote } from './output.js';

const FORMAT = '{bar} {done} of {size} MB, {eta_formatted} left';

export function createDownloadBar(): DownloadWatcher {
  const notes = describeDownload(printNote);
  if (!process.stderr.isTTY) return notes;
  const bar = createProgressBar(FORMAT, { etaBuffer: 100 });
  let isShown = false;
  return {
    onStart: notes.onStart,
    onProgress: (doneBytes, totalBytes) => {
      const words = { done: formatMegabytes(doneBytes), size: totalBytes === null ? '?' : formatMegabytes(totalBytes) };
      if (!isShown) bar.start(totalBytes ?? 0, doneBytes, words);
      else bar.update(doneBytes, words);
      isShown = true;
    },
    onEnd: () => {
      if (isShown) bar.stop();
    },
  };
}
