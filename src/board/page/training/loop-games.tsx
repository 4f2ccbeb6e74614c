/** Games of a training loop on a board: self-play, gates and measuring, generation by generation. */
import { useEffect } from 'preact/hooks';
import type { LoopGameKind, LoopState } from '../../protocol/replies.js';
import { createStepKeys, StepButtons } from '../board/board-panel.js';
import { ChessBoard } from '../board/chess-board.js';
import { reportError } from '../port/engine-state.js';
import { bindKeys } from '../shell/keyboard.js';
import { openGames } from '../study/library.js';
import { MoveList } from '../study/move-list.js';
import { counts, generation, kind, showGame, showGeneration, shownGame, view } from './loop-session.js';

const KINDS: Readonly<Record<LoopGameKind, string>> = { games: 'Self-play', gate: 'Gate', measure: 'Measuring' };

export function LoopGameBoard({ state }: { readonly state: LoopState }) {
  const { headers } = view.tree.value;
  const { orientation } = view;
  useEffect(
    () => bindKeys([...createStepKeys(view), { keys: ['n'], help: 'Next game', run: () => pick(shownGame.value + 1) }]),
    [],
  );
  return (
    <section class="loop-games" aria-label="Games of the loop">
      <h3>Games</h3>
      <GameChoice numbers={[...state.generations.map(({ number }) => number), state.generation].filter((n) => n > 0)} />
      {shownGame.value >= 0 && (
        <div class="loop-board">
          <div class="loop-position">
            <ChessBoard fen={view.node.value.fen} orientation={orientation.value} lastMove={view.lastMove.value} />
            <StepButtons study={view}>
              <button type="button" onClick={analyse}>
                Analyse
              </button>
            </StepButtons>
          </div>
          <div class="loop-moves">
            <p>
              {headers.get('White')} – {headers.get('Black')} <strong>{headers.get('Result')}</strong>
            </p>
            <MoveList study={view} />
          </div>
        </div>
      )}
    </section>
  );
}

function GameChoice({ numbers }: { readonly numbers: readonly number[] }) {
  const total = counts.value?.[kind.value] ?? 0;
  return (
    <div class="button-row">
      <label class="field-inline">
        Generation{' '}
        <select
          value={generation.value}
          onChange={({ currentTarget }) => showGeneration(Number(currentTarget.value)).catch(reportError)}
        >
          <option value={0}>choose</option>
          {numbers.toReversed().map((number) => (
            <option key={number} value={number}>
              {number}
            </option>
          ))}
        </select>
      </label>
      <select
        aria-label="Kind of games"
        value={kind.value}
        onChange={({ currentTarget }) =>
          showGeneration(generation.value, currentTarget.value as LoopGameKind).catch(reportError)
        }
      >
        {(Object.keys(KINDS) as LoopGameKind[]).map((name) => (
          <option key={name} value={name}>
            {KINDS[name]}
            {counts.value === null ? '' : ` (${counts.value[name]})`}
          </option>
        ))}
      </select>
      <button type="button" disabled={shownGame.value <= 0} onClick={() => pick(shownGame.value - 1)}>
        Previous
      </button>
      <label class="field-inline">
        Game{' '}
        <input
          type="number"
          min={1}
          max={Math.max(1, total)}
          value={shownGame.value + 1}
          disabled={total === 0}
          onChange={({ currentTarget }) => pick(Math.round(Number(currentTarget.value)) - 1)}
        />{' '}
        of {total}
      </label>
      <button
        type="button"
        disabled={total === 0 || shownGame.value + 1 >= total}
        onClick={() => pick(shownGame.value + 1)}
      >
        Next
      </button>
    </div>
  );
}

function pick(game: number): void {
  showGame(game).catch(reportError);
}

/** Takes the game to the analysis board, at the same move. */
function analyse(): void {
  openGames([view.tree.value], view.node.value);
  location.hash = 'analyse';
}
