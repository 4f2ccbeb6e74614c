/** A bar beside the board: White's wins, draws and Black's wins. White's end is on White's side of the board. */
import type { Side } from './chess-board.js';

interface EvalBarProps {
  /** Per mille for White; null while nobody knows. */
  readonly wdl: readonly [win: number, draw: number, loss: number] | null;
  /** As it is written; '' for nothing. */
  readonly score: string;
  readonly orientation: Side;
}

/** The bar has room for "1.2" and "#12"; its colours say whose advantage it is. */
function shorten(score: string): string {
  return score.replace(/^[+−]?(\d+\.\d)\d*$/, '$1');
}

export function EvalBar({ wdl, score, orientation }: EvalBarProps) {
  const [win, draw, loss] = wdl ?? [0, 1000, 0];
  const label =
    wdl === null
      ? 'No evaluation'
      : `Evaluation ${score}: White wins ${win / 10} percent, draws ${draw / 10}, Black wins ${loss / 10}`;
  return (
    <div
      class={`eval-bar ${orientation === 'black' ? 'eval-bar-flipped' : ''} ${wdl === null ? 'eval-bar-empty' : ''}`}
      role="img"
      aria-label={label}
      title={label}
    >
      <div class="eval-part eval-black" style={{ flexGrow: loss }} />
      <div class="eval-part eval-draw" style={{ flexGrow: draw }} />
      <div class="eval-part eval-white" style={{ flexGrow: win }} />
      {score !== '' && (
        <span class={`eval-score ${win >= loss ? 'eval-score-white' : 'eval-score-black'}`}>{shorten(score)}</span>
      )}
    </div>
  );
}
