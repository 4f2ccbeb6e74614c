/**
 * The board editor: pieces are put on the board and taken off; the rest of the position stands in a form beside it. What is set
 * up is a part of the analysis, and stays with it.
 */
import type { Color, Piece, Role } from '@lichess-org/chessground/types';
import { computed, signal } from '@preact/signals';
import { h } from 'preact';
import { useEffect } from 'preact/hooks';
import { START_FEN } from '../../../chess/rules/index.js';
import { MoveTree } from '../../game/move-tree.js';
import { SquareCursor, useChessground } from '../board/chess-board.js';
import { assign, Button, NumberField, ProblemLine, Segments, Select, submit, useLateText } from '../shell/controls.js';
import { beginAnalysis, createTree, setup } from './open-analysis.js';
import { study } from './study.js';

const ROLES: readonly Role[] = ['king', 'queen', 'rook', 'bishop', 'knight', 'pawn'];
const EMPTY_BOARD = '8/8/8/8/8/8/8/8';
const CASTLING = { K: 'White short', Q: 'White long', k: 'Black short', q: 'Black long' } as const;

const fields = computed(() => setup.value?.split(' ') ?? []);
const turn = {
  get value() {
    return fields.value[1];
  },
  set value(color) {
    setField(1, color);
  },
};
/** What a click puts on a square; null: pieces are moved. */
const tool = signal<Piece | 'rubber' | null>(null);

/** What is no position yet stays as it was typed. */
function setFen(fen: string): void {
  study.remarks.value = null;
  const tree = createTree(fen, study.tree.peek());
  const typed = (tree.ok ? tree.value.startFen : fen).trim().split(/\s+/);
  setup.value = ['', 'w', '-', '-', '0', '1'].map((usual, index) => typed[index] ?? usual).join(' ');
}

/** A pawn that cannot be taken any more in passing is not. */
function setField(index: number, text: string): void {
  const changed = fields.value.with(index, text);
  setup.value = (listPassed(changed).includes(changed[3]) ? changed : changed.with(3, '-')).join(' ');
}

/** Squares over which a pawn of the player who does not move can just have come. */
function listPassed([placement, color]: readonly string[]): string[] {
  const rows = placement.split('/').map((row) => row.replace(/\d/g, (count) => ' '.repeat(Number(count))));
  const isWhite = color === 'w';
  const [from, over, to] = isWhite ? [1, 2, 3] : [6, 5, 4];
  return [...'abcdefgh'].flatMap((file, at) => {
    const isPassed = rows[to]?.[at] === (isWhite ? 'p' : 'P') && rows[over]?.[at] === ' ' && rows[from]?.[at] === ' ';
    return isPassed ? [`${file}${8 - over}`] : [];
  });
}

/** A count of the FEN as the value of a field. */
function bindCount(index: number) {
  return {
    get value() {
      return Number(fields.value[index]);
    },
    set value(count) {
      setField(index, String(Math.round(count)));
    },
  };
}
const [quietPlies, moveNumber] = [bindCount(4), bindCount(5)];

export function EditorBoard() {
  const [placement] = fields.value;
  const { element, board } = useChessground(() => ({
    fen: placement,
    orientation: study.orientation.value,
    movable: { free: true, color: 'both' },
    premovable: { enabled: false },
    drawable: { enabled: false },
    selectable: { enabled: false },
    draggable: { deleteOnDropOff: true, showGhost: true },
    highlight: { lastMove: false },
    animation: { enabled: false },
    events: {
      change: () => {
        if (board.current !== null) setField(0, board.current.getFen());
      },
      select: (key) => {
        if (tool.value === null || board.current === null) return;
        const piece = tool.value === 'rubber' ? undefined : tool.value;
        const isThere = piece !== undefined && isSame(board.current.state.pieces.get(key), piece);
        board.current.setPieces(new Map([[key, isThere ? undefined : piece]]));
        setField(0, board.current.getFen());
      },
    },
  }));
  useEffect(() => {
    if (board.current?.getFen() !== placement) board.current?.set({ fen: placement });
  }, [placement]);
  useEffect(() => board.current?.set({ orientation: study.orientation.value }), [study.orientation.value]);
  useEffect(() => board.current?.set({ draggable: { enabled: tool.value === null } }), [tool.value]);
  return (
    <SquareCursor board={board} orientation={study.orientation.value}>
      <div ref={element} class="board" aria-hidden="true" />
    </SquareCursor>
  );
}

