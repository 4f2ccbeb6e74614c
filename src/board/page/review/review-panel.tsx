/** Review of a game: the evaluation as a graph that one can click, accuracy and bad moves of both players, better lines. */
import { computed } from '@preact/signals';
import { describeJudgement, type GameReview, type PlayerSummary } from '../../game/game-review.js';
import { getWhitePoints, isBlacksTurn } from '../../game/page-text.js';
import { type ChartDot, LineChart } from '../chart/line-chart.js';
import { Button, CheckField, Select, SummaryTable } from '../shell/controls.js';
import type { KeyBindings } from '../shell/keyboard.js';
import { chapters, pendingReview } from '../study/library.js';
import { players } from '../study/players.js';
import { study } from '../study/study.js';
import { GamePart, openLoadDialog, StudyPanel } from '../study/study-panel.js';
import { isLearning, learn, listMistakes, MistakesPanel } from './mistakes.js';
import {
  discardReview,
  isShown,
  nodes,
  pauseReview,
  progress,
  review,
  reviewAll,
  startReview,
  stopReview,
  waitsFor,
  writeReview,
} from './review-session.js';

const GRAPH_HEIGHT = 150;
const DEPTHS = [
  [100, 'Quick'],
  [400, 'Normal'],
  [2000, 'Thorough'],
  [10_000, 'Deep'],
] as const;

const evaluation = computed(() => {
  void review.value;
  const { judgement, fen } = study.node.value;
  if (judgement === null) return null;
  const white = Math.round(1000 * getWhitePoints(judgement, isBlacksTurn(fen)));
  return { text: describeJudgement(study.node.value), wdl: { win: white, draw: 0, loss: 1000 - white } };
});

const KEYS: KeyBindings = { nextMistake: goToNextBadMove };

export function ReviewPanel() {
  if (isLearning.value) return <MistakesPanel players={players.value} />;
  return (
    <StudyPanel name="Review" keys={KEYS} evaluation={evaluation.value} game={<GamePart />}>
      <Head />
      <Graph />
      <Summary />
      <Export />
    </StudyPanel>
  );
}

function Head() {
  void study.version.value;
  const { headers, root } = study.tree.value;
  const names = [headers.get('White') ?? '?', headers.get('Black') ?? '?'].join(' – ');
  const isEmpty = root.children.length === 0;
  return (
    <div class="review-head">
      <h2>{names === '? – ?' ? 'The game on the board' : names}</h2>
      {pendingReview.value === null ? (
        <div class="button-row">
          <Button label="Review" class={isEmpty ? '' : 'primary'} disabled={isEmpty} onClick={() => startReview()} />
          {chapters.value.length > 1 && <Button label="Review all" onClick={reviewAll} />}
          <Select
            aria-label="How thoroughly"
            value={nodes.value}
            choices={DEPTHS.map(([count, name]) => [count, `${name}: ${count} nodes a move`])}
            onSelect={(count) => {
              nodes.value = Number(count);
            }}
          />
          <Button label="Load a game" class={isEmpty ? 'primary' : ''} onClick={openLoadDialog} />
        </div>
      ) : (
        <Progress />
      )}
      {review.value !== null && (
        <div class="button-row">
          <CheckField label="Show in the moves" state={isShown} />
          <Button label="Next mistake" title="To the next bad move (n)" onClick={goToNextBadMove} />
          <Button
            label="Write into the game"
            title="Evaluations, glyphs, words and better lines become part of the game"
            onClick={writeReview}
          />
          <Button label="Discard" title="Takes the review away; the game stays as it is" onClick={discardReview} />
        </div>
      )}
    </div>
  );
}

/** How far the review is, and why it does not go on. */
function Progress() {
  const { games, isPaused } = pendingReview.value ?? { games: [], isPaused: false };
  const [done, total] = progress.value;
  return (
    <div class="button-row">
      <progress max={total} value={done} aria-label="Positions reviewed" />
      <span role="status">
        {done} of {total}
        {games.length > 1 && `, ${games.length} games left`}
        {waitsFor.value !== '' && `. ${waitsFor.value}`}
      </span>
      <Button label={isPaused ? 'Go on' : 'Pause'} onClick={pauseReview} />
      <Button label="Stop" title="What has been found so far stays" onClick={stopReview} />
    </div>
  );
}

function Graph() {
  const known = review.value;
  if (known === null) return null;
  const points = known.whitePoints;
  return (
    <LineChart
      label="White’s expected points after each move"
      xLabel="Move"
      x={known.nodes.map(({ depth }) => depth / 2)}
      series={[
        {
          label: 'White',
          color: '--accent',
          values: points.map((value) => (value === null ? null : 100 * value)),
          fill: true,
        },
      ]}
      height={GRAPH_HEIGHT}
      range={[0, 100]}
      dots={listDots(known)}
      marked={known.nodes.includes(study.node.value) ? study.node.value.depth / 2 : null}
      formatY={(value) => `${Math.round(value)} %`}
      onPick={(index) => study.go(known.nodes[index])}
    />
  );
}

const DOT_COLORS: ReadonlyMap<number, string> = new Map([
  [6, '--dubious'],
  [2, '--mistake'],
  [4, '--bad'],
]);

/** Bad moves, where the game goes after them. */
function listDots(known: GameReview): readonly ChartDot[] {
  return known.nodes.flatMap((node, index) => {
    const color = DOT_COLORS.get(known.getNag(node));
    return color === undefined ? [] : [{ index, color }];
  });
}

function Summary() {
  const known = review.value;
  if (known === null) return null;
  const sides = { White: known.summarise('white'), Black: known.summarise('black') };
  const rows: readonly (readonly [string, (side: PlayerSummary) => string | number])[] = [
    ['Accuracy', ({ accuracy }) => (accuracy === null ? '–' : `${accuracy.toFixed(0)} %`)],
    ['Inaccuracies', ({ inaccuracies }) => inaccuracies],
    ['Mistakes', ({ mistakes }) => mistakes],
    ['Blunders', ({ blunders }) => blunders],
  ];
  return (
    <SummaryTable
      caption="Both players"
      columns={['Player', ...rows.map(([name]) => name)]}
      rows={Object.entries(sides).map(([name, side]) => ({
        key: name,
        name,
        cells: rows.map(([, read]) => read(side)),
      }))}
    />
  );
}

function Export() {
  const known = review.value;
  if (known === null) return null;
  return (
    <div class="button-row review-foot">
      {(['white', 'black'] as const).map((side) => {
        const mistakes = pendingReview.value !== null ? [] : listMistakes(known, side);
        return (
          <Button
            key={side}
            label={`Learn from ${side === 'white' ? 'White' : 'Black'}’s mistakes`}
            disabled={mistakes.length === 0}
            title="Find better moves than those that were played"
            onClick={() => learn(mistakes, nodes.value)}
          />
        );
      })}
    </div>
  );
}

/** After the last one it goes on from the start. */
function goToNextBadMove(): void {
  const known = review.value;
  if (known === null) return;
  const bad = known.nodes.filter((node) => known.getNag(node) !== 0);
  const next = bad.find(({ depth }) => depth > study.node.value.depth) ?? bad[0];
  if (next !== undefined) study.go(next);
}
