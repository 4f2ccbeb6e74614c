/** Which pieces a move and the value hang on, painted on the squares of the board. */
import { computed, signal } from '@preact/signals';
import { formatSan } from '../../../chess/rules/index.js';
import { requireMove } from '../../game/board-moves.js';
import type { MoveNode } from '../../game/move-tree.js';
import { formatPercent, formatSigned } from '../../game/page-text.js';
import type { ExplanationText, SquareWeight } from '../../protocol/replies.js';
import { port } from '../port/engine-port.js';
import { assign, Button, ProblemLine, Segments } from '../shell/controls.js';
import { study } from '../study/study.js';

type Weight = 'policy' | 'value';

/** Without text and problem the network has not answered yet. */
interface Explanation {
  readonly node: MoveNode;
  readonly text?: ExplanationText;
  readonly problem?: string;
}

const explanation = signal<Explanation | null>(null);
const weight = signal<Weight>('policy');

const SHADES = 4;
const LISTED = 6;

const current = computed(() => (explanation.value?.node === study.node.value ? explanation.value : null));

/** Square → class of its colour, while there is an explanation of the position on the board. */
export const explainedSquares = computed<ReadonlyMap<string, string>>(() => {
  const { text } = current.value ?? {};
  if (text === undefined) return new Map();
  const largest = Math.max(1e-6, ...text.squares.map((square) => Math.abs(square[weight.value])));
  const classes = new Map<string, string>();
  for (const square of text.squares) {
    const strength = square[weight.value] / largest;
    const shade = Math.round(Math.abs(strength) * SHADES);
    if (shade > 0) classes.set(square.square, `explain-${strength > 0 ? 'for' : 'against'} explain-${shade}`);
  }
  return classes;
});

/** @param move UCI; null = the network's favourite */
export function askForExplanation(move: string | null): void {
  const { value: node } = study.node;
  const asked: Explanation = { node };
  const show = (answer: Omit<Explanation, 'node'>): void => {
    if (explanation.value === asked) explanation.value = { node, ...answer };
  };
  explanation.value = asked;
  port.send('explain', { position: study.tree.value.describePosition(node), move }).answer.then(
    (text) => show({ text }),
    ({ message }: Error) => show({ problem: message }),
  );
}

export function ExplainView() {
  if (current.value === null) return null;
  const { text, problem = '' } = current.value;
  const clear = <Button label="Clear" onClick={assign(explanation, null)} />;
  if (text === undefined)
    return (
      <div class="explain button-row line-above line-below">
        {problem === '' ? <p class="faint fill">Asking the network …</p> : <ProblemLine text={problem} />}
        {clear}
      </div>
    );
  const position = study.position.value;
  return (
    <section class="explain stack line-above line-below" aria-label="Explanation">
      <div class="button-row">
        <span>
          <strong>{formatSan(position, requireMove(position, text.move))}</strong> {formatPercent(text.probability)},
          value {formatSigned(study.turn.value === 'black' ? -text.value : text.value, 3)}
        </span>
        <span class="fill" />
        {clear}
      </div>
      <Segments
        legend="Painted"
        name="explain"
        look="choice"
        state={weight}
        choices={{ policy: 'The move', value: 'The value' }}
      />
      <p class="faint">
        The network sees the position without each piece in turn. <span class="key explain-for" /> speaks for the move,{' '}
        <span class="key explain-against" /> against it:{' '}
        {weight.value === 'policy'
          ? 'what the move’s probability loses without the piece, in percentage points'
          : 'what the mover’s value (win − loss, in hundredths) loses without the piece'}
      </p>
      <ul class="weights">
        {listHeaviest(text.squares, weight.value).map((square) => (
          <li key={square.square}>
            {square.square} {formatSigned(100 * square[weight.value], 1)}
            {weight.value === 'policy' ? ' %' : ''}
          </li>
        ))}
      </ul>
    </section>
  );
}

function listHeaviest(squares: readonly SquareWeight[], by: Weight): readonly SquareWeight[] {
  return [...squares].sort((a, b) => Math.abs(b[by]) - Math.abs(a[by])).slice(0, LISTED);
}
