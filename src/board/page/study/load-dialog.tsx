/** Paste or open a FEN or PGN; other games of the file and earlier analyses. */
import { batch, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { GAME_ENDINGS } from '../../../chess/archives/index.js';
import { createSearch, type ImportedGame } from '../../game/game-list.js';
import { Button, bindText, Dialog, FileButton, ProblemLine, SearchField } from '../shell/controls.js';
import { addNotice } from '../shell/notices.js';
import { importFiles, nameFiles } from '../shell/user-files.js';
import { analyses } from './analysis-store.js';
import {
  addChapters,
  analysisId,
  analysisName,
  chapterIndex,
  chapters,
  deleteAnalysis,
  openAnalysis,
  openChapter,
  openFile,
} from './library.js';

/** Games that the list shows at once; the others are found as one types. */
const MOST_LISTED = 200;
const MOST_REFUSALS = 3;
/** One line with a position: Enter loads it. */
const FEN_LINE = /^\s*(?:\w+\/){7}\w+[^\n]*$/;

const text = signal('');
const problem = signal('');
const games = signal<readonly ImportedGame[]>([]);
const refusals = signal<readonly string[]>([]);
/** Of the file that is being read: 0 to 1; null when none is. */
const readShare = signal<number | null>(null);
const wanted = signal('');
let stopImport: () => void = () => undefined;
let fileName = '';
/** Takes the games that are read after one of them was opened. */
let addMore: ((games: readonly ImportedGame[]) => void) | null = null;

/** @param isRoom it stands in the room of games, and closes nothing */
export function LoadDialog({ isRoom, onClose }: { readonly isRoom?: boolean; onClose(): void }) {
  const field = useRef<HTMLTextAreaElement>(null);
  // So that a text can be pasted at once.
  useEffect(() => {
    if (isRoom !== true) field.current?.focus();
  }, []);
  /** All games of the file become chapters; those that are still being read follow. */
  const open = (index: number): void => {
    if (!openFile(games.value, index, fileName)) return;
    const isReading = readShare.value !== null;
    const { value: id } = analysisId;
    text.value = '';
    if (isReading) addMore = (more) => addChapters(id, more);
    else forget();
    onClose();
  };
  const read = (files: readonly Blob[], name = ''): void => {
    forget();
    fileName = name;
    readShare.value = 0;
    stopImport = importFiles(files, (news) => {
      batch(() => {
        if (news.type === 'games' && addMore !== null) {
          addMore(news.games);
          for (const sentence of news.refusals.slice(0, MOST_REFUSALS)) addNotice('error', sentence);
          return;
        }
        if (news.type === 'games') {
          games.value = [...games.value, ...news.games];
          refusals.value = [...refusals.value, ...news.refusals];
          readShare.value = news.readShare;
          return;
        }
        readShare.value = null;
        if (addMore !== null) {
          if (news.problem !== null) addNotice('error', news.problem);
          forget();
          return;
        }
        problem.value =
          news.problem ?? (games.value.length + refusals.value.length > 0 ? '' : 'There is no game in this text');
        if (games.value.length === 1 && refusals.value.length === 0 && news.problem === null) open(0);
      });
    });
  };
  return (
    <Dialog title="Games and positions" isRoom={isRoom} onClose={onClose}>
      <label class="field">
        FEN or PGN
        <textarea
          ref={field}
          rows={5}
          spellcheck={false}
          placeholder="Paste here, or open a file"
          {...bindText(text)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey || FEN_LINE.test(text.value))) return;
            event.preventDefault();
            read([new Blob([text.value])]);
          }}
        />
      </label>
      <ProblemLine text={problem.value} />
      <div class="button-row">
        <Button
          label="Load"
          class="primary"
          title="Ctrl+Enter"
          disabled={text.value.trim() === ''}
          onClick={() => read([new Blob([text.value])])}
        />
        <FileButton
          label="Open a file"
          accept={GAME_ENDINGS.join()}
          multiple
          onFiles={(files) => read(files, nameFiles(files))}
        />
      </div>
      <GameChoice onChoose={open} />
      {games.value.length === 0 && <Chapters onClose={onClose} />}
      <Analyses onClose={onClose} />
    </Dialog>
  );
}

