/** Analysis: board on the left, engine and moves on the right. */
import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Key } from '@lichess-org/chessground/types';
import { computed } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { createArrows } from '../../game/arrows.js';
import { getArrow } from '../../game/board-moves.js';
import { formatPercent } from '../../game/value-text.js';
import type { KeyBinding } from '../shell/keyboard.js';
import { isOneOf, storedSignal } from '../shell/stored.js';
import { MoveList } from '../study/move-list.js';
import { showsArrows, study } from '../study/study.js';
import { StudyPanel } from '../study/study-panel.js';
import { AnnotationBar } from './annotation-bar.js';
import {
  arrowMode,
  currentState,
  evaluation,
  isOn,
  playBestMove,
  startFollowing,
  toggleEngine,
} from './board-analysis.js';
import { EngineHead } from './engine-head.js';
import { ExplainView, explainedSquares } from './explain-view.js';
import { hoveredMoves, previewFen } from './hovered-line.js';
import { LineList } from './line-list.js';
import { MoveTable } from './move-table.js';
import { TablebaseBox } from './tablebase-box.js';
import { TreeOutline } from './tree-outline.js';
import { ValueGraph } from './value-graph.js';

const TABS = { moves: 'Moves', graph: 'Graph', tree: 'Tree', explain: 'Explain' } as const;
type Tab = keyof typeof TABS;

const tab = storedSignal<Tab>('analyseTab', 'moves', isOneOf('moves', 'graph', 'tree', 'explain'));
const NO_CLASSES: ReadonlyMap<string, string> = new Map();
/** What Explain paints, while it is shown. */
const squareClasses = computed(() => (tab.value === 'explain' ? explainedSquares.value : NO_CLASSES));

const THINNEST = 3;
const THICKEST = 14;

const shapes = computed<DrawShape[]>(() => {
  const position = study.position.value;
  const isChess960 = study.isChess960.value;
  const point = (uci: string): { orig: Key; dest: Key } => {
    const [orig, dest] = getArrow(position, uci, isChess960);
    return { orig: orig as Key, dest: dest as Key };
  };
  const [hovered] = hoveredMoves.value;
  const state = currentState.value;
  const arrows = state === null || !showsArrows.value ? [] : createArrows(state.moves, state.lines, arrowMode.value);
  const drawn = arrows.map(({ move, share, shade }) => ({
    ...point(move),
    brush: `move${shade}`,
    modifiers: { lineWidth: THINNEST + (THICKEST - THINNEST) * Math.sqrt(share) },
    label: { text: formatPercent(share).replace(' %', '') },
  }));
  // The thickest arrow comes last, so that it lies on top.
  drawn.reverse();
  return hovered === undefined ? drawn : [...drawn, { ...point(hovered), brush: 'hover' }];
});

const KEYS: readonly KeyBinding[] = [
  { keys: ['l'], help: 'Engine on or off', run: toggleEngine },
  { keys: [' '], help: 'Play the engine’s best move; without the engine: switch it on', run: playOrSwitchOn },
  { keys: ['a'], help: 'Arrows on or off', run: toggleArrows },
  { keys: ['o'], help: 'Arrows of the search or of the policy', run: toggleArrowMode },
];

export function AnalysePanel() {
  useEffect(startFollowing, []);
  return (
    <StudyPanel
      label="Analyse"
      keys={KEYS}
      evaluation={evaluation.value}
      shapes={shapes.value}
      squareClasses={squareClasses.value}
      previewFen={previewFen.value}
    >
      <EngineHead />
      <LineList />
      <TablebaseBox />
      <Tabs />
      <div class="tab-body" role="tabpanel" id="analyse-tab" aria-label={TABS[tab.value]}>
        {tab.value === 'moves' && <MoveTable />}
        {tab.value === 'graph' && <ValueGraph />}
        {tab.value === 'tree' && <TreeOutline />}
        {tab.value === 'explain' && <ExplainView />}
      </div>
      <MoveList study={study} />
      <AnnotationBar />
    </StudyPanel>
  );
}

function Tabs() {
  return (
    <div class="tabs">
      <div role="tablist" aria-label="About the position" class="tab-row">
        {(Object.keys(TABS) as Tab[]).map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            aria-selected={tab.value === name}
            aria-controls="analyse-tab"
            onClick={() => {
              tab.value = name;
            }}
          >
            {TABS[name]}
          </button>
        ))}
      </div>
      <span class="spacer" />
      <label class="check" title="Arrows show the network’s first thought instead of the search (o)">
        <input type="checkbox" checked={arrowMode.value === 'policy'} onChange={toggleArrowMode} />
        Policy
      </label>
      <label class="check" title="Arrows on the board (a)">
        <input type="checkbox" checked={showsArrows.value} onChange={toggleArrows} />
        Arrows
      </label>
    </div>
  );
}

function toggleArrows(): void {
  showsArrows.value = !showsArrows.value;
}

function toggleArrowMode(): void {
  arrowMode.value = arrowMode.value === 'visits' ? 'policy' : 'visits';
}

function playOrSwitchOn(): void {
  if (isOn.value) playBestMove();
  else toggleEngine();
}
