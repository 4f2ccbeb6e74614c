/** Which piece a pawn becomes: four buttons over the board, the queen first. Escape takes the move back. */
import { h } from 'preact';
import type { Move } from '../../../chess/index.js';
import { getPromotionLetter } from '../../game/board-moves.js';
import { Dialog } from '../shell/dialog.js';
import type { Side } from './chess-board.js';

const ROLES = { q: 'queen', r: 'rook', b: 'bishop', n: 'knight' } as const;

interface PromotionProps {
  readonly moves: readonly Move[];
  readonly color: Side;
  onChoose(move: Move): void;
  onCancel(): void;
}

export function PromotionDialog({ moves, color, onChoose, onCancel }: PromotionProps) {
  return (
    <Dialog title="Promote to" onClose={onCancel}>
      <div class="promotion cg-wrap">
        {(Object.keys(ROLES) as (keyof typeof ROLES)[]).map((letter) => {
          const move = moves.find((candidate) => getPromotionLetter(candidate) === letter);
          if (move === undefined) return null;
          return (
            <button key={letter} type="button" class="promotion-choice" onClick={() => onChoose(move)}>
              {h('piece' as 'i', { class: `${ROLES[letter]} ${color}` })}
              <span class="visually-hidden">{ROLES[letter]}</span>
            </button>
          );
        })}
      </div>
    </Dialog>
  );
}
