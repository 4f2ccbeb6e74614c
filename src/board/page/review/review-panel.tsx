/** Review of a game: the evaluation as a graph that one can click, accuracy and bad moves of both players, better lines. */
import { computed, effect, signal, untracked } from '@preact/signals';
import { describeJudgement, GameReview, type PlayerSummary } from '../../game/game-review.js';
import type { MoveNode } from '../../game/move-tree.js';
import { getWhitePoints, isBlacksTurn } from '../../game/page-text.js';
import { type ChartDot, LineChart } from '../chart/line-chart.js';
import { port, reportError } from '../port/engine-port.js';
import { Button, Select, SummaryTable } from '../shell/controls.js';
import type { KeyBindings } from '../shell/keyboard.js';
import { addNotice } from '../shell/notices.js';
import { tellActivity } from '../shell/rooms.js';
import { isNumber, storedSignal } from '../shell/stored.js';
import { copyText, saveFile } from '../shell/user-files.js';
import { study } from '../study/study.js';
import { GamePart, openLoadDialog, players, StudyPanel } from '../study/study-panel.js';
import { isLearning, learn, listMistakes, MistakesPanel } from './mistakes.js';

/** Nodes for each position. */
const nodes = storedSignal('review.nodes', 400, isNumber);
/** The review that is under way; null = none is. */
const running = signal<GameReview | null>(null);
/** Number of positions that it has judged. */
const progress = signal(0);

effect(() => {
  const total = running.value?.nodes.length;
  tellActivity('review', total === undefined ? '' : `Review ${progress.value} / ${total}`);
});

/** Number of the question under way. */
let asked = 0;

/** Reviews the game on the board from its start. */
export async function startReview(): Promise<void> {
  const own = new GameReview(study.tree.value);
  if (own.nodes.length < 2) {
    addNotice('warning', 'There is no game to review: load one first');
    return;
  }
  running.value = own;
  progress.value = 0;
  const limits = { nodes: nodes.value };
  try {
    for (const [index, node] of own.nodes.entries()) {
      const question = { position: study.describePosition(node), limits, multiPv: 1, elo: null };
      const { id, answer } = port.send('think', question);
      asked = id;
      const thought = await answer;
      if (running.value !== own) return;
      own.add(index, thought);
      progress.value++;
      // It is saved on the way, too.
      study.touch();
    }
  } catch (error) {
    if (running.value === own) reportError(error);
  }
  if (running.value === own) finishReview();
}

/** What is known of the game stays, also of a review that was cut short. */
function finishReview(): void {
  running.value?.annotate();
  running.value = null;
  study.touch();
}

function stopReview(): void {
  port.send('hurry', { think: asked }).answer.catch(reportError);
  finishReview();
}

// What it has found so far was saved with the game.
effect(() => {
  const { value: tree } = study.tree;
  if (running.peek() !== null && running.peek()?.tree !== tree) untracked(stopReview);
});

const GRAPH_HEIGHT = 150;
const DEPTHS = [
  [100, 'Quick'],
  [400, 'Normal'],
  [2000, 'Thorough'],
  [10_000, 'Deep'],
] as const;

/** What is known of the game on the board; null before its first review. */
const current = computed(() => {
  void study.version.value;
  const known = new GameReview(study.tree.value);
  return known.isBegun || running.value !== null ? known : null;
});

const evaluation = computed(() => {
  void current.value;
  const { judgement, fen } = study.node.value;
  if (judgement === null) return null;
  const white = Math.round(1000 * getWhitePoints(judgement, isBlacksTurn(fen)));
  return { text: describeJudgement(study.node.value), wdl: { win: white, draw: 0, loss: 1000 - white } };
});

const KEYS: KeyBindings = { nextMistake: goToNextBadMove };

export function ReviewPanel() {
  if (isLearning.value) return <MistakesPanel players={players.value} />;
  return (
    <StudyPanel name="Review" keys={KEYS} evaluation={evaluation.value} game={<GamePart describe={describeMove} />}>
      <Head />
      <Graph />
      <Summary />
      <Export />
    </StudyPanel>
  );
}

function describeMove(node: MoveNode) {
  void current.value;
  return <small>{describeJudgement(node)}</small>;
}

function Head() {
  void study.version.value;
  const { headers } = study.tree.value;
  const players = [headers.get('White') ?? '?', headers.get('Black') ?? '?'].join(' – ');
  const total = current.value?.nodes.length ?? 0;
  const isEmpty = study.tree.value.root.children.length === 0;
  return (
    <div class="review-head">
      <h2>{players === '? – ?' ? 'The game on the board' : players}</h2>
      <div class="button-row">
        {running.value !== null ? (
          <>
            <progress max={total} value={progress.value} aria-label="Positions reviewed" />
            <span>
              {progress.value} of {total}
            </span>
            <Button label="Stop" onClick={stopReview} />
          </>
        ) : (
          <>
            <Button
              label="Review"
              class={isEmpty ? '' : 'primary'}
              disabled={isEmpty}
              onClick={() => void startReview()}
            />
            <Select
              aria-label="How thoroughly"
              value={nodes.value}
              choices={DEPTHS.map(([count, name]) => [count, `${name}: ${count} nodes a move`])}
              onSelect={(count) => {
                nodes.value = Number(count);
              }}
            />
            <Button label="Load a game" class={isEmpty ? 'primary' : ''} onClick={openLoadDialog} />
          </>
        )}
      </div>
    </div>
  );
}

function Graph() {
  const known = current.value;
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
  const known = current.value;
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
  const known = current.value;
  if (known === null) return null;
  return (
    <div class="button-row review-foot">
      {(['white', 'black'] as const).map((side) => {
        const mistakes = running.value !== null ? [] : listMistakes(known, side);
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
      <Button label="Copy PGN" onClick={() => void copyText(known.formatPgn())} />
      <Button label="Save PGN" onClick={() => saveFile('review.pgn', known.formatPgn())} />
    </div>
  );
}

/** After the last one it goes on from the start. */
function goToNextBadMove(): void {
  const known = current.value;
  if (known === null) return;
  const bad = known.nodes.filter(({ nags }) => nags.some((nag) => nag === 2 || nag === 4 || nag === 6));
  const next = bad.find(({ depth }) => depth > study.node.value.depth) ?? bad[0];
  if (next !== undefined) study.go(next);
}
