/** Analysis: the engine's switch, lines and statistics beside the board, the moves of the game below them. */
import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Key } from '@lichess-org/chessground/types';
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatSan } from '../../../chess/rules/index.js';
import { createArrows, requireMove } from '../../game/board-moves.js';
import { formatCount, formatPercent } from '../../game/page-text.js';
import type { MoveRow, SearchState } from '../../protocol/replies.js';
import { point } from '../board/chess-board.js';
import { LineChart } from '../chart/line-chart.js';
import { engine, obstacle, portState, transfer } from '../port/engine-port.js';
import { assign, Button, CheckField, later, toggle } from '../shell/controls.js';
import { type KeyBindings, moveInRow } from '../shell/keyboard.js';
import { isBoolean, isOneOf, storedSignal } from '../shell/stored.js';
import { study } from '../study/study.js';
import { GamePart, StudyPanel } from '../study/study-panel.js';
import { LineList, LinePreview, MoveTable } from './engine-moves.js';
import { ExplainView, explainedSquares } from './explain-view.js';
import {
  analysedPosition,
  arrowMode,
  currentState,
  endReason,
  evaluation,
  hoveredMoves,
  isOn,
  isThreat,
  multiPv,
  nodeLimit,
  outcome,
  playBestMove,
  previewFen,
  searchMoves,
  secondLimit,
  startFollowing,
  toggleEngine,
  toggleSearchMove,
  valueHistory,
  verdict,
} from './live-analysis.js';
import { TreeOutline } from './tree-outline.js';

const TABS = { moves: 'Moves', games: 'Games', graph: 'Graph', tree: 'Tree', explain: 'Explain' } as const;
type Tab = keyof typeof TABS;

const tab = storedSignal<Tab>('analyseTab', 'moves', isOneOf('moves', 'games', 'graph', 'tree', 'explain'));
const showsArrows = storedSignal('arrows', true, isBoolean);
/** On the square of each candidate: the mover's expected points in percent, and visits. */
const showsNumbers = storedSignal('numbers', false, isBoolean);
const showsSettings = signal(false);
const NO_CLASSES: ReadonlyMap<string, string> = new Map();
/** What Explain paints, while it is shown. */
const ExplorerView = later(async () => (await import('./explorer-view.js')).ExplorerView);

const squareClasses = computed(() => (tab.value === 'explain' ? explainedSquares.value : NO_CLASSES));

const shapes = computed<DrawShape[]>(() => {
  const position = analysedPosition.value;
  if (position === null) return [];
  const pointTo = (uci: string) => point(position, uci, study.isChess960.value);
  const [hovered] = hoveredMoves.value;
  const state = currentState.value;
  const arrows = state === null || !showsArrows.value ? [] : createArrows(state.moves, state.lines, arrowMode.value);
  const numbers: DrawShape[] = state === null || !showsNumbers.value ? [] : drawNumbers(state, pointTo);
  const drawn: DrawShape[] = arrows.map(({ move, share, width, shade }) => ({
    ...pointTo(move),
    brush: isThreat.value ? 'paleRed' : `move${shade}`,
    modifiers: { lineWidth: width },
    ...(showsNumbers.value ? {} : { label: { text: formatPercent(share).replace(' %', '') } }),
  }));
  // The thickest arrow comes last, so that it lies on top.
  drawn.reverse();
  if (hovered !== undefined) drawn.push({ ...pointTo(hovered), brush: 'hover' });
  return [...drawn, ...numbers];
});

const MOST_NUMBERS = 16;

/** Of moves to one square the one with the most visits. */
function drawNumbers({ moves }: SearchState, pointTo: (uci: string) => { dest: Key }): DrawShape[] {
  const bySquare = new Map<Key, MoveRow>();
  for (const row of moves.slice(0, MOST_NUMBERS)) {
    const { dest } = pointTo(row.move);
    if (row.visits > 0 && !bySquare.has(dest)) bySquare.set(dest, row);
  }
  return [...bySquare].map(([orig, { q, visits }], index) => ({
    orig,
    customSvg: {
      html: `<g class="square-numbers${index === 0 ? ' square-numbers-best' : ''}"><rect x="14" y="26" width="72" height="50" rx="10"/><text x="50" y="50">${Math.round(50 * (q + 1))}</text><text x="50" y="70">${formatCount(visits)}</text></g>`,
    },
  }));
}

const KEYS: KeyBindings = {
  engine: toggleEngine,
  bestMove: playOrSwitchOn,
  numbers: () => toggle(showsNumbers),
  arrows: () => toggle(showsArrows),
  policy: toggleArrowMode,
  threat: () => toggle(isThreat),
};

export function AnalysePanel() {
  useEffect(startFollowing, []);
  return (
    <StudyPanel
      name="Analyse"
      keys={KEYS}
      evaluation={evaluation.value}
      shapes={shapes.value}
      squareClasses={squareClasses.value}
      game={<GamePart />}
    >
      <EngineHead />
      {showsSettings.value && <SearchSettings />}
      <LineList />
      <TablebaseBox />
      <Tabs />
      <div class="tab-body" role="tabpanel" id="analyse-tab" aria-label={TABS[tab.value]}>
        {tab.value === 'moves' && <MoveTable />}
        {tab.value === 'games' && <ExplorerView />}
        {tab.value === 'graph' && <ValueGraph />}
        {tab.value === 'tree' && <TreeOutline />}
        {tab.value === 'explain' && <ExplainView />}
      </div>
      {isOn.value && previewFen.value !== null && <LinePreview fen={previewFen.value} />}
    </StudyPanel>
  );
}

