/** What the analysis and review panels share: the board of the study on the left, their own part on the right, keys, loading. */
import type { DrawShape } from '@lichess-org/chessground/draw';
import { signal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { createStepKeys } from '../board/step-buttons.js';
import { type BoardEvaluation, StudyBoard } from '../board/study-board.js';
import { bindKeys, type KeyBinding } from '../shell/keyboard.js';
import { LoadDialog } from './load-dialog.js';
import { study } from './study.js';

interface StudyPanelProps {
  readonly label: string;
  /** Those of this panel alone. */
  readonly keys: readonly KeyBinding[];
  readonly evaluation: BoardEvaluation | null;
  readonly shapes?: readonly DrawShape[];
  readonly squareClasses?: ReadonlyMap<string, string>;
  readonly previewFen?: string | null;
  /** The right side. */
  readonly children: ComponentChildren;
}

const isLoading = signal(false);

export function openLoadDialog(): void {
  isLoading.value = true;
}

function closeLoadDialog(): void {
  isLoading.value = false;
}

export function StudyPanel({ label, keys, children, ...board }: StudyPanelProps) {
  useEffect(
    () =>
      bindKeys([
        ...createStepKeys(study),
        { keys: ['v'], help: 'Next variation', run: () => study.goToSibling(1) },
        ...keys,
        { keys: ['p'], help: 'Load a FEN or PGN', run: openLoadDialog },
      ]),
    [],
  );
  return (
    <main class={`panel panel-${label.toLowerCase()}`}>
      <StudyBoard study={study} {...board} onLoad={openLoadDialog} />
      <section class="side" aria-label={label}>
        {children}
      </section>
      {isLoading.value && <LoadDialog study={study} onClose={closeLoadDialog} />}
    </main>
  );
}
