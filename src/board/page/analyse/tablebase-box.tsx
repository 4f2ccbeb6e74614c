/** What tablebases say of the position, and of each of its moves. */
import { formatSan } from '../../../chess/index.js';
import { requireMove } from '../../game/board-moves.js';
import { study } from '../study/study.js';
import { verdict } from './board-analysis.js';

const RESULTS: Readonly<Record<string, string>> = {
  '2': 'Win',
  '1': 'Win, but for the fifty-move rule',
  '0': 'Draw',
  '-1': 'Loss, but for the fifty-move rule',
  '-2': 'Loss',
};

export function TablebaseBox() {
  const known = verdict.value;
  if (known === null) return null;
  const position = study.position.value;
  return (
    <details class="tablebase" open>
      <summary>
        Tablebase: {RESULTS[known.wdl]}
        {known.dtz !== null && known.wdl !== 0 && ` · DTZ ${Math.abs(known.dtz)}`}
      </summary>
      <ul>
        {known.moves.map(({ move, wdl, dtz }) => {
          const legal = requireMove(position, move);
          return (
            <li key={move}>
              <button
                type="button"
                class={`tablebase-move tablebase-${Math.sign(wdl)}`}
                onClick={() => study.play(legal)}
              >
                {formatSan(position, legal)} <small>{dtz === null || wdl === 0 ? '' : Math.abs(dtz)}</small>
              </button>
            </li>
          );
        })}
      </ul>
    </details>
  );
}