const OUTCOMES: Readonly<Record<string, string>> = {
  checkmate: 'Checkmate',
  stalemate: 'Stalemate',
  'insufficient-material': 'Draw: too little material to mate',
  'fifty-moves': 'Draw: fifty moves without capture or pawn move',
  threefold: 'Draw: the position occurred three times',
};
const MOST_LINES = 10;

/** Switch, score, and how far and how fast the search is. */
function EngineHead() {
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
        <input
          aria-label="Number of lines"
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
        <span>lines</span>
      </label>
      <Button
        label="⋯"
        class="icon-button"
        aria-label="Limits, threats, arrows, numbers"
        title="Limits, threats, arrows, numbers"
        aria-expanded={showsSettings.value}
        onClick={() => toggle(showsSettings)}
      />
    </div>
  );

  function describeNetwork(): string {
    if (obstacle.value !== '') return 'No engine';
    return engine.value?.running ?? (engine.value?.problem || (transfer.value?.text ?? 'Loading the network …'));
  }

  function describeSpeed(): string {
    if (outcome.value !== 'ongoing') return OUTCOMES[outcome.value] ?? '';
    if (obstacle.value !== '') return 'The board works without it';
    if (portState.value === 'lost') return 'No connection: trying again …';
    if (!isOn.value) return endReason.value === '' ? 'Switch the engine on to analyse' : endReason.value;
    if (analysedPosition.value === null) return 'There are no threats here: a king is in check';
    if (state === null) return endReason.value === '' ? 'Starting …' : endReason.value;
    const speed = state.nodesPerSecond === null ? '' : ` · ${formatCount(state.nodesPerSecond)}/s`;
    const hits = state.tablebaseHits > 0 ? ` · ${formatCount(state.tablebaseHits)} tablebase hits` : '';
    const restricted = searchMoves.value.length === 0 ? '' : ` · ${searchMoves.value.length} moves only`;
    const end = endReason.value === '' ? '' : ` · ${endReason.value}`;
    return `Depth ${state.depth}/${state.seldepth} · ${formatCount(state.nodes)} nodes${speed}${hits}${restricted}${end}`;
  }
}

/** When the search ends, for whom it searches, and what of it the board shows. */
function SearchSettings() {
  const renderLimit = (label: string, state: { value: number }) => (
    <label class="field-inline">
      {label}{' '}
      <input
        type="number"
        min={0}
        placeholder="none"
        value={state.value === 0 ? '' : state.value}
        onChange={({ currentTarget }) => {
          state.value = Math.max(0, Number(currentTarget.value) || 0);
        }}
      />
    </label>
  );
  return (
    <div class="button-row search-settings">
      {renderLimit('Stop after nodes', nodeLimit)}
      {renderLimit('or seconds', secondLimit)}
      <CheckField label="Threats" state={isThreat} title="What the opponent would play if it were their turn (x)" />
      <label class="check" title="Arrows show the network’s first thought instead of the search (o)">
        <input type="checkbox" checked={arrowMode.value === 'policy'} onChange={toggleArrowMode} />
        Policy
      </label>
      <CheckField
        label="Numbers"
        state={showsNumbers}
        title="On each candidate’s square: expected points in percent, and visits (s)"
      />
    </div>
  );
}

const RESULTS: Readonly<Record<string, string>> = {
  '2': 'Win',
  '1': 'Win, but for the fifty-move rule',
  '0': 'Draw',
  '-1': 'Loss, but for the fifty-move rule',
  '-2': 'Loss',
};

/** What tablebases say of the position, and of each of its moves. */
function TablebaseBox() {
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

function Tabs() {
  const names = Object.keys(TABS) as Tab[];
  return (
    <div class="tabs">
      <div role="tablist" aria-label="About the position" class="tab-row" data-keys onKeyDown={moveInRow}>
        {names.map((name) => (
          <Button
            key={name}
            label={TABS[name]}
            role="tab"
            aria-selected={tab.value === name}
            aria-controls="analyse-tab"
            tabIndex={tab.value === name ? 0 : -1}
            onFocus={assign(tab, name)}
            onClick={assign(tab, name)}
          />
        ))}
      </div>
      <span class="spacer" />
      {searchMoves.value.length > 0 && (
        <Button
          label="All moves again"
          class="text-button"
          onClick={() => searchMoves.value.forEach(toggleSearchMove)}
        />
      )}
      <CheckField label="Arrows" state={showsArrows} title="Arrows on the board (a)" />
    </div>
  );
}

const GRAPH_HEIGHT = 190;
const FEWEST_NODES = 10;

/** How White's expected points moved during this search. */
function ValueGraph() {
  // The first few nodes say little and jump about.
  const points = valueHistory.value.filter(({ nodes }) => nodes >= FEWEST_NODES);
  if (points.length === 0) return <p class="faint panel-hint">The graph appears when the engine analyses.</p>;
  return (
    <LineChart
      label="White’s expected points during the search"
      xLabel="Seconds"
      x={points.map(({ timeMs }) => timeMs / 1000)}
      series={[{ label: 'White', color: '--accent', values: points.map((point) => 100 * point.points), fill: true }]}
      height={GRAPH_HEIGHT}
      range={[0, 100]}
      formatX={(seconds) => `${seconds} s`}
      formatY={(points) => `${Math.round(points)} %`}
    />
  );
}

function toggleArrowMode(): void {
  arrowMode.value = arrowMode.value === 'visits' ? 'policy' : 'visits';
}

function playOrSwitchOn(): void {
  if (isOn.value) playBestMove();
  else toggleEngine();
}
