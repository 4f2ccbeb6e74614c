/** The board of a study with what belongs to it: evaluation bar, buttons to step through the game, FEN and typed moves. */
import type { DrawShape } from '@lichess-org/chessground/draw';
import { signal } from '@preact/signals';
import { parseTypedMove } from '../../game/board-moves.js';
import { Icon, type IconName } from '../shell/icon.js';
import { addNotice } from '../shell/notices.js';
import type { Study } from '../study/study.js';
import { ChessBoard } from './chess-board.js';
import { EvalBar } from './eval-bar.js';
import { PromotionDialog } from './promotion-dialog.js';

interface StudyBoardProps {
  readonly study: Study;
  readonly evaluation: { readonly text: string; readonly wdl: readonly [number, number, number] } | null;
  readonly shapes?: readonly DrawShape[];
  readonly squareClasses?: ReadonlyMap<string, string>;
  /** Shown in place of the study's position: where a line would lead. */
  readonly previewFen?: string | null;
  onLoad(): void;
}

const typed = signal('');

export function StudyBoard({ study, evaluation, shapes, squareClasses, previewFen, onLoad }: StudyBoardProps) {
  const node = study.node.value;
  const isPreview = previewFen !== undefined && previewFen !== null;
  const promotion = study.promotion.value;
  return (
    <section class="board-column" aria-label="Board">
      <div class="board-and-bar">
        <ChessBoard
          fen={isPreview ? previewFen : node.fen}
          orientation={study.orientation.value}
          turn={study.turn.value}
          dests={study.dests.value}
          movable={isPreview ? 'none' : study.turn.value}
          lastMove={isPreview ? [] : study.lastMove.value}
          isCheck={!isPreview && node.isCheck}
          shapes={isPreview ? [] : shapes}
          squareClasses={squareClasses}
          onMove={(from, to) => study.playDrop(from, to)}
        />
        <EvalBar wdl={evaluation?.wdl ?? null} score={evaluation?.text ?? ''} orientation={study.orientation.value} />
      </div>
      <BoardButtons study={study} onLoad={onLoad} />
      <div class="board-inputs">
        <form
          onSubmit={(event) => {
            event.preventDefault();
            const move = parseTypedMove(study.position.value, typed.value);
            if (!move.ok) {
              addNotice('warning', move.error);
              return;
            }
            typed.value = '';
            study.play(move.value);
          }}
        >
          <input
            class="typed-move"
            aria-label="Type a move"
            placeholder="Move: e4, Nf3"
            autocomplete="off"
            autocapitalize="off"
            spellcheck={false}
            value={typed.value}
            onInput={({ currentTarget }) => {
              typed.value = currentTarget.value;
            }}
          />
        </form>
        <input
          class="fen"
          aria-label="FEN of the position"
          readOnly
          value={node.fen}
          onFocus={({ currentTarget }) => currentTarget.select()}
        />
      </div>
      {promotion !== null && (
        <PromotionDialog
          moves={promotion}
          color={study.turn.value}
          onChoose={(move) => study.play(move)}
          onCancel={() => study.cancelPromotion()}
        />
      )}
    </section>
  );
}

function BoardButtons({ study, onLoad }: { readonly study: Study; onLoad(): void }) {
  const node = study.node.value;
  const isFirst = node.parent === null;
  void study.version.value;
  const isLast = node.children.length === 0;
  return (
    <div class="board-buttons" role="toolbar" aria-label="Game">
      <button type="button" onClick={onLoad} title="Paste a FEN or PGN, set up a position (p)">
        Load
      </button>
      <span class="spacer" />
      <IconButton label="Start" keys="↑" icon="start" isOff={isFirst} onClick={() => study.goToStart()} />
      <IconButton label="Back" keys="←" icon="back" isOff={isFirst} onClick={() => study.goBack()} />
      <IconButton label="Forward" keys="→" icon="forward" isOff={isLast} onClick={() => study.goForward()} />
      <IconButton label="End" keys="↓" icon="end" isOff={isLast} onClick={() => study.goToEnd()} />
      <span class="spacer" />
      <button type="button" onClick={() => study.flip()} title="Flip the board (f)">
        <Icon name="flip" /> Flip
      </button>
    </div>
  );
}

interface IconButtonProps {
  readonly label: string;
  readonly keys: string;
  readonly icon: IconName;
  readonly isOff: boolean;
  onClick(): void;
}

function IconButton({ label, keys, icon, isOff, onClick }: IconButtonProps) {
  return (
    <button
      type="button"
      class="icon-button"
      aria-label={label}
      title={`${label} (${keys})`}
      disabled={isOff}
      onClick={onClick}
    >
      <Icon name={icon} />
    </button>
  );
}
