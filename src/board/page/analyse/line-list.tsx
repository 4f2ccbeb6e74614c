/** The engine's lines: pointing at a move shows its position, a click plays the line up to there. */
import { describeLine } from '../../game/board-moves.js';
import { formatScore } from '../../game/value-text.js';
import type { Line } from '../../protocol/replies.js';
import { study } from '../study/study.js';
import { currentState, isBlackToMove, isOn, multiPv, outcome } from './board-analysis.js';
import { hover, playMoves } from './hovered-line.js';

const SHOWN_MOVES = 24;

export function LineList() {
  const lines = currentState.value?.lines ?? [];
  if (outcome.value !== 'ongoing' || !isOn.value) return null;
  const rows = Array.from({ length: multiPv.value }, (_, index) => lines[index]);
  return (
    <ol class="lines" aria-label="Lines" onMouseLeave={() => hover([])}>
      {rows.map((line, index) => (
        <li key={index} class="line">
          {line === undefined || line.pv.length === 0 ? <span class="faint">…</span> : <LineRow line={line} />}
        </li>
      ))}
    </ol>
  );
}

function LineRow({ line }: { readonly line: Line }) {
  const moves = describeLine(study.position.value, line.pv.slice(0, SHOWN_MOVES));
  const isBlack = isBlackToMove.value;
  const score = formatScore(line.score, isBlack);
  const isForWhite = !score.startsWith('−') && !score.startsWith('#−');
  return (
    <>
      <button
        type="button"
        class={`line-score ${isForWhite ? 'line-score-white' : 'line-score-black'}`}
        title="Play the first move"
        onClick={() => playMoves(line.pv.slice(0, 1))}
      >
        {score}
      </button>
      <span class="line-moves">
        {moves.map(({ uci, san, number }, index) => (
          <button
            key={`${index}${uci}`}
            type="button"
            class="line-move"
            onClick={() => playMoves(line.pv.slice(0, index + 1))}
            onMouseEnter={() => hover(line.pv.slice(0, index + 1))}
            onFocus={() => hover(line.pv.slice(0, index + 1))}
            onBlur={() => hover([])}
          >
            {number !== '' && <span class="line-number">{number}</span>}
            {san}
          </button>
        ))}
      </span>
    </>
  );
}
