/** The room of games: a table of what is open, kept, played or in matches, with search and filters; texts and files are opened here. */
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { GAME_ENDINGS } from '../../../chess/archives/index.js';
import { compareGames, createSearch, GAME_COLUMNS, type GameColumn } from '../../game/game-list.js';
import { parseTree } from '../../game/move-tree-reader.js';
import type { StoredAnalysis } from '../../protocol/kept.js';
import { matches } from '../match/match-session.js';
import { archive } from '../play/play-session.js';
import { reportError } from '../port/engine-port.js';
import { startReview } from '../review/review-session.js';
import {
  assign,
  Button,
  bindText,
  FileButton,
  IconButton,
  ProblemLine,
  SearchField,
  Select,
} from '../shell/controls.js';
import { bindKeys } from '../shell/keyboard.js';
import { refusals } from '../shell/notices.js';
import { showStudy } from '../shell/rooms.js';
import { importFiles, nameFiles } from '../shell/user-files.js';
import { analyses, type Chapter } from '../study/analysis-store.js';
import {
  analyseGame,
  analysisId,
  analysisName,
  chapterIndex,
  chapters,
  deleteAnalysis,
  deleteChapter,
  keepChapter,
  openAnalysis,
  openChapter,
  openPgn,
  readAllGames,
} from '../study/open-analysis.js';
import { chosenCollection, openGamesRoom, readGames, readShare, wantsText } from '../study/open-games.js';
import { saveAll } from '../study/share-menu.js';

/** What stands at the left. */
interface Collection {
  readonly key: string;
  readonly name: string;
  readonly note: string | number;
  /** When it differs, the games are read again. */
  readonly state?: unknown;
  /** The file. */
  readonly entry?: StoredAnalysis;
  /** Number of the game on the board. */
  readonly current?: number;
  /** Of its games, where their order changes: a row that is clicked or has the focus stays the row of its game. */
  readonly ids?: readonly string[];
  /** @param show takes all that has been read so far */
  read(show: (games: readonly Chapter[]) => void): void;
  open(index: number): unknown;
  remove?(index: number): unknown;
}

/** Rows that are shown at once. */
const PAGE_ROWS = 200;
const MOST_REFUSALS = 3;
/** One line with a position: Enter loads it. */
const FEN_LINE = /^\s*(?:\w+\/){7}\w+[^\n]*$/;
const LABELS: Partial<Record<GameColumn, string>> = { WhiteElo: 'Elo', BlackElo: 'Elo' };
const COLUMNS = Object.keys(GAME_COLUMNS) as GameColumn[];
const FILTERS = {
  all: 'All games',
  '1-0': '1-0',
  '1/2-1/2': '½-½',
  '0-1': '0-1',
  reviewed: 'Reviewed',
  not: 'Not reviewed',
};

const text = signal('');
/** The rows, and the collection as it was when they were read: their numbers are of its order. */
const listed = signal<{ readonly games: readonly Chapter[]; readonly from: Collection | null }>({
  games: [],
  from: null,
});
const order = signal<{ readonly column: GameColumn; readonly way: 1 | -1 } | null>(null);
/** By key of the collection: what is looked for in it, and how much of it is shown. */
const views = new Map<string, ReturnType<typeof createView>>();
const createView = () => ({ wanted: signal(''), filter: signal('all'), rows: signal(PAGE_ROWS) });

function listCollections(): readonly Collection[] {
  const { value: id } = analysisId;
  const { length } = chapters.value;
  const files = analyses.value.filter((entry) => entry.chapters > 1 && entry.id !== id);
  const kept = analyses.value.filter((entry) => (entry.id === id ? length : entry.chapters) === 1);
  const keptIds = kept.map((entry) => entry.id);
  return [
    ...(length < 2
      ? []
      : [
          {
            key: id,
            name: analysisName.value || 'Games',
            note: length,
            state: chapters.value,
            entry: analyses.value.find((entry) => entry.id === id),
            current: chapterIndex.value,
            read: (show: (games: readonly Chapter[]) => void) => show(chapters.value),
            open: (index: number) => index === chapterIndex.value || openChapter(index),
            remove: deleteChapter,
          },
        ]),
    {
      key: 'kept',
      name: 'Kept analyses',
      note: kept.length,
      state: [id, ...keptIds].join(),
      ids: keptIds,
      current: kept.findIndex((entry) => entry.id === id),
      read: async (show) => {
        show(kept.map(({ name, opening }) => ({ title: name, text: '', opening })));
        const all = await readAllGames(kept);
        show(kept.map(({ name }, index) => ({ ...(all[index][0] ?? { text: '' }), title: name })));
      },
      open: (index) => openIfOther(kept[index]),
      remove: (index) => deleteAnalysis(kept[index]),
    },
    ...files.map(
      (entry): Collection => ({
        key: entry.id,
        name: entry.name,
        note: `${entry.chapters}, ${new Date(entry.changedAtMs).toLocaleDateString()}`,
        entry,
        read: async (show) => show((await readAllGames([entry]))[0]),
        open: (index) => openOfFile(entry, index),
        remove: async (index) => (await openOfFile(entry, entry.chapter)) && deleteChapter(index),
      }),
    ),
    ...(archive.value.length === 0
      ? []
      : [
          {
            ...readCollection('played', async () => new Blob([archive.value.join('\n')])),
            name: 'Played games',
            note: archive.value.length,
            state: archive.value,
          },
        ]),
    ...matches.value.map(({ name, players }) => ({
      ...readCollection(`match/${name}`, async () => (await fetch(`matches/${name}.pgn`)).blob()),
      name: `Match ${name}`,
      note: players.join(' – '),
    })),
  ];
}

