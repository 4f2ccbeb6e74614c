/** What the search knows of a move, in a row: the same for candidates, other moves and replies. */
import { formatCount, formatPercent, formatWdl } from '../../game/page-text.js';
import type { Line } from '../../protocol/replies.js';

interface FactsProps {
  readonly visits: number;
  readonly share: number;
  readonly prior: number;
  /** Of White. */
  readonly wdl: Line['wdl'] | null;
}

/** "58 % · 712 k  P 31  W 36 D 37 L 27" */
export function Facts({ visits, share, prior, wdl }: FactsProps) {
  return (
    <span class="facts row wrap faint small">
      <span class="share" aria-hidden="true">
        <span class="share-part" style={{ width: `${100 * share}%` }} />
      </span>
      <span>
        {formatPercent(share)} · {formatCount(visits)}
      </span>
      <span title="Prior: what the network thinks of the move before any search, in percent">
        P {(100 * prior).toFixed(0)}
      </span>
      {wdl !== null && <span title="White wins, draws, Black wins, in percent">{formatWdl(wdl)}</span>}
    </span>
  );
}
