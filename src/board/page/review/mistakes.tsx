/**
 * Learn from your mistakes: the positions before the bad moves of a reviewed game, one after the other. The user looks for a
 * better move; the engine judges what the review does not know. The game itself is not changed.
 */
import type { DrawShape } from '@lichess-org/chessground/draw';
import { batch, computed, effect, signal, untracked } from '@preact/signals';
import { computeOutcome, type Move } from '../../../chess/rules/index.js';
import { formatMoveNumber, requireMove } from '../../game/board-moves.js';
import { formatGlyphs } from '../../game/glyphs.js';
import { MoveTree } from '../../game/move-tree.js';
import { getExpectedPoints, isBlacksTurn } from '../../game/page-text.js';
import { BoardPanel } from '../board/board-panel.js';
import { point, type Side } from '../board/chess-board.js';
import { port, reportError } from '../port/engine-port.js';
import { assign, Button } from '../shell/controls.js';
import { players } from '../study/players.js';
import { Study } from '../study/study.js';
import { mistakes, nodes } from './review-session.js';

/** A move that loses less than this share of a point is good enough. */
const GOOD_LOSS = 0.06;

type Phase = 'asked' | 'judged' | 'solved' | 'failed' | 'shown';

const index = signal(0);
const phase = signal<Phase>('asked');
/** What the user tried last. */
const tried = signal('');
const solvedCount = signal(0);
const board = new Study();
/** The move that a running question is about is not wanted any more. */
let moment = 0;

const current = computed(() => mistakes.value[index.value]);
const side = computed<Side>(() => (isBlacksTurn(current.value?.played.parent?.fen ?? '') ? 'black' : 'white'));

const stopLearning = assign(mistakes, []);

effect(() => {
  moment++;
  if (mistakes.value.length > 0) untracked(() => show(0));
});

function show(next: number): void {
  moment++;
  if (next === 0) solvedCount.value = 0;
  index.value = next;
  const fen = current.value?.played.parent?.fen;
  const tree = MoveTree.create(fen);
  if (!tree.ok) return;
  phase.value = 'asked';
  board.orientation.value = side.value;
  board.load(tree.value);
}

function goOn(): void {
  if (index.value + 1 < mistakes.value.length) show(index.value + 1);
  else stopLearning();
}

function tryAgain(): void {
  board.undo();
  phase.value = 'asked';
}

function showSolution(): void {
  const { better } = mistakes.value[index.value];
  moment++;
  batch(() => {
    if (board.node.value.parent !== null) board.undo();
    board.play(requireMove(board.position.value, better.uci));
    phase.value = 'shown';
  });
}

async function judge(move: Move): Promise<void> {
  const { played, better } = mistakes.value[index.value];
  const own = ++moment;
  board.play(move);
  const { uci, san } = board.node.value;
  tried.value = san;
  phase.value = 'judged';
  const points = uci === better.uci ? 1 : uci === played.uci ? 0 : await evaluate().catch(reportError);
  if (own !== moment) return;
  const isGood = points !== undefined && points >= better.points - GOOD_LOSS;
  phase.value = isGood ? 'solved' : 'failed';
  if (isGood) solvedCount.value++;
}

/** Expected points of the player who has just moved. */
async function evaluate(): Promise<number> {
  const outcome = computeOutcome(board.position.value);
  if (outcome !== 'ongoing') return outcome === 'checkmate' ? 1 : 0.5;
  const position = board.tree.value.describePosition(board.node.value);
  const question = { position, limits: { nodes: nodes.value }, multiPv: 1, elo: null };
  const { state } = await port.send('think', question).answer;
  return 1 - getExpectedPoints(state.lines[0]?.wdl ?? { win: 0, draw: 1000, loss: 0 });
}

/** The bad move while a better one is looked for. */
const shapes = computed<DrawShape[]>(() => {
  const exercise = current.value;
  if (exercise === undefined || board.node.value.parent !== null) return [];
  return [{ ...point(board.position.value, exercise.played.uci, board.tree.value.isChess960), brush: 'paleRed' }];
});

export function MistakesPanel() {
  const exercise = current.value;
  if (exercise === undefined) return null;
  const { played, better } = exercise;
  const name = `${formatMoveNumber(played.gamePly - 1, side.value === 'black')} ${played.san}${formatGlyphs(played.nags)}`;
  const isAsked = phase.value === 'asked';
  const isLast = index.value + 1 === mistakes.value.length;
  const words: Readonly<Record<Phase, string>> = {
    asked: `${name} was played. Find a better move for ${side.value === 'white' ? 'White' : 'Black'}.`,
    judged: `${tried.value} is judged …`,
    solved:
      tried.value === better.san
        ? `Well done: ${tried.value} is best.`
        : `${tried.value} is good, too. Best was ${better.san}.`,
    failed: `${tried.value} is not good enough: try another move.`,
    shown: `${better.san} was best.`,
  };
  return (
    <BoardPanel
      name="Review"
      study={board}
      players={players.value}
      keys={{ nextMistake: goOn, leave: stopLearning }}
      typing={isAsked ? { onMove: (move) => void judge(move) } : undefined}
      dests={board.dests.value}
      movable={isAsked ? side.value : 'none'}
      shapes={shapes.value}
      onDrop={(from, to) => board.drop(from, to, (move) => void judge(move))}
      onPlay={(move) => void judge(move)}
    >
      <div class="review-head stack raised line-below">
        <h2>Learn from the mistakes</h2>
        <p class="faint">
          Mistake {index.value + 1} of {mistakes.value.length}, {solvedCount.value} solved
        </p>
        <p class={`mistake-${phase.value}`} role="status">
          {words[phase.value]}
        </p>
        <div class="button-row">
          {phase.value === 'failed' && <Button label="Try again" class="primary" onClick={tryAgain} />}
          {(isAsked || phase.value === 'failed') && <Button label="Show the solution" onClick={showSolution} />}
          <Button
            label={isLast ? 'Finish' : isAsked ? 'Skip' : 'Next'}
            class={phase.value === 'solved' || phase.value === 'shown' ? 'primary' : ''}
            onClick={goOn}
          />
          <Button label="Back to the review" onClick={stopLearning} />
        </div>
      </div>
    </BoardPanel>
  );
}
