/** Paste or open a FEN or PGN; start again; choose one of several games; copy or save what is on the board. */
import { batch, signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { createPrng, drawSeed } from '../../../util/index.js';
import { createChess960Fen } from '../../game/chess960.js';
import type { ImportedGame } from '../../game/game-import.js';
import { MoveTree } from '../../game/move-tree.js';
import { formatGame, parseGame } from '../../game/move-tree-text.js';
import { Dialog } from '../shell/dialog.js';
import { addNotice } from '../shell/notices.js';
import { copyText, saveFile } from '../shell/user-files.js';
import { importFile } from './import-client.js';
import type { Study } from './study.js';

/** Games that the list shows at once; the others are found as one types. */
const MOST_LISTED = 200;
const MOST_REFUSALS = 3;
const prng = createPrng(drawSeed());

const text = signal('');
const problem = signal('');
const games = signal<readonly ImportedGame[]>([]);
const refusals = signal<readonly string[]>([]);
/** Of the file that is being read: 0 to 1; null when none is. */
const readShare = signal<number | null>(null);
const wanted = signal('');
let stopImport: () => void = () => undefined;

interface LoadProps {
  readonly study: Study;
  onClose(): void;
}

export function LoadDialog({ study, onClose }: LoadProps) {
  const field = useRef<HTMLTextAreaElement>(null);
  // So that a text can be pasted at once.
  useEffect(() => field.current?.focus(), []);
  const finish = (tree: MoveTree): void => {
    study.load(tree);
    text.value = '';
    forget();
    onClose();
  };
  const open = (game: ImportedGame): void => {
    const read = parseGame(game.text);
    if (!read.ok) {
      problem.value = read.error;
      return;
    }
    if (read.value.problem !== null) addNotice('warning', read.value.problem);
    finish(read.value.tree);
  };
  const read = (file: Blob): void => {
    forget();
    readShare.value = 0;
    stopImport = importFile(file, (news) => {
      batch(() => {
        if (news.type === 'games') {
          games.value = [...games.value, ...news.games];
          refusals.value = [...refusals.value, ...news.refusals];
          readShare.value = news.readShare;
          return;
        }
        readShare.value = null;
        problem.value =
          news.problem ?? (games.value.length + refusals.value.length > 0 ? '' : 'There is no game in this text');
        if (games.value.length === 1 && refusals.value.length === 0 && news.problem === null) open(games.value[0]);
      });
    });
  };
  return (
    <Dialog title="Load a position or game" onClose={onClose}>
      <label class="field">
        FEN or PGN
        <textarea
          ref={field}
          rows={8}
          spellcheck={false}
          value={text.value}
          placeholder="Paste here, or open a file"
          onInput={({ currentTarget }) => {
            text.value = currentTarget.value;
          }}
        />
      </label>
      {problem.value !== '' && (
        <p class="problem" role="alert">
          {problem.value}
        </p>
      )}
      <div class="button-row">
        <button
          type="button"
          class="primary"
          disabled={text.value.trim() === ''}
          onClick={() => read(new Blob([text.value]))}
        >
          Load
        </button>
        <label class="button">
          Open a file
          <input
            class="visually-hidden"
            type="file"
            accept=".pgn,.fen,.epd,.txt,.gz"
            onChange={({ currentTarget }) => {
              const file = currentTarget.files?.[0];
              if (file !== undefined) read(file);
            }}
          />
        </label>
        <button type="button" onClick={() => finish(unwrapTree())}>
          Start position
        </button>
        <button type="button" onClick={() => finish(unwrapTree(createChess960Fen(prng.nextBelow(960))))}>
          Chess960
        </button>
      </div>
      <GameChoice onChoose={open} />
      <h3>This game</h3>
      <div class="button-row">
        <button type="button" onClick={() => void copyText(formatGame(study.tree.value))}>
          Copy PGN
        </button>
        <button type="button" onClick={() => void copyText(study.node.value.fen)}>
          Copy FEN
        </button>
        <button type="button" onClick={() => saveFile('game.pgn', formatGame(study.tree.value))}>
          Save PGN
        </button>
      </div>
    </Dialog>
  );
}

function unwrapTree(fen?: string): MoveTree {
  const tree = MoveTree.create(fen);
  if (!tree.ok) throw new Error(tree.error);
  return tree.value;
}

function forget(): void {
  stopImport();
  batch(() => {
    games.value = [];
    refusals.value = [];
    readShare.value = null;
    wanted.value = '';
    problem.value = '';
  });
}

/** The games of a file, while it is read and afterwards. */
function GameChoice({ onChoose }: { onChoose(game: ImportedGame): void }) {
  const count = games.value.length;
  if (count === 0 && refusals.value.length === 0 && readShare.value === null) return null;
  const words = wanted.value.toLowerCase();
  const found = games.value.filter(({ title }) => title.toLowerCase().includes(words));
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
      <input
        type="search"
        placeholder="Find a game"
        aria-label="Find a game"
        value={wanted.value}
        onInput={({ currentTarget }) => {
          wanted.value = currentTarget.value;
        }}
      />
      <ul class="game-choice" aria-label="Games">
        {found.slice(0, MOST_LISTED).map((game) => (
          <li key={games.value.indexOf(game)}>
            <button type="button" onClick={() => onChoose(game)}>
              {game.title}
            </button>
          </li>
        ))}
        {found.length > MOST_LISTED && <li class="faint">{found.length - MOST_LISTED} more: search for them.</li>}
      </ul>
    </>
  );
}
