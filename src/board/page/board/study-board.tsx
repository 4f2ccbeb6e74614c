/** The board of a study with what belongs to it: evaluation bar, buttons to step through the game, FEN and typed moves. */
import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Study } from '../study/study.js';
import { ChessBoard } from './chess-board.js';
import { EvalBar } from './eval-bar.js';
import { PromotionDialog } from './promotion-dialog.js';
import { StepButtons } from './step-buttons.js';
import { TypedMove } from './typed-move.js';

export interface BoardEvaluation {
  readonly text: string;
  /** Per mille for White. */
  readonly wdl: readonly [win: number, draw: number, loss: number];
}

interface StudyBoardProps {
  readonly study: Study;
  readonly evaluation: BoardEvaluation | null;
  readonly shapes?: readonly DrawShape[];
  readonly squareClasses?: ReadonlyMap<string, string>;
  /** Shown in place of the study's position: where a line would lead. */
  readonly previewFen?: string | null;
  onLoad(): void;
}

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
      <StepButtons study={study}>
        <button type="button" onClick={onLoad} title="Paste a FEN or PGN, set up a position (p)">
          Load
        </button>
      </StepButtons>
      <div class="board-inputs">
        <TypedMove position={study.position.value} onMove={(move) => study.play(move)} />
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