function forget(): void {
  stopImport();
  addMore = null;
  batch(() => {
    games.value = [];
    refusals.value = [];
    readShare.value = null;
    wanted.value = '';
    problem.value = '';
  });
}

/** The games of a file, while it is read and afterwards. */
function GameChoice({ onChoose }: { onChoose(index: number): void }) {
  const count = games.value.length;
  if (count === 0 && refusals.value.length === 0 && readShare.value === null) return null;
  return (
    <>
      <p role="status">
        {count} {count === 1 ? 'game' : 'games'}
        {readShare.value !== null && `, ${Math.floor(100 * readShare.value)} % of the file read`}
      </p>
      {readShare.value !== null && <progress max={1} value={readShare.value} />}
      {refusals.value.slice(0, MOST_REFUSALS).map((sentence) => (
        <p key={sentence} class="problem">
          {sentence}
        </p>
      ))}
      {refusals.value.length > MOST_REFUSALS && (
        <p class="problem">{refusals.value.length - MOST_REFUSALS} more cannot be read.</p>
      )}
      <Titles titles={games.value} wanted={wanted} onChoose={onChoose} />
    </>
  );
}

interface TitlesProps {
  readonly titles: readonly ImportedGame[];
  /** What the user looks for. */
  readonly wanted: { value: string };
  /** The one on the board; without any they have no numbers. */
  readonly current?: number;
  onChoose(index: number): void;
}

function Titles({ titles, wanted, current, onChoose }: TitlesProps) {
  const fits = createSearch(wanted.value);
  const found = titles.map((game, index) => ({ game, index })).filter(({ game }) => fits(game));
  return (
    <>
      <SearchField label="Find a game" state={wanted} />
      <ul class="game-choice" aria-label="Games">
        {found.slice(0, MOST_LISTED).map(({ game: { title, opening = '' }, index }) => (
          <li key={index}>
            <Button
              label={
                <>
                  {current === undefined ? title : `${index + 1}. ${title}`} <small class="faint">{opening}</small>
                </>
              }
              aria-current={index === current}
              onClick={() => onChoose(index)}
            />
          </li>
        ))}
        {found.length === 0 && titles.length > 0 && <li class="faint">No game fits.</li>}
        {found.length > MOST_LISTED && <li class="faint">{found.length - MOST_LISTED} more: search for them.</li>}
      </ul>
    </>
  );
}

const wantedGame = signal('');

/** The games of the file that is open. */
function Chapters({ onClose }: { onClose(): void }) {
  const { length } = chapters.value;
  if (length < 2) return null;
  const open = (index: number): void => {
    openChapter(index);
    onClose();
  };
  return (
    <>
      <h3>
        {analysisName.value === '' ? '' : `${analysisName.value}: `}
        {length} games
      </h3>
      <Titles titles={chapters.value} wanted={wantedGame} current={chapterIndex.value} onChoose={open} />
    </>
  );
}

const wantedAnalysis = signal('');

/** Everything that was analysed in this browser. */
function Analyses({ onClose }: { onClose(): void }) {
  const others = analyses.value.filter(({ id }) => id !== analysisId.value);
  if (others.length === 0) return null;
  const fits = createSearch(wantedAnalysis.value);
  const found = others.filter(({ name, opening = '' }) => fits({ title: name, opening }));
  return (
    <>
      <h3>Earlier analyses</h3>
      {others.length > 5 && <SearchField label="Find an analysis" state={wantedAnalysis} />}
      <ul class="game-choice" aria-label="Earlier analyses">
        {found.slice(0, MOST_LISTED).map((entry) => (
          <li key={entry.id} class="analysis-row">
            <button
              type="button"
              onClick={() => {
                void openAnalysis(entry);
                onClose();
              }}
            >
              <span class="analysis-name">{entry.name}</span>
              <small class="faint">
                {entry.chapters > 1 && `${entry.chapters} games, `}
                {new Date(entry.changedAtMs).toLocaleDateString()}
              </small>
            </button>
            <Button label="Delete" aria-label={`Delete ${entry.name}`} onClick={() => void deleteAnalysis(entry)} />
          </li>
        ))}
      </ul>
    </>
  );
}
