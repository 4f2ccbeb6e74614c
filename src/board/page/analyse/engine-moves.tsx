/** What the engine says of moves: its lines, and every legal move with what VerboseMoveStats says of it. A click plays the move. */
import { signal } from '@preact/signals';
import { formatSan } from '../../../chess/rules/index.js';
import { describeLine, requireMove } from '../../game/board-moves.js';
import { formatCount, formatScore, formatSigned } from '../../game/page-text.js';
import type { Line, MoveRow } from '../../protocol/replies.js';
import { ChessBoard } from '../board/chess-board.js';
import { assign, Button, Icon, toggle } from '../shell/controls.js';
import { moveInRow } from '../shell/keyboard.js';
import { study } from '../study/study.js';
import {
  analysedPosition,
  currentState,
  hover,
  hoveredMoves,
  isBlackToMove,
  isOn,
  multiPv,
  outcome,
  playMoves,
  searchMoves,
  toggleSearchMove,
} from './live-analysis.js';

type Column = Exclude<keyof MoveRow, 'move' | 'bound'>;

const COLUMNS: readonly { readonly key: Column; readonly title: string }[] = [
  { key: 'visits', title: 'N: visits' },
  { key: 'prior', title: 'P: prior, what the network thinks of the move before any search' },
  { key: 'q', title: 'Q: value, from −1 lost to +1 won, for the player to move' },
  { key: 'draw', title: 'D: probability of a draw' },
  { key: 'movesLeft', title: 'M: moves to the end of the game' },
  { key: 'u', title: 'U: what exploration adds to Q' },
  { key: 's', title: 'S: Q + U, with which the search chooses' },
  { key: 'v', title: 'V: the network’s own value of the position after the move' },
];
/** As many as a usual screen shows without scrolling, and a tall one. */
const FEW_ROWS = matchMedia('(min-height: 1100px)').matches ? 30 : 12;

const sortColumn = signal<Column>('visits');
const showsAll = signal(false);

export function MoveTable() {
  const state = currentState.value;
  if (state === null || state.moves.length === 0) {
    return <p class="faint panel-hint">Statistics of the moves appear when the engine analyses.</p>;
  }
  const { value: column } = sortColumn;
  const total = state.moves.reduce((sum, { visits }) => sum + visits, 0);
  const sorted = [...state.moves].sort((a, b) => getNumber(b, column) - getNumber(a, column));
  const rows = showsAll.value ? sorted : sorted.slice(0, FEW_ROWS);
  return (
    <div class="table-wrap">
      <table class="move-table">
        <caption class="visually-hidden">Statistics of every move</caption>
        <thead>
          <tr>
            <th scope="col">Move</th>
            {COLUMNS.map(({ key, title }) => (
              <th key={key} scope="col" aria-sort={column === key ? 'descending' : 'none'}>
                <Button
                  label={title[0]}
                  class="sort"
                  title={`${title}. Click to sort.`}
                  onClick={assign(sortColumn, key)}
                />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.move} row={row} share={row.visits / Math.max(1, total)} />
          ))}
        </tbody>
      </table>
      {sorted.length > FEW_ROWS && (
        <Button
          label={showsAll.value ? 'Fewer moves' : `All ${sorted.length} moves`}
          class="text-button"
          onClick={() => toggle(showsAll)}
        />
      )}
    </div>
  );
}

function getNumber(row: MoveRow, column: Column): number {
  return row[column] ?? Number.NEGATIVE_INFINITY;
}

const PROVEN: Readonly<Record<MoveRow['bound'], string>> = {
  none: '',
  exact: 'proven',
  drawOrWin: 'proven: at least a draw',
  lossOrDraw: 'proven: at most a draw',
};

