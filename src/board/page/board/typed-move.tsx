/** A field to type moves into, for those who do not use the board. */
import { signal } from '@preact/signals';
import type { Move, Position } from '../../../chess/index.js';
import { parseTypedMove } from '../../game/board-moves.js';
import { addNotice } from '../shell/notices.js';

const typed = signal('');

interface TypedMoveProps {
  readonly position: Position;
  onMove(move: Move): void;
}

export function TypedMove({ position, onMove }: TypedMoveProps) {
  return (
    <form
      class="typed-move"
      onSubmit={(event) => {
        event.preventDefault();
        const move = parseTypedMove(position, typed.value);
        if (!move.ok) {
          addNotice('warning', move.error);
          return;
        }
        typed.value = '';
        onMove(move.value);
      }}
    >
      <input
        aria-label="Type a move"
        placeholder="Move: e4, Nf3"
        autocomplete="off"
        autocapitalize="off"
        spellcheck={false}
        value={typed.value}
        onInput={({ currentTarget }) => {
          typed.value = currentTarget.value;
        }}
      />
    </form>
  );
}