function isSame(a: Piece | undefined, b: Piece): boolean {
  return a?.role === b.role && a.color === b.color;
}

export function EditorForm() {
  useEffect(assign(tool, null), []);
  const fen = setup.value ?? '';
  const typed = useLateText(fen, setFen);
  const tree = MoveTree.create(fen);
  const castling = fields.value[2];
  return (
    <form
      class="setup stack"
      onSubmit={submit(() => {
        if (!tree.ok) return;
        setup.value = null;
        beginAnalysis({ games: [tree.value] });
      })}
    >
      <h2>Set up a position</h2>
      <fieldset class="spare-pieces row wrap">
        <legend>Put on the board with a click</legend>
        {(['white', 'black'] as const).map((color) => (
          <div key={color} class="spare-row cg-wrap">
            {ROLES.map((role) => (
              <SparePiece key={role} color={color} role={role} />
            ))}
          </div>
        ))}
        <div class="button-row">
          <Button label="Move" class="spare" aria-pressed={tool.value === null} onClick={assign(tool, null)} />
          <Button
            label="Take off"
            class="spare"
            aria-pressed={tool.value === 'rubber'}
            onClick={assign(tool, 'rubber')}
          />
        </div>
      </fieldset>
      <Segments legend="Who moves" name="turn" look="choice" state={turn} choices={{ w: 'White', b: 'Black' }} />
      <fieldset class="choice">
        <legend>Castling</legend>
        {(Object.keys(CASTLING) as (keyof typeof CASTLING)[]).map((right) => (
          <label key={right}>
            <input
              type="checkbox"
              checked={castling.includes(right)}
              onChange={({ currentTarget }) => {
                const rights = currentTarget.checked ? castling + right : castling.replace(right, '');
                setField(2, [...'KQkq'].filter((letter) => rights.includes(letter)).join('') || '-');
              }}
            />
            {CASTLING[right]}
          </label>
        ))}
      </fieldset>
      <div class="fields">
        <label class="field">
          En passant
          <Select
            value={fields.value[3]}
            choices={['-', ...listPassed(fields.value)].map((square) => [square, square === '-' ? 'None' : square])}
            onSelect={(square) => setField(3, square)}
          />
        </label>
        <NumberField label="Half moves since a capture or pawn" state={quietPlies} min={0} />
        <NumberField label="Move" state={moveNumber} min={1} />
      </div>
      <label class="field">
        FEN
        <input class="fen" spellcheck={false} {...typed} />
      </label>
      <ProblemLine text={tree.ok ? '' : tree.error} />
      <div class="button-row">
        <button type="submit" class="primary" disabled={!tree.ok}>
          Analyse this position
        </button>
        <Button label="Start position" onClick={() => setFen(START_FEN)} />
        <Button label="Empty board" onClick={() => setFen(`${EMPTY_BOARD} w - - 0 1`)} />
        <Button label="Cancel" onClick={assign(setup, null)} />
      </div>
    </form>
  );
}

function SparePiece({ color, role }: { readonly color: Color; readonly role: Role }) {
  const isPicked = typeof tool.value === 'object' && tool.value !== null && isSame(tool.value, { role, color });
  return (
    <Button
      label={h('piece' as 'i', { class: `${role} ${color}` })}
      class="spare spare-piece"
      aria-label={`${color} ${role}`}
      aria-pressed={isPicked}
      onClick={assign(tool, { role, color })}
    />
  );
}