function Row({ row, share }: { readonly row: MoveRow; readonly share: number }) {
  const position = analysedPosition.value;
  if (position === null) return null;
  const move = requireMove(position, row.move);
  const isSearched = searchMoves.value.includes(row.move);
  return (
    <tr onMouseEnter={() => hover([row.move])} onMouseLeave={() => hover([])}>
      <th scope="row">
        <Button
          label={`${formatSan(position, move)}${row.bound === 'none' ? '' : '●'}`}
          class="table-move"
          title={PROVEN[row.bound]}
          onClick={() => playMoves([row.move])}
        />
        <button
          type="button"
          class="search-only"
          tabIndex={-1}
          aria-label={`Search ${formatSan(position, move)} only`}
          aria-pressed={isSearched}
          title={isSearched ? 'Search other moves too' : 'Search only this move, and others that are chosen so'}
          onClick={() => toggleSearchMove(row.move)}
        >
          <Icon name="target" />
        </button>
      </th>
      <td>
        <span class="share" aria-hidden="true">
          <span class="share-part" style={{ width: `${100 * share}%` }} />
        </span>
        <span class="visits">{formatCount(row.visits)}</span>
      </td>
      <td>{(100 * row.prior).toFixed(1)}</td>
      <td>{row.visits === 0 ? <span class="faint">{formatSigned(row.q, 3)}</span> : formatSigned(row.q, 3)}</td>
      <td>{row.draw === null ? '–' : (100 * row.draw).toFixed(0)}</td>
      <td>{row.movesLeft === null ? '–' : row.movesLeft.toFixed(0)}</td>
      <td>{row.u === null ? '–' : row.u.toFixed(3)}</td>
      <td>{row.s === null ? '–' : formatSigned(row.s, 3)}</td>
      <td>{row.v === null ? '–' : formatSigned(row.v, 3)}</td>
    </tr>
  );
}

/** Moves of a line that is not unfolded. */
const FEW_MOVES = 24;
/** Which of the lines are unfolded. */
const unfolded = signal<ReadonlySet<number>>(new Set());

/** The engine's lines: pointing at a move shows its position on a small board, a click plays the line up to there. */
export function LineList() {
  const lines = currentState.value?.lines ?? [];
  if (outcome.value !== 'ongoing' || !isOn.value) return null;
  const rows = Array.from({ length: multiPv.value }, (_, index) => lines[index]);
  return (
    <ol class="lines" aria-label="Lines" onMouseLeave={() => hover([])}>
      {rows.map((line, index) => (
        <li
          key={index}
          class={unfolded.value.has(index) ? 'line line-unfolded' : 'line'}
          data-keys
          onKeyDown={moveInRow}
        >
          {line === undefined || line.pv.length === 0 ? (
            <span class="faint">…</span>
          ) : (
            <LineRow line={line} index={index} />
          )}
        </li>
      ))}
    </ol>
  );
}

/** One tab stop: the score. The arrows lead to the moves. */
function LineRow({ line, index }: { readonly line: Line; readonly index: number }) {
  const position = analysedPosition.value;
  if (position === null) return null;
  const isUnfolded = unfolded.value.has(index);
  const moves = describeLine(position, isUnfolded ? line.pv : line.pv.slice(0, FEW_MOVES));
  const score = formatScore(line.score, isBlackToMove.value);
  const isForWhite = !score.startsWith('−') && !score.startsWith('#−');
  return (
    <>
      <Button
        label={score}
        class={`line-score ${isForWhite ? 'line-score-white' : 'line-score-black'}`}
        title="Play the first move; the arrow keys lead to the others"
        onClick={() => playMoves(line.pv.slice(0, 1))}
      />
      <span class="line-moves">
        {moves.map(({ san, number }, ply) => (
          <button
            // The focus stays in its place when the line changes.
            key={ply}
            type="button"
            class="line-move"
            tabIndex={-1}
            onClick={() => playMoves(line.pv.slice(0, ply + 1))}
            onMouseEnter={() => hover(line.pv.slice(0, ply + 1))}
            onFocus={() => hover(line.pv.slice(0, ply + 1))}
            onBlur={() => hover([])}
          >
            {number !== '' && <span class="line-number">{number}</span>}
            {san}
          </button>
        ))}
      </span>
      <Button
        label={isUnfolded ? '▴' : '▾'}
        class="line-fold"
        tabIndex={-1}
        aria-label={isUnfolded ? 'Fold the line' : 'Unfold the line'}
        title={isUnfolded ? 'Fold the line' : 'Unfold the line'}
        onClick={() => {
          const next = new Set(unfolded.value);
          if (!next.delete(index)) next.add(index);
          unfolded.value = next;
        }}
      />
    </>
  );
}

/** Where the line under the pointer leads. */
export function LinePreview({ fen }: { readonly fen: string }) {
  const position = analysedPosition.value;
  const line = position === null ? [] : describeLine(position, hoveredMoves.value);
  const last = hoveredMoves.value.at(-1) ?? '';
  return (
    <figure class="line-preview" aria-hidden="true">
      <ChessBoard
        fen={fen}
        orientation={study.orientation.value}
        lastMove={[last.slice(0, 2), last.slice(2, 4)]}
        isSmall
      />
      <figcaption>After {line.at(-1)?.san}</figcaption>
    </figure>
  );
}
