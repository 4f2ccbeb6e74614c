/** Analysis: the engine's switch, score and candidates beside the board of the study. */
import type { DrawShape } from '@lichess-org/chessground/draw';
import { computed } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { formatSan } from '../../../chess/rules/index.js';
import { createArrows, getArrow, requireMove } from '../../game/board-moves.js';
import { computeWhiteWdl, formatCount, getExpectedPoints } from '../../game/page-text.js';
import type { MoveRow } from '../../protocol/replies.js';
import { goToNextMistake, judged } from '../review/review-session.js';
import { later, toggle } from '../shell/controls.js';
import type { KeyBindings } from '../shell/keyboard.js';
import { storedSignal } from '../shell/stored.js';
import { study } from '../study/study.js';
import { StudyPanel } from '../study/study-panel.js';
import { drawPicture, SHADES } from './engine-arrows.js';
import { EngineHead, showsArrows, showsNumbers, toggleArrowMode } from './engine-head.js';
import { ExplainView, explainedSquares } from './explain-view.js';
import {
  analysedPosition,
  arrowMode,
  currentState,
  evaluation,
  hasCandidates,
  hover,
  hoveredMoves,
  isBlackToMove,
  isOn,
  isRoomy,
  isThreat,
  playBestMove,
  pointedLine,
  pointedSquare,
  startFollowing,
  toggleEngine,
  toggleThreat,
  verdict,
} from './live-analysis.js';

const showsGames = storedSignal('explorer.open', isRoomy);
const Candidates = later(async () => (await import('./candidates.js')).Candidates);
const ExplorerView = later(async () => (await import('./explorer-view.js')).ExplorerView);

/** Plies that are drawn of a line whose square is under the pointer. */
const DRAWN_PLIES = 4;
const HOVER_COLOR = '#3692e7';
const REPLY_COLOR = '#5a5a5a';
const THREAT_COLOR = '#a4241c';
const POLICY_COLOR = '#6b3fa0';

const shapes = computed<DrawShape[]>(() => {
  const position = analysedPosition.value;
  if (position === null) return [];
  const { moves = [], lines = [] } = currentState.value ?? {};
  const place = (uci: string) => {
    const [from, to] = getArrow(position, uci, study.tree.value.isChess960);
    return { from, to };
  };
  const pointed = pointedLine.value.slice(0, DRAWN_PLIES);
  const isPolicy = arrowMode.value === 'policy';
  const known = showsArrows.value && pointed.length === 0 ? createArrows(moves, lines, arrowMode.value) : [];
  const arrows = known.map(({ move, share, shade }) => ({
    ...place(move),
    color: isThreat.value ? THREAT_COLOR : isPolicy ? POLICY_COLOR : SHADES[shade],
    width: 5 + 16 * Math.sqrt(share),
    isDashed: isPolicy,
  }));
  const shown = pointed.length > 0 ? pointed : hoveredMoves.value.slice(0, 1);
  for (const [ply, uci] of shown.entries())
    arrows.push({ ...place(uci), color: ply % 2 === 0 ? HOVER_COLOR : REPLY_COLOR, width: 12, isDashed: false });
  const rows = showsNumbers.value ? moves.filter(({ visits }) => visits > 0).slice(0, MOST_NUMBERS) : [];
  const numbers = [
    ...rows.map((row) => ({ square: place(row.move).to, texts: describeRow(row) })),
    ...(showsNumbers.value ? [] : known).map(({ move, share }) => ({
      square: place(move).to,
      texts: ['', String(Math.round(100 * share))] as const,
    })),
  ];
  // Of moves to one square the first, which has the most visits.
  const corners = numbers.filter(
    ({ square }, index) => numbers.findIndex((other) => other.square === square) === index,
  );
  return drawPicture(
    arrows,
    corners.map((corner, index) => ({ ...corner, isBest: index === 0 })),
    study.orientation.value,
  );
});

const MOST_NUMBERS = 16;

/** White's expected points in percent, and visits. */
function describeRow({ q, draw, visits }: MoveRow): readonly [string, string] {
  const points = getExpectedPoints(computeWhiteWdl(q, draw ?? 0, isBlackToMove.value));
  return [String(Math.round(100 * points)), formatCount(visits)];
}

const KEYS: KeyBindings = {
  engine: toggleEngine,
  bestMove: playOrSwitchOn,
  numbers: () => toggle(showsNumbers),
  arrows: () => toggle(showsArrows),
  policy: toggleArrowMode,
  threat: toggleThreat,
  nextMistake: goToNextMistake,
  leave: () => hover([]),
};

export function AnalysePanel() {
  useEffect(startFollowing, []);
  useEffect(watchBoard, []);
  return (
    <StudyPanel
      keys={KEYS}
      evaluation={evaluation.value ?? judged.value}
      shapes={shapes.value}
      squareClasses={explainedSquares.value}
    >
      <div class="engine-panel">
        <EngineHead />
        {hasCandidates.value && <Candidates />}
        <TablebaseBox />
        <ExplainView />
        <details
          class="explorer-fold"
          open={showsGames.value}
          onToggle={({ currentTarget }) => {
            showsGames.value = currentTarget.open;
          }}
        >
          <summary class="faint">Games with this position</summary>
          {showsGames.value && <ExplorerView />}
        </details>
      </div>
    </StudyPanel>
  );
}

/** The square under the pointer shows the line of its candidate. @returns a function that ends it */
function watchBoard(): () => void {
  const watch = ({ target, clientX, clientY, buttons, pointerType }: PointerEvent): void => {
    const board = target instanceof Element ? target.closest('.board-area')?.querySelector('cg-board') : null;
    if (board === undefined || board === null || buttons !== 0 || pointerType === 'touch') {
      pointedSquare.value = '';
      return;
    }
    const { left, top, width } = board.getBoundingClientRect();
    const [column, row] = [clientX - left, clientY - top].map((at) => Math.floor((8 * at) / width));
    const isWhite = study.orientation.value === 'white';
    pointedSquare.value = `${'abcdefgh'[isWhite ? column : 7 - column] ?? ''}${isWhite ? 8 - row : row + 1}`;
  };
  document.addEventListener('pointermove', watch);
  return () => document.removeEventListener('pointermove', watch);
}

const RESULTS: Readonly<Record<string, string>> = {
  '2': 'win',
  '1': 'win, but for the fifty-move rule',
  '0': 'Draw',
  '-1': 'loss, but for the fifty-move rule',
  '-2': 'loss',
};

/** What tablebases say of the position, and of each of its moves. */
function TablebaseBox() {
  const known = verdict.value;
  if (known === null) return null;
  const position = study.position.value;
  const mover = known.wdl === 0 ? '' : study.turn.value === 'white' ? 'White: ' : 'Black: ';
  return (
    <details class="tablebase line-below" open>
      <summary>
        Tablebase: {mover}
        {RESULTS[known.wdl]}
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

function playOrSwitchOn(): void {
  if (isOn.value) playBestMove();
  else toggleEngine();
}
