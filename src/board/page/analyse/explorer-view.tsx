/** The moves that one's own games made in the position on the board: games of the open file, or all that this browser keeps. */
import { effect, signal, untracked } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { requireMove } from '../../game/board-moves.js';
import type { Explored, ResultCount } from '../../game/game-list.js';
import { findNode } from '../../game/move-tree.js';
import { nameFinished } from '../../game/played-game.js';
import { archive } from '../play/play-session.js';
import { reportError } from '../port/engine-port.js';
import { Button, Segments } from '../shell/controls.js';
import { addNotice } from '../shell/notices.js';
import { isOneOf, storedSignal } from '../shell/stored.js';
import type { Chapter } from '../study/analysis-store.js';
import type { ExplorerNews, ExplorerRequest } from '../study/games-worker.js';
import { analysisId, chapters, loadReader, openChapter, openPgn, readAllGames } from '../study/open-analysis.js';
import { study } from '../study/study.js';
import { hover } from './live-analysis.js';

type Source = 'file' | 'all';

const source = storedSignal<Source>('explorer', 'file', isOneOf('file', 'all'));
const games = signal<readonly Chapter[]>([]);
const readCount = signal(0);
const explored = signal<{ readonly fen: string; readonly found: Explored } | null>(null);
/** Games of a message, so that a position can be looked up in between. */
const BATCH = 200;

let worker: Worker | null = null;
/** Which games the worker has or gets. */
let held = '';

function ask(request: ExplorerRequest): void {
  worker?.postMessage(request);
}

function begin(name: string): void {
  worker?.terminate();
  held = name;
  games.value = [];
  readCount.value = 0;
  explored.value = null;
  const own = new Worker(new URL('../study/games-worker.ts', import.meta.url), { type: 'module' });
  own.onmessage = ({ data }: MessageEvent<ExplorerNews>) => {
    if (worker !== own) return;
    if ('found' in data) {
      if (data.fen === study.node.value.fen) explored.value = data;
      return;
    }
    readCount.value = data.read;
    ask({ fen: study.node.value.fen });
  };
  own.onerror = () => addNotice('error', 'The explorer does not start: its script cannot be loaded');
  worker = own;
}

function add(more: readonly Chapter[]): void {
  games.value = [...games.value, ...more];
  for (let at = 0; at < more.length; at += BATCH) ask({ texts: more.slice(at, at + BATCH).map(({ text }) => text) });
}

function nameKept(): string {
  return `all, ${archive.value[0]}, ${analysisId.value}`;
}

/** The view is shown. @returns a function that ends it */
function startExploring(): () => void {
  const endFile = effect(() => {
    // What has been opened or played since then is read when the view is shown again.
    const name = source.value === 'all' ? untracked(nameKept) : analysisId.value;
    const all = source.value === 'all' ? null : chapters.value;
    untracked(() => {
      if (name !== held) {
        begin(name);
        if (all === null)
          readAllGames().then((kept) => {
            if (held === name)
              add([...archive.value.map((text) => ({ title: nameFinished(text), text })), ...kept.flat()]);
          }, reportError);
      }
      if (all !== null && all.length > games.value.length) add(all.slice(games.value.length));
    });
  });
  const endLookUps = effect(() => ask({ fen: study.node.value.fen }));
  return () => {
    endFile();
    endLookUps();
  };
}

/** Opens the game, at the position on the board. */
async function open(index: number): Promise<void> {
  const { fen } = study.node.value;
  const place = fen.split(' ', 4).join(' ');
  await loadReader();
  if (source.value === 'file') openChapter(index);
  else if (!(await openPgn(games.value[index].text))) return;
  const node = findNode(study.tree.value.root, (own) => own.fen.startsWith(place));
  if (node !== null) study.go(node);
}

export function ExplorerView() {
  useEffect(startExploring, []);
  const shown = explored.value?.fen === study.node.value.fen ? explored.value.found : null;
  const total = games.value.length;
  return (
    <div class="explorer stack">
      <div class="button-row">
        <Segments
          legend="Games"
          name="explorer"
          state={source}
          choices={{ file: 'Of this file', all: 'All that are kept' }}
        />
        <span class="faint" role="status">
          {readCount.value < total ? `${readCount.value} of ${total} games read` : describeGames(total)}
        </span>
      </div>
      {shown !== null && shown.total.games === 0 && <p class="faint">No game had this position.</p>}
      {shown !== null && shown.total.games > 0 && <Found found={shown} />}
    </div>
  );
}

function describeGames(count: number): string {
  return count === 1 ? '1 game' : `${count} games`;
}

function Found({ found: { moves, total, games: some } }: { readonly found: Explored }) {
  const position = study.position.value;
  return (
    <>
      <table class="summary line-above explorer-moves">
        <caption class="visually-hidden">Moves of the games</caption>
        <thead>
          <tr>
            <th scope="col">Move</th>
            <th scope="col">Games</th>
            <th scope="col">White, draws, Black</th>
          </tr>
        </thead>
        <tbody>
          {moves.map(({ uci, san, ...counts }) => (
            <tr key={uci} onMouseEnter={() => hover([uci])} onMouseLeave={() => hover([])}>
              <th scope="row">
                <Button
                  label={san}
                  class="table-move bare strong"
                  onClick={() => study.play(requireMove(position, uci))}
                />
              </th>
              <td>{counts.games}</td>
              <td>
                <ResultBar counts={counts} />
              </td>
            </tr>
          ))}
          <tr>
            <th scope="row">All</th>
            <td>{total.games}</td>
            <td>
              <ResultBar counts={total} />
            </td>
          </tr>
        </tbody>
      </table>
      <ul class="game-choice stack" aria-label="Games with this position">
        {some.map((index) => (
          <li key={index}>
            <Button class="cut" label={games.value[index]?.title} onClick={() => void open(index)} />
          </li>
        ))}
      </ul>
    </>
  );
}

function ResultBar({ counts: { white, draws, black } }: { readonly counts: ResultCount }) {
  const known = white + draws + black;
  if (known === 0) return <>–</>;
  const parts = [
    ['white', white],
    ['draw', draws],
    ['black', black],
  ] as const;
  const percent = (count: number): number => Math.round((100 * count) / known);
  const words = `White ${percent(white)} %, draws ${percent(draws)} %, Black ${percent(black)} %`;
  return (
    <span class="result-bar" role="img" aria-label={words} title={words}>
      {parts.map(
        ([name, count]) =>
          count > 0 && (
            <span key={name} class={`eval-${name}`} style={{ flexGrow: count }}>
              {percent(count) >= 15 && percent(count)}
            </span>
          ),
      )}
    </span>
  );
}
