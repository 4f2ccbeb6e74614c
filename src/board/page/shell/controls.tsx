/** What every panel is made of: icons, dialogs, fields of forms whose values are signals. */
import { signal } from '@preact/signals';
import type { ComponentChildren, ComponentProps, FunctionComponent } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef } from 'preact/hooks';
import { moveInRow, ownsArrows } from './keyboard.js';
import { NoticeList, openDialogs } from './notices.js';

/** Icons drawn as paths, because fonts differ in which signs they have. All are 24 by 24 and take the colour of the text. */
const PATHS = {
  start: 'M5 5h3v14H5zM20 5v14L9 12z',
  back: 'M17 5v14L6 12z',
  forward: 'M7 5v14l11-7z',
  end: 'M16 5h3v14h-3zM4 5v14l11-7z',
  undo: 'M4 8l6-5v3.5h4a6.5 6.5 0 0 1 0 13H7v-2.5h7a4 4 0 0 0 0-8h-4V13z',
  menu: 'M4 10h4v4H4zM10 10h4v4h-4zM16 10h4v4h-4z',
  down: 'M6 9h12l-6 7z',
  gear: 'M10.5 1h3l.6 3 1.7.7 2.5-1.7 2.2 2.2-1.7 2.5.7 1.7 3 .6v3l-3 .6-.7 1.7 1.7 2.5-2.2 2.2-2.5-1.7-1.7.7-.6 3h-3l-.6-3-1.7-.7-2.5 1.7-2.2-2.2 1.7-2.5-.7-1.7-3-.6v-3l3-.6.7-1.7-1.7-2.5 2.2-2.2 2.5 1.7 1.7-.7zM12 7.5a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
  close: 'M5 6.4 6.4 5 12 10.6 17.6 5 19 6.4 13.4 12l5.6 5.6-1.4 1.4-5.6-5.6L6.4 19 5 17.6 10.6 12z',
  target:
    'M11 1h2v4h-2zm0 18h2v4h-2zM1 11h4v2H1zm18 0h4v2h-4zM12 6a6 6 0 1 1 0 12 6 6 0 0 1 0-12zm0 2a4 4 0 1 0 0 8 4 4 0 0 0 0-8z',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" width="18" height="18" aria-hidden="true">
      <path d={PATHS[name]} fill="currentColor" fill-rule="evenodd" />
    </svg>
  );
}

type ButtonProps = Omit<ComponentProps<'button'>, 'label' | 'type'> & { readonly label: ComponentChildren };

export function Button({ label, ...rest }: ButtonProps) {
  return (
    <button type="button" {...rest}>
      {label}
    </button>
  );
}

interface IconButtonProps {
  readonly label: string;
  readonly icon: IconName;
  /** What the pointer sees; the label when left out. */
  readonly title?: string;
  readonly class?: string;
  readonly disabled?: boolean;
  onClick(): void;
}

export function IconButton({ label, icon, title = label, class: more = '', ...rest }: IconButtonProps) {
  return (
    <Button label={<Icon name={icon} />} class={`icon-button ${more}`} aria-label={label} title={title} {...rest} />
  );
}

interface MenuProps {
  readonly label: string;
  /** In place of the label. */
  readonly icon?: IconName;
  readonly class?: string;
  readonly tabIndex?: number;
  readonly children: ComponentChildren;
}

/** A button with a list of what can be done. The browser closes the list at a click elsewhere, and at Escape. */
export function Menu({ label, icon, class: more = '', tabIndex, children }: MenuProps) {
  const id = useId();
  return (
    <>
      <button
        type="button"
        class={icon === undefined ? more : `icon-button ${more}`}
        popovertarget={id}
        tabIndex={tabIndex}
        aria-haspopup="menu"
        aria-label={label}
        title={label}
      >
        {icon === undefined && <span>{label}</span>}
        <Icon name={icon ?? 'down'} />
      </button>
      <div
        id={id}
        class="menu float"
        popover="auto"
        role="menu"
        aria-label={label}
        data-keys
        onKeyDown={moveInRow}
        onClick={({ currentTarget }) => currentTarget.hidePopover()}
        onToggle={(event) => {
          if ('newState' in event && event.newState === 'open')
            event.currentTarget.querySelector<HTMLElement>('button:enabled, a')?.focus();
        }}
      >
        {children}
      </div>
    </>
  );
}