async function openOfFile(entry: StoredAnalysis, index: number): Promise<boolean> {
  const isOpen = await openAnalysis(entry);
  if (isOpen && index !== chapterIndex.value) openChapter(index);
  return isOpen;
}

/** Games that are text elsewhere: each becomes an analysis of its own. */
function readCollection(key: string, fetchText: () => Promise<Blob>): Pick<Collection, 'key' | 'read' | 'open'> {
  return {
    key,
    read: async (show) => {
      const all: Chapter[] = [];
      importFiles([await fetchText()], (news) => {
        if (news.type === 'games') all.push(...news.games);
        show([...all]);
      });
    },
    open: (index) => {
      const { text } = listed.value.games[index];
      const game = parseTree(text);
      return key === 'played' || !game.ok ? openPgn(text) : analyseGame(game.value.tree, `${key}/${index}`);
    },
  };
}

export function GamesPanel() {
  const list = listCollections();
  const shown = list.find(({ key }) => key === chosenCollection.value) ?? list[0];
  const { key, state, entry } = shown;
  useEffect(() => void keepChapter(true), []);
  // When the room is left.
  useEffect(() => assign(chosenCollection, ''), []);
  useEffect(() => {
    let isShown = true;
    const show = (all: readonly Chapter[]): void => {
      if (isShown) listed.value = { games: all, from: shown };
    };
    Promise.resolve(shown.read(show)).catch(reportError);
    return () => {
      isShown = false;
    };
  }, [key, state]);
  const save = (): void =>
    void saveAll(listed.value.games, entry === undefined && key === 'kept' ? 'analyses' : shown.name);
  useEffect(() => bindKeys({ save, load: openGamesRoom }));
  return (
    <main class="panel-games" aria-label="Games">
      <nav class="collections" aria-label="Collections">
        <TextField />
        {list.map(({ key, name, note }) => (
          <Button
            key={key}
            class="collection"
            label={
              <>
                <span class="cut">{name}</span> <small class="faint">{note}</small>
              </>
            }
            title={name}
            aria-current={key === shown.key}
            onClick={() => {
              if (key !== shown.key) {
                listed.value = { games: [], from: null };
                views.delete(key);
              }
              chosenCollection.value = key;
            }}
          />
        ))}
      </nav>
      <section class="games" aria-label={shown.name}>
        <Problems />
        <GameTable collection={key}>
          {entry !== undefined && (
            <Button
              label="Review all"
              title="Judges every game of the file"
              onClick={() =>
                void openIfOther(entry).then((isOpen) => isOpen && startReview([...chapters.value.keys()]))
              }
            />
          )}
          <Button label="Save file" title="Ctrl+S" disabled={listed.value.games.length === 0} onClick={save} />
          {entry !== undefined && (
            <Button label="Delete" aria-label={`Delete ${shown.name}`} onClick={() => void deleteAnalysis(entry)} />
          )}
        </GameTable>
      </section>
    </main>
  );
}

async function openIfOther(entry: StoredAnalysis): Promise<boolean> {
  return entry.id === analysisId.value || openAnalysis(entry);
}

/** Takes FENs and PGN; files are chosen beside it. */
function TextField() {
  const field = useRef<HTMLTextAreaElement>(null);
  useEffect(() => {
    if (wantsText.value) field.current?.focus();
    wantsText.value = false;
  }, [wantsText.value]);
  const load = (): void => {
    void readGames([new Blob([text.value])]);
    text.value = '';
  };
  return (
    <div class="games-source stack">
      <FileButton
        label="Open files"
        title="PGN, FEN or EPD, also packed"
        accept={GAME_ENDINGS.join()}
        multiple
        onFiles={(files) => void readGames(files, nameFiles(files))}
      />
      <textarea
        ref={field}
        rows={2}
        spellcheck={false}
        aria-label="FEN or PGN"
        placeholder="Paste a FEN or PGN"
        {...bindText(text)}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey || FEN_LINE.test(text.value))) return;
          event.preventDefault();
          load();
        }}
      />
      <Button label="Load" title="Ctrl+Enter" disabled={text.value.trim() === ''} onClick={load} />
    </div>
  );
}

