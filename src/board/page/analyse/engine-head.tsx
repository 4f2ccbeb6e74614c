/** The engine's switch, score and state above its candidates, and the settings that ⚙ shows. */
import { signal } from '@preact/signals';
import { formatCount, formatWdl } from '../../game/page-text.js';
import { describeLoss, engine, obstacle, port, portState, transfer, useNetwork } from '../port/engine-port.js';
import { Button, CheckField, Icon, Select, toggle, useLateText } from '../shell/controls.js';
import { storedSignal } from '../shell/stored.js';
import { askForExplanation } from './explain-view.js';
import {
  analysedPosition,
  arrowMode,
  currentState,
  elsewhere,
  endReason,
  evaluation,
  isOn,
  isSilent,
  isThreat,
  multiPv,
  nodeLimit,
  outcome,
  SILENCE_MS,
  searchMoves,
  secondLimit,
  takeOver,
  toggleEngine,
  toggleThreat,
} from './live-analysis.js';

export const showsArrows = storedSignal('arrows', true);
/** On the square of each candidate: White's expected points in percent, and visits. */
export const showsNumbers = storedSignal('numbers', false);
const showsSettings = signal(false);

const SILENT = `The engine has said nothing for ${SILENCE_MS / 1000} s`;
const OUTCOMES: Readonly<Record<string, string>> = {
  checkmate: 'Checkmate',
  stalemate: 'Stalemate',
  'insufficient-material': 'Draw: too little material to mate',
  'fifty-moves': 'Draw: fifty moves without capture or pawn move',
  threefold: 'Draw: the position occurred three times',
};

export function EngineHead() {
  const known = evaluation.value;
  const threat = isThreat.value;
  const none = isOn.value && outcome.value === 'ongoing' ? '…' : '–';
  return (
    <>
      <div class={threat ? 'engine-head row raised line-below engine-threat' : 'engine-head row raised line-below'}>
        <label class="switch" title="Engine on or off (l)">
          <input type="checkbox" checked={isOn.value} onChange={toggleEngine} aria-label="Engine" />
          <span class="switch-track" />
        </label>
        <output class="engine-score" aria-label="Evaluation">
          {known?.text ?? none}
        </output>
        <div class="engine-wdl fill faint small" title="White wins, draws, Black wins, in percent">
          {known !== null && (
            <>
              <span class="wdl-bar" aria-hidden="true">
                <i class="eval-white" style={{ flexGrow: known.wdl.win }} />
                <i class="eval-draw" style={{ flexGrow: known.wdl.draw }} />
                <i class="eval-black" style={{ flexGrow: known.wdl.loss }} />
              </span>
              {known.winner === '' ? '' : `${known.winner} · `}
              {formatWdl(known.wdl)}
            </>
          )}
        </div>
        <Button
          label={<Icon name="target" />}
          class="icon-button"
          aria-label="Threats"
          title="What the opponent would play if it were their turn (x)"
          aria-pressed={threat}
          onClick={toggleThreat}
        />
        <Button
          label={<Icon name="gear" />}
          class="icon-button"
          aria-label="Lines, limits, arrows, numbers"
          title="Lines, limits, arrows, numbers"
          aria-expanded={showsSettings.value}
          onClick={() => toggle(showsSettings)}
        />
      </div>
      <EngineState />
      {showsSettings.value && <SearchSettings />}
    </>
  );
}

