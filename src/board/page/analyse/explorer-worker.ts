/** Holds the index of the explorer beside the page. In: games to add, or a position to look up; out: what was found. */
import { type Explored, GameIndex } from '../../game/game-index.js';

export type ExplorerRequest = { readonly texts: readonly string[] } | { readonly fen: string };
/** Number of games read so far, or what was found for the position. */
export type ExplorerNews = { readonly read: number } | { readonly fen: string; readonly found: Explored };

const index = new GameIndex();
let read = 0;

addEventListener('message', ({ data }: MessageEvent<ExplorerRequest>) => {
  if ('fen' in data) {
    postMessage({ fen: data.fen, found: index.find(data.fen) } satisfies ExplorerNews);
    return;
  }
  for (const text of data.texts) index.add(text);
  read += data.texts.length;
  postMessage({ read } satisfies ExplorerNews);
});