/** Of the files that were opened last, and of what is kept. */
function Problems() {
  const { value: all } = refusals;
  const more = all.length - MOST_REFUSALS;
  const text = `${all.slice(0, MOST_REFUSALS).join('. ')}.${more > 0 ? ` ${more} more cannot be read.` : ''}`;
  return (
    <>
      {readShare.value !== null && <progress max={1} value={readShare.value} aria-label="Share of the files read" />}
      <ProblemLine text={all.length === 0 ? '' : text} onDismiss={assign(refusals, [])} />
    </>
  );
}

interface TableProps {
  /** Its key. */
  readonly collection: string;
  readonly children: ComponentChildren;
}

function GameTable({ collection, children }: TableProps) {
  const { games, from } = listed.value;
  const view = views.get(collection) ?? createView();
  views.set(collection, view);
  const { wanted, filter, rows } = view;
  const fits = createSearch(wanted.value);
  const { value: only } = filter;
  const passes = (game: Chapter): boolean => {
    if (only === 'reviewed' || only === 'not') return (only === 'reviewed') === (game.judgements ?? []).length > 0;
    return only === 'all' || GAME_COLUMNS.Result(game) === only;
  };
  const found = games.flatMap((game, index) => (passes(game) && fits(game) ? [{ game, index }] : []));
  const { value: sorted } = order;
  if (sorted !== null) {
    const compare = compareGames(sorted.column, sorted.way);
    found.sort((a, b) => compare(a.game, b.game));
  }
  const show = async (index: number): Promise<void> => {
    if ((await from?.open(index)) !== false) showStudy();
  };
  const count = games.length === found.length ? found.length : `${found.length} of ${games.length}`;
  return (
    <>
      <div class="button-row">
        <SearchField label="Find a game" state={wanted} />
        <Select
          aria-label="Show"
          value={only}
          choices={Object.entries(FILTERS)}
          onSelect={(value) => assign(filter, value)()}
        />
        <span role="status">
          {count} {count === 1 ? 'game' : 'games'}
        </span>
        {children}
      </div>
      <div class="games-wrap">
        <table class="game-table">
          <caption class="visually-hidden">Games</caption>
          <thead>
            <tr>
              {COLUMNS.map((column) => {
                const way = sorted?.column === column ? sorted.way : 0;
                return (
                  <th
                    key={column}
                    class={`column-${column}`}
                    scope="col"
                    aria-sort={way === 0 ? undefined : way > 0 ? 'ascending' : 'descending'}
                  >
                    <Button
                      class="bare cut"
                      label={`${LABELS[column] ?? column}${way === 0 ? '' : way > 0 ? ' ↑' : ' ↓'}`}
                      title={`Sort by ${column.replace('Elo', '’s Elo')}`}
                      onClick={assign(order, way < 0 ? null : { column, way: way === 0 ? 1 : -1 })}
                    />
                  </th>
                );
              })}
              <td />
            </tr>
          </thead>
          <tbody>
            {found.slice(0, rows.value).map(({ game, index }) => (
              <Row
                key={from?.ids?.[index] ?? index}
                game={game}
                isCurrent={index === from?.current}
                onOpen={() => void show(index)}
                onRemove={from?.remove && (() => void from.remove?.(index))}
              />
            ))}
          </tbody>
        </table>
        {found.length === 0 && (
          <p class="panel-hint faint">
            {games.length === 0 ? 'No games. ' : 'No game fits. '}
            {games.length === 0 ? (
              <Button label="Back to the board" onClick={showStudy} />
            ) : (
              <Button
                label="Show all"
                onClick={() => {
                  wanted.value = '';
                  filter.value = 'all';
                }}
              />
            )}
          </p>
        )}
        {found.length > rows.value && (
          <Button
            label={`Show more (${found.length - rows.value})`}
            onClick={() => assign(rows, rows.value + PAGE_ROWS)()}
          />
        )}
      </div>
    </>
  );
}

interface RowProps {
  readonly game: Chapter;
  readonly isCurrent: boolean;
  onOpen(): void;
  readonly onRemove?: () => void;
}

/** A game without players has its title in their place. */
function Row({ game, isCurrent, onOpen, onRemove }: RowProps) {
  const { White, Black } = GAME_COLUMNS;
  const isNamed = White(game) !== '' || Black(game) !== '';
  return (
    <tr aria-current={isCurrent}>
      <th scope="row" class={isNamed ? undefined : 'game-untitled'}>
        <Button
          class="game-open bare cut"
          label={isNamed ? White(game) || '?' : game.title}
          aria-label={game.title}
          title={game.title}
          onClick={onOpen}
        />
      </th>
      {COLUMNS.slice(1).map((column) => {
        const fact = GAME_COLUMNS[column](game);
        return (
          <td key={column} class={`column-${column}`}>
            {fact === '1/2-1/2' ? '½-½' : fact}
          </td>
        );
      })}
      <td>{onRemove && <IconButton label={`Delete ${game.title}`} icon="close" class="bare" onClick={onRemove} />}</td>
    </tr>
  );
}
