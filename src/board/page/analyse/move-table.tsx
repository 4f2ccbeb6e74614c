/** Every legal move with what VerboseMoveStats says of it. A click plays the move. */
import { signal } from '@preact/signals';
import { formatSan } from '../../../chess/index.js';
import { requireMove } from '../../game/board-moves.js';
import { formatCount, formatSigned } from '../../game/board-text.js';
import type { MoveRow } from '../../protocol/replies.js';
import { assign, Icon, toggle } from '../shell/controls.js';
import { analysedPosition, currentState, hover, playMoves, searchMoves, toggleSearchMove } from './board-analysis.js';

type Column = 'n' | 'p' | 'q' | 'd' | 'm' | 'u' | 's' | 'v';

const COLUMNS: readonly { readonly key: Column; readonly title: string }[] = [
  { key: 'n', title: 'N: visits' },
  { key: 'p', title: 'P: prior, what the network thinks of the move before any search' },
  { key: 'q', title: 'Q: value, from −1 lost to +1 won, for the player to move' },
  { key: 'd', title: 'D: probability of a draw' },
  { key: 'm', title: 'M: plies to the end of the game' },
  { key: 'u', title: 'U: what exploration adds to Q' },
  { key: 's', title: 'S: Q + U, with which the search chooses' },
  { key: 'v', title: 'V: the network’s own value of the position after the move' },
];
/** As many as a usual screen shows without scrolling, and a tall one. */
const FEW_ROWS = matchMedia('(min-height: 1100px)').matches ? 30 : 12;

const sortColumn = signal<Column>('n');
const showsAll = signal(false);

export function MoveTable() {
  const state = currentState.value;
  if (state === null || state.moves.length === 0) {
    return <p class="faint panel-hint">Statistics of the moves appear when the engine analyses.</p>;
  }
  const { value: column } = sortColumn;
  const total = state.moves.reduce((sum, { n }) => sum + n, 0);
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
                <button type="button" class="sort" title={`${title}. Click to sort.`} onClick={assign(sortColumn, key)}>
                  {key.toUpperCase()}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <Row key={row.move} row={row} share={row.n / Math.max(1, total)} />
          ))}
        </tbody>
      </table>
      {sorted.length > FEW_ROWS && (
        <button type="button" class="text-button" onClick={() => toggle(showsAll)}>
          {showsAll.value ? 'Fewer moves' : `All ${sorted.length} moves`}
        </button>
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
        <button type="button" class="table-move" title={PROVEN[row.bound]} onClick={() => playMoves([row.move])}>
          {formatSan(position, move)}
          {row.bound === 'none' ? '' : '●'}
        </button>
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
        <span class="visits">{formatCount(row.n)}</span>
      </td>
      <td>{(100 * row.p).toFixed(1)}</td>
      <td>{row.n === 0 ? <span class="faint">{formatSigned(row.q, 3)}</span> : formatSigned(row.q, 3)}</td>
      <td>{row.d === null ? '–' : (100 * row.d).toFixed(0)}</td>
      <td>{row.m === null ? '–' : row.m.toFixed(0)}</td>
      <td>{row.u === null ? '–' : row.u.toFixed(3)}</td>
      <td>{row.s === null ? '–' : formatSigned(row.s, 3)}</td>
      <td>{row.v === null ? '–' : formatSigned(row.v, 3)}</td>
    </tr>
  );
}
