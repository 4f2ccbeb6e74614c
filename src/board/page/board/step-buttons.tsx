/** Buttons under a board, and the keys that do the same: through the game and back, and the board turned round. */
import type { ComponentChildren } from 'preact';
import { Icon, type IconName } from '../shell/icon.js';
import type { KeyBinding } from '../shell/keyboard.js';
import type { Study } from '../study/study.js';

export function StepButtons({ study, children }: { readonly study: Study; readonly children?: ComponentChildren }) {
  void study.version.value;
  const node = study.node.value;
  const isFirst = node.parent === null;
  const isLast = node.children.length === 0;
  return (
    <div class="board-buttons" role="toolbar" aria-label="Moves of the game">
      {children}
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

/** @param onStep the user has stepped through the game */
export function createStepKeys(study: Study, onStep: () => void = () => undefined): readonly KeyBinding[] {
  const step = (go: () => void) => () => {
    onStep();
    go();
  };
  return [
    { keys: ['ArrowLeft', 'k'], help: 'Back', run: step(() => study.goBack()) },
    { keys: ['ArrowRight', 'j'], help: 'Forward', run: step(() => study.goForward()) },
    { keys: ['ArrowUp', 'Home'], help: 'To the start', run: step(() => study.goToStart()) },
    { keys: ['ArrowDown', 'End'], help: 'To the end', run: step(() => study.goToEnd()) },
    { keys: ['f'], help: 'Flip the board', run: () => study.flip() },
  ];
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
