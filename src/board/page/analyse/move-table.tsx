/** Every legal move with lc0's columns, as VerboseMoveStats prints them, but from White's view. */
import { signal } from '@preact/signals';
import { formatSan } from '../../../chess/rules/index.js';
import { requireMove } from '../../game/board-moves.js';
import { formatCount, formatSigned } from '../../game/page-text.js';
import type { MoveRow } from '../../protocol/replies.js';
import { assign, Button } from '../shell/controls.js';
import { analysedPosition, currentState, hover, isBlackToMove, playMoves } from './live-analysis.js';

type Column = Exclude<keyof MoveRow, 'move' | 'bound'>;

/** How a column writes its numbers. */
type Format = 'count' | 'percent' | 'moves' | 'signed';

const COLUMNS: readonly { readonly key: Column; readonly title: string; readonly format: Format }[] = [
  { key: 'visits', title: 'N: visits', format: 'count' },
  { key: 'prior', title: 'P: prior, what the network thinks of the move before any search', format: 'percent' },
  { key: 'q', title: 'Q: value, from −1 Black wins to +1 White wins', format: 'signed' },
  { key: 'draw', title: 'D: probability of a draw', format: 'percent' },
  { key: 'movesLeft', title: 'M: moves to the end of the game', format: 'moves' },
  { key: 'u', title: 'U: what exploration adds to Q', format: 'signed' },
  { key: 's', title: 'S: Q + U, with which the search chooses', format: 'signed' },
  { key: 'v', title: 'V: the network’s own value of the position after the move', format: 'signed' },
];

const sortColumn = signal<Column>('visits');

export function MoveTable() {
  const position = analysedPosition.value;
  const { value: column } = sortColumn;
  if (position === null) return null;
  // The values are the mover's: the best for the mover comes first.
  const getNumber = (row: MoveRow): number => row[column] ?? Number.NEGATIVE_INFINITY;
  const rows = [...(currentState.value?.moves ?? [])].sort((a, b) => getNumber(b) - getNumber(a));
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
                  class="sort bare"
                  title={`${title}. Click to sort.`}
                  onClick={assign(sortColumn, key)}
                />
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.move} class="lit" onMouseEnter={() => hover([row.move])} onMouseLeave={() => hover([])}>
              <th scope="row">
                <Button
                  label={`${formatSan(position, requireMove(position, row.move))}${row.bound === 'none' ? '' : '●'}`}
                  class="table-move bare strong"
                  title={PROVEN[row.bound]}
                  onClick={() => playMoves([row.move])}
                />
              </th>
              {COLUMNS.map(({ key, format }) => (
                <td key={key} class={key === 'q' && row.visits === 0 ? 'faint' : ''}>
                  {formatCell(row[key], format)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

const PROVEN: Readonly<Record<MoveRow['bound'], string>> = {
  none: '',
  exact: 'proven',
  drawOrWin: 'proven: at least a draw',
  lossOrDraw: 'proven: at most a draw',
};

/** Three digits where the network is that exact. */
function formatCell(value: number | null, format: Format): string {
  if (value === null) return '–';
  if (format === 'count') return formatCount(value);
  if (format === 'moves') return value.toFixed(1);
  if (format === 'percent') return (100 * value).toFixed(1);
  return formatSigned(isBlackToMove.value ? -value : value, 3).replace(/^(.)0/, '$1');
}
