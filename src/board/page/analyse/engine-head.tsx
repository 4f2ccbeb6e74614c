/** The head of the analysis: switch, score, and how far and how fast the search is. */
import { formatCount } from '../../game/value-text.js';
import { engine, obstacle } from '../port/engine-state.js';
import { transfer } from '../port/send-file.js';
import { currentState, endReason, evaluation, isOn, multiPv, outcome, toggleEngine } from './board-analysis.js';

const OUTCOMES: Readonly<Record<string, string>> = {
  checkmate: 'Checkmate',
  stalemate: 'Stalemate',
  'insufficient-material': 'Draw: too little material to mate',
  'fifty-moves': 'Draw: fifty moves without capture or pawn move',
  threefold: 'Draw: the position occurred three times',
};
const MOST_LINES = 10;

export function EngineHead() {
  const state = currentState.value;
  return (
    <div class="engine-head">
      <label class="switch" title="Engine on or off (l)">
        <input type="checkbox" checked={isOn.value} onChange={toggleEngine} aria-label="Engine" />
        <span class="switch-track" />
      </label>
      <output class="engine-score" aria-label="Evaluation">
        {evaluation.value?.text ?? (isOn.value && outcome.value === 'ongoing' ? '…' : '–')}
      </output>
      <div class="engine-facts">
        <div class="engine-name" title={engine.value?.running ?? ''}>
          {describeNetwork()}
        </div>
        <div class="engine-speed">{describeSpeed()}</div>
      </div>
      <label class="line-count" title="Lines that the engine shows (MultiPV)">
        <span class="visually-hidden">Number of lines</span>
        <input
          type="number"
          min={1}
          max={MOST_LINES}
          value={multiPv.value}
          onChange={({ currentTarget }) => {
            const count = Math.round(Number(currentTarget.value));
            multiPv.value = Math.min(MOST_LINES, Math.max(1, count || 1));
            currentTarget.value = String(multiPv.value);
          }}
        />
        lines
      </label>
    </div>
  );

  function describeNetwork(): string {
    if (obstacle.value !== '') return 'No engine';
    return engine.value?.running ?? (engine.value?.problem || (transfer.value?.text ?? 'Loading the network …'));
  }

  function describeSpeed(): string {
    if (outcome.value !== 'ongoing') return OUTCOMES[outcome.value] ?? '';
    if (obstacle.value !== '') return 'The board works without it';
    if (!isOn.value) return endReason.value === '' ? 'Switch the engine on to analyse' : endReason.value;
    if (state === null) return 'Starting …';
    const speed = state.nps === null ? '' : ` · ${formatCount(state.nps)}/s`;
    const hits = state.tbHits > 0 ? ` · ${formatCount(state.tbHits)} tablebase hits` : '';
    return `Depth ${state.depth}/${state.seldepth} · ${formatCount(state.nodes)} nodes${speed}${hits}`;
  }
}
