/** A dialog over the page: the browser's own <dialog>, with its focus, Escape and backdrop. */
import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { Icon } from './icon.js';
import { NoticeList, openDialogs } from './notices.js';

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly isWide?: boolean;
  onClose(): void;
}

export function Dialog({ title, children, isWide = false, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (dialog === null) return;
    // A click beside the dialog closes it, where the browser knows how.
    dialog.setAttribute('closedby', 'any');
    dialog.showModal();
    openDialogs.value++;
    return () => {
      openDialogs.value--;
      dialog.close();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? 'dialog dialog-wide' : 'dialog'}
      aria-labelledby="dialog-title"
      onClose={onClose}
    >
      <div class="dialog-head">
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </div>
      <div class="dialog-body">{children}</div>
      <NoticeList />
    </dialog>
  );
}