/** Which network searches how fast and deep, or why none does. */
function EngineState() {
  const { networks = [], network = null, running = null } = engine.value ?? {};
  const choices = networks.map(({ name, description }) => [name, `${name}: ${description}`] as const);
  return (
    <div class="engine-state row wrap faint small line-below">
      {isThreat.value ? (
        <strong class="engine-name cut">Threat</strong>
      ) : (
        <div class="engine-network" title={running ?? ''}>
          <span class="engine-name cut">{describeNetwork()}</span>
          {choices.length > 1 && (
            <Select
              aria-label="Network"
              value={network ?? ''}
              choices={network === null ? [['', running ?? ''], ...choices] : choices}
              onSelect={(name) => name !== '' && useNetwork(name)}
            />
          )}
        </div>
      )}
      <span class="engine-speed cut">{describeState()}</span>
      {isOn.value && isSilent.value && <Button label="Ask again" onClick={() => port.reconnect()} />}
      {isOn.value && elsewhere.value !== null && <Button label="Take over" onClick={takeOver} />}
    </div>
  );

  function describeNetwork(): string {
    if (obstacle.value !== '') return 'No engine';
    return running ?? (engine.value?.problem || (transfer.value?.text ?? 'Loading the network …'));
  }
}

function describeState(): string {
  const state = currentState.value;
  const end = endReason.value;
  if (outcome.value !== 'ongoing') return OUTCOMES[outcome.value] ?? '';
  if (obstacle.value !== '') return 'The board works without it';
  if (portState.value === 'lost') return describeLoss();
  if (!isOn.value) return end === '' ? 'Switch the engine on to analyse' : end;
  if (analysedPosition.value === null) return 'There are no threats here: a king is in check';
  if (elsewhere.value === '') return 'No other tab has the engine any more';
  if (elsewhere.value !== null) return `Another tab has the engine: ${elsewhere.value}`;
  if (state === null) return end === '' ? (isSilent.value ? SILENT : 'Starting …') : end;
  const { nodes, nodesPerSecond, depth, seldepth, tablebaseHits } = state;
  return [
    end,
    `${formatCount(nodes)} visits`,
    nodesPerSecond === null || end !== '' ? '' : `${formatCount(nodesPerSecond)}/s`,
    `depth ${depth}/${seldepth}`,
    tablebaseHits === 0 ? '' : `${formatCount(tablebaseHits)} tablebase hits`,
    searchMoves.value.length === 0 ? '' : `chosen moves: ${searchMoves.value.length}`,
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

const MOST_LINES = 10;
const MOST_LIMIT = 1e12;

/** How much is searched, and what of it the board shows. Nothing here follows the search, so that nothing moves while one types. */
function SearchSettings() {
  return (
    <div class="search-settings line-below">
      <WholeField label="Number of lines" state={multiPv} least={1} most={MOST_LINES} />
      <WholeField label="Stop after visits" state={nodeLimit} least={0} most={MOST_LIMIT} />
      <WholeField label="Stop after seconds" state={secondLimit} least={0} most={MOST_LIMIT} />
      <CheckField label="Arrows" state={showsArrows} title="Arrows on the board (a)" />
      <label class="check" title="Dashed arrows show the network’s first thought instead of the search (o)">
        <input type="checkbox" checked={arrowMode.value === 'policy'} onChange={toggleArrowMode} />
        Policy
      </label>
      <CheckField
        label="Numbers"
        state={showsNumbers}
        title="On each candidate’s square: White’s expected points in percent, and visits (s)"
      />
      <Button
        label="Explain the network’s favourite"
        class="text-button bare"
        onClick={() => askForExplanation(null)}
      />
    </div>
  );
}

interface WholeFieldProps {
  readonly label: string;
  readonly state: { value: number };
  /** 0 = an empty field. */
  readonly least: number;
  readonly most: number;
}

function WholeField({ label, state, least, most }: WholeFieldProps) {
  const text = useLateText(state.value === 0 ? '' : String(state.value), (typed) => {
    state.value = Math.min(most, Math.max(least, Math.round(Number(typed)) || least));
  });
  return (
    <label class="field-inline row">
      {label}
      <input type="number" min={least} max={most} placeholder="none" {...text} />
    </label>
  );
}

export function toggleArrowMode(): void {
  arrowMode.value = arrowMode.value === 'visits' ? 'policy' : 'visits';
}