export function MenuItem(props: ComponentProps<typeof Button>) {
  return <Button role="menuitem" {...props} />;
}

/** A part of the page whose script is fetched when the part is first shown. @param load imports its module */
export function later<Props extends object>(load: () => Promise<FunctionComponent<Props>>): FunctionComponent<Props> {
  const loaded = signal<{ readonly Part: FunctionComponent<Props> | null } | null>(null);
  return (props) => {
    useEffect(() => {
      load().then(
        (Part) => {
          loaded.value = { Part };
        },
        () => {
          loaded.value = { Part: null };
        },
      );
    }, []);
    if (loaded.value === null) return null;
    const { Part } = loaded.value;
    if (Part !== null) return <Part {...props} />;
    return (
      <p class="obstacle" role="alert">
        A part of the page could not be loaded. <Button label="Load again" onClick={() => location.reload()} />
      </p>
    );
  };
}

interface DialogProps {
  readonly title: string;
  readonly children: ComponentChildren;
  readonly isWide?: boolean;
  onClose(): void;
}

/** A dialog over the page: the browser's own <dialog>, with its focus, Escape and backdrop. */
export function Dialog({ title, children, isWide = false, onClose }: DialogProps) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    if (dialog === null) return;
    // A click beside the dialog closes it, where the browser knows how.
    dialog.setAttribute('closedby', 'any');
    const { activeElement: opener } = document;
    dialog.showModal();
    openDialogs.value++;
    // The browser's back button leads to another panel; it comes before the panel goes.
    const { hash } = location;
    const leave = (): void => {
      if (location.hash !== hash) onClose();
    };
    addEventListener('hashchange', leave, { capture: true });
    return () => {
      removeEventListener('hashchange', leave, { capture: true });
      openDialogs.value--;
      // It has left the page by then, and the focus with it: who uses keys goes on where the dialog was opened.
      if (ownsArrows() && document.activeElement === document.body) (opener as HTMLElement | null)?.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      class={isWide ? 'dialog float dialog-wide' : 'dialog float'}
      aria-labelledby="dialog-title"
      onClose={onClose}
    >
      <div class="dialog-head row line-below">
        <h2 id="dialog-title">{title}</h2>
        <IconButton label="Close" icon="close" onClick={onClose} />
      </div>
      <div class="dialog-body stack">{children}</div>
      <NoticeList />
    </dialog>
  );
}

interface ConfirmProps {
  readonly title: string;
  /** What the button does that cannot be taken back. */
  readonly action: string;
  readonly children?: ComponentChildren;
  onConfirm(): void;
  onClose(): void;
}

export function ConfirmDialog({ title, action, children, onConfirm, onClose }: ConfirmProps) {
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <div class="button-row">
        <Button
          label={action}
          class="danger"
          onClick={() => {
            onClose();
            onConfirm();
          }}
        />
        <Button label="Cancel" onClick={onClose} />
      </div>
    </Dialog>
  );
}

/** What went wrong, in one sentence; nothing for ''. @param onDismiss for what would stay for ever */
export function ProblemLine({ text, onDismiss }: { readonly text: string; onDismiss?(): void }) {
  if (text === '') return null;
  return (
    <div class="problem row" role="alert">
      <span class="fill">{text}</span>
      {onDismiss !== undefined && <IconButton label="Dismiss" icon="close" onClick={onDismiss} />}
    </div>
  );
}

/** For `onSubmit`: the page stays. */
export function submit(run: () => void): (event: Event) => void {
  return (event) => {
    event.preventDefault();
    run();
  };
}

interface FieldProps<T> {
  readonly label: string;
  readonly state: { value: T };
}

/** For `onClick` and the like: sets a state. */
export function assign<T>(state: { value: T }, value: T): () => void {
  return () => {
    state.value = value;
  };
}

export function toggle(state: { value: boolean }): void {
  state.value = !state.value;
}

