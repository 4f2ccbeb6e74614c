/** The review of the game on the board: its menu, both players' accuracy, the evaluation as a graph; the chip of one that runs. */
import { computed } from '@preact/signals';
import { Button, Menu, MenuItem, toggle } from '../shell/controls.js';
import { getGlyphClass } from '../study/move-list.js';
import { chapters, pendingReview } from '../study/open-analysis.js';
import { study } from '../study/study.js';
import {
  endReview,
  goToNextMistake,
  isShown,
  mistakes,
  nodes,
  pauseReview,
  progress,
  review,
  startReview,
  stopReview,
  waitsFor,
} from './review-session.js';

/** Nodes for each position. */
const DEPTHS = { 100: 'Quick', 400: 'Normal', 2000: 'Thorough', 10000: 'Deep' };

export function ReviewMenu() {
  void study.version.value;
  const isEmpty = study.tree.value.root.children.length === 0;
  const isPending = pendingReview.value !== null;
  const { value: known } = review;
  return (
    <Menu label="Review">
      <MenuItem label="Review the game" disabled={isEmpty || isPending} onClick={() => startReview()} />
      {chapters.value.length > 1 && (
        <MenuItem
          label={`Review all ${chapters.value.length} games`}
          disabled={isPending}
          onClick={() => startReview([...chapters.value.keys()])}
        />
      )}
      {Object.entries(DEPTHS).map(([count, name]) => (
        <MenuItem
          key={count}
          label={`${name}: ${count} nodes a move`}
          role="menuitemradio"
          aria-checked={nodes.value === Number(count)}
          onClick={(event) => {
            // The menu stays.
            event.stopPropagation();
            nodes.value = Number(count);
          }}
        />
      ))}
      {known !== null && (
        <>
          <MenuItem
            label="Show in the moves"
            role="menuitemcheckbox"
            aria-checked={isShown.value}
            onClick={() => toggle(isShown)}
          />
          <MenuItem label="Next mistake" title="To the next bad move (n)" onClick={goToNextMistake} />
          <MenuItem
            label="Write into the game"
            title="Evaluations, glyphs, words and better lines become part of the game"
            onClick={() => endReview(known, true)}
          />
          <MenuItem
            label="Discard"
            title="Takes the review away; the game stays as it is"
            onClick={() => endReview(known, false)}
          />
        </>
      )}
    </Menu>
  );
}

/** How far the review is, in the header of every room. */
export function ReviewChip() {
  const { value: pending } = pendingReview;
  if (pending === null) return null;
  const { games, isPaused } = pending;
  const [done, total] = progress.value;
  const words = [
    total === 0 ? 'Review' : `Review ${done} / ${total}`,
    games.length > 1 ? `${games.length} games left` : '',
    waitsFor.value,
  ];
  return (
    <Menu label={words.filter((part) => part !== '').join(' · ')} class="chip small">
      <MenuItem label={isPaused ? 'Go on' : 'Pause'} onClick={pauseReview} />
      <MenuItem label="Cancel" title="What has been found so far stays" onClick={stopReview} />
    </Menu>
  );
}

const SIDES = ['white', 'black'] as const;

const summary = computed(() => {
  const { value: known } = review;
  return known === null ? [] : SIDES.map((side) => known.summarise(side));
});

/** Of the player at the bottom of the board. */
const lessons = computed(() =>
  pendingReview.value === null ? (review.value?.listMistakes(study.orientation.value) ?? []) : [],
);

/** What the review has found out about the game as a whole. */
export function ReviewSummary() {
  if (review.value === null) return null;
  return (
    <>
      <div class="accuracy row line-above">
        <strong>Accuracy</strong>
        <span class="cut fill">
          {summary.value.map(({ accuracy, inaccuracies, mistakes, blunders }, index) => (
            <span
              key={index}
              title={`${inaccuracies} inaccuracies, ${mistakes} mistakes, ${blunders} blunders`}
            >{`${index === 0 ? 'White' : ' · Black'} ${accuracy === null ? '–' : `${accuracy.toFixed(0)} %`}`}</span>
          ))}
        </span>
        <Button
          label="Learn"
          disabled={lessons.value.length === 0}
          title={`Find better moves than ${study.orientation.value === 'white' ? 'White' : 'Black'}’s mistakes`}
          onClick={() => {
            mistakes.value = lessons.value;
          }}
        />
      </div>
      <Graph />
    </>
  );
}

/** White's expected points in percent from below, where they are known; bad moves, by the class of their glyph. */
const picture = computed(() => {
  const { value: known } = review;
  if (known === null) return null;
  const points = known.whitePoints.flatMap((value, ply) => (value === null ? [] : [[ply, 100 - 100 * value] as const]));
  const [first, last] = [points[0][0], points[points.length - 1][0]];
  return {
    nodes: known.nodes,
    known: `M${first} 0H${last}V100H${first}z`,
    white: `M${first} 100${points.map(([ply, y]) => `L${ply} ${y.toFixed(1)}`).join('')}V100z`,
    bad: points.flatMap(([ply, y]) => {
      const nag = known.getNag(known.nodes[ply]);
      return nag === 0 ? [] : [<path key={ply} class={getGlyphClass([nag])} d={`M${ply} ${y}h0`} />];
    }),
  };
});

/** White's part is light. A press goes to the move, and so does dragging. */
function Graph() {
  const { value: drawn } = picture;
  if (drawn === null) return null;
  const { nodes: line, known, white, bad } = drawn;
  const most = Math.max(1, line.length - 1);
  const { value: at } = study.node;
  const pick = ({ buttons, offsetX, currentTarget }: PointerEvent & { readonly currentTarget: SVGElement }): void => {
    const node = line[Math.round((most * offsetX) / currentTarget.clientWidth)];
    if (buttons === 1 && node !== undefined) study.go(node);
  };
  return (
    <svg
      class="review-graph line-above raised"
      viewBox={`0 0 ${most} 100`}
      preserveAspectRatio="none"
      role="img"
      aria-label="White’s expected points after each move"
      onPointerDown={pick}
      onPointerMove={pick}
    >
      <path class="graph-black" d={known} />
      <path class="graph-white" d={white} />
      <path class="graph-middle" d={`M0 50H${most}`} />
      {line[at.depth] === at && <path class="graph-place" d={`M${at.depth} 0V100`} />}
      {bad}
    </svg>
  );
}
