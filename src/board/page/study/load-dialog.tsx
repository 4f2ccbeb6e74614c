/** Paste or open a FEN or PGN; start again; choose one of several games; copy or save what is on the board. */
import { signal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { createPrng, drawSeed } from '../../../util/index.js';
import { createChess960Fen } from '../../game/chess960.js';
import { MoveTree } from '../../game/move-tree.js';
import { formatGame, type ReadGame, readGameText } from '../../game/move-tree-text.js';
import { Dialog } from '../shell/dialog.js';
import { addNotice } from '../shell/notices.js';
import { copyText, readFile, saveFile } from '../shell/user-files.js';
import type { Study } from './study.js';

const MOST_GAMES = 2000;
const prng = createPrng(drawSeed());

const text = signal('');
const problem = signal('');
const games = signal<readonly ReadGame[]>([]);

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
    games.value = [];
    problem.value = '';
    onClose();
  };
  const read = (given: string): void => {
    problem.value = '';
    const result = readGameText(given);
    if ('error' in result) problem.value = result.error;
    else if (result.games.length === 1) {
      const [{ tree, problem: warning }] = result.games;
      if (warning !== null) addNotice('warning', warning);
      finish(tree);
    } else games.value = result.games.slice(0, MOST_GAMES);
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
        <button type="button" class="primary" disabled={text.value.trim() === ''} onClick={() => read(text.value)}>
          Load
        </button>
        <label class="button">
          Open a file
          <input
            class="visually-hidden"
            type="file"
            accept=".pgn,.fen,.epd,.txt"
            onChange={({ currentTarget }) => {
              const file = currentTarget.files?.[0];
              if (file === undefined) return;
              readFile(file).then(read, (error: Error) => {
                problem.value = error.message;
              });
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
      {games.value.length > 0 && (
        <ul class="game-choice" aria-label="Games">
          {games.value.map(({ tree }, index) => (
            <li key={index}>
              <button type="button" onClick={() => finish(tree)}>
                {describeGame(tree)}
              </button>
            </li>
          ))}
        </ul>
      )}
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

function describeGame({ headers }: MoveTree): string {
  const get = (name: string): string => headers.get(name) ?? '?';
  return `${get('White')} – ${get('Black')}  ${get('Result')}  ${get('Event')} ${get('Date')}`;
}