interface SegmentsProps<T extends string | number> {
  readonly legend: string;
  readonly name: string;
  readonly state: { value: T };
  /** Value → label. */
  readonly choices: readonly (readonly [value: T, label: string])[] | Readonly<Record<T, string>>;
  /** `choice`: round buttons with words beside them. */
  readonly look?: 'segments' | 'choice';
}

/** One of a few choices. */
export function Segments<T extends string | number>(props: SegmentsProps<T>) {
  const { legend, name, state, choices, look = 'segments' } = props;
  const listed = Symbol.iterator in choices ? choices : (Object.entries(choices) as [T, string][]);
  return (
    <fieldset class={look}>
      <legend>{legend}</legend>
      {listed.map(([value, label]) => (
        <label key={value}>
          <input type="radio" name={name} checked={state.value === value} onChange={assign(state, value)} />
          <span>{label}</span>
        </label>
      ))}
    </fieldset>
  );
}

interface SelectProps {
  readonly id?: string;
  readonly 'aria-label'?: string;
  readonly value: string | number;
  readonly choices: readonly (readonly [value: string | number, label: string])[];
  onSelect(value: string): void;
}

export function Select({ choices, onSelect, ...rest }: SelectProps) {
  return (
    <select {...rest} onChange={({ currentTarget }) => onSelect(currentTarget.value)}>
      {choices.map(([value, label]) => (
        <option key={value} value={value}>
          {label}
        </option>
      ))}
    </select>
  );
}

/**
 * For a field that is read when it is left, and shows then what holds. While somebody types in it the page may be drawn anew:
 * only another value replaces what is typed.
 * @param onLeave gets what was typed; where it changes the value later, it returns a promise
 */
export function useLateText(value: string, onLeave: (text: string) => unknown) {
  const field = useRef<HTMLInputElement>(null);
  const held = useRef(value);
  const showHeld = (): void => {
    if (field.current !== null) field.current.value = held.current;
  };
  useLayoutEffect(() => {
    held.current = value;
    showHeld();
  }, [value]);
  return {
    ref: field,
    onChange: async () => {
      await onLeave(field.current?.value ?? '');
      showHeld();
    },
  };
}

/** A number that leaves the bounds becomes the nearest one within them; an empty field becomes the least. */
export function NumberField({
  label,
  state,
  min,
  max = Number.POSITIVE_INFINITY,
}: FieldProps<number> & { readonly min: number; readonly max?: number }) {
  const text = useLateText(String(state.value), (typed) => {
    const value = typed === '' ? min : Number(typed);
    state.value = Math.min(max, Math.max(min, Number.isFinite(value) ? value : min));
  });
  return (
    <label class="field">
      {label}
      <input type="number" min={min} {...(Number.isFinite(max) ? { max } : {})} step="any" required {...text} />
    </label>
  );
}

export function CheckField({ label, state, title }: FieldProps<boolean> & { readonly title?: string }) {
  return (
    <label class="check" title={title}>
      <input type="checkbox" checked={state.value} onChange={() => toggle(state)} />
      {label}
    </label>
  );
}

/** For a field of text: shows a state, and sets it as the user types. */
export function bindText(state: { value: string }) {
  return {
    value: state.value,
    onInput: ({ currentTarget }: { currentTarget: HTMLInputElement | HTMLTextAreaElement }) => {
      state.value = currentTarget.value;
    },
  };
}

export function SearchField({ label, state }: FieldProps<string>) {
  return <input type="search" placeholder={label} aria-label={label} {...bindText(state)} />;
}

interface FileButtonProps {
  readonly label: string;
  /** Endings of file names. */
  readonly accept: string;
  readonly title?: string;
  readonly multiple?: boolean;
  onFiles(files: readonly [File, ...File[]]): void;
}

export function FileButton({ label, title, onFiles, ...rest }: FileButtonProps) {
  return (
    <label class="button" title={title}>
      {label}
      <input
        class="visually-hidden"
        type="file"
        {...rest}
        onChange={({ currentTarget }) => {
          const [first, ...others] = currentTarget.files ?? [];
          currentTarget.value = '';
          if (first !== undefined) onFiles([first, ...others]);
        }}
      />
    </label>
  );
}
