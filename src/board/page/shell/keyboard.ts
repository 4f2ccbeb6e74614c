/**
 * Keys. A panel says what its keys do; whatever uses a key itself (fields, sliders, rows of tabs) keeps it, and so do
 * combinations with Ctrl, Alt or Meta, which are the browser's unless a binding names them.
 */
export interface KeyBinding {
  /** As KeyboardEvent.key has it; letters in lower case; with Ctrl or Meta `Ctrl+z`. */
  readonly keys: readonly string[];
  /** For the list of keys; empty = not listed. */
  readonly help: string;
  run(): void;
}

const layers: (readonly KeyBinding[])[] = [];
const TEXT_FIELD =
  'textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range], [type=file])';
/** These move with the arrows; `data-keys` marks rows of buttons that do so (see `moveInRow`). */
const MOVING = '[type=radio], [type=range], [role=tab], [data-keys] *';

/** The keys of the newest layer come first. @returns a function that takes them away */
export function bindKeys(bindings: readonly KeyBinding[]): () => void {
  layers.push(bindings);
  return () => {
    layers.splice(layers.indexOf(bindings), 1);
  };
}

export function listBindings(): readonly KeyBinding[] {
  return layers.toReversed().flat();
}

/** Whether the element with the focus needs the key itself. */
function isTaken(key: string, target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches(TEXT_FIELD)) return true;
  if (/^(Arrow|Home$|End$|Page)/.test(key)) return target.matches(MOVING);
  return (key === ' ' || key === 'Enter') && target.matches('button, a, summary, [role=button], input');
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.altKey || isTaken(event.key, event.target)) return;
  if (document.querySelector('dialog[open]') !== null) return;
  const letter = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  const key = event.ctrlKey || event.metaKey ? `Ctrl+${letter}` : letter;
  const binding = listBindings().find(({ keys }) => keys.includes(key));
  if (binding === undefined) return;
  event.preventDefault();
  binding.run();
});

/**
 * For a row of buttons that is one tab stop: the arrows move the focus within it. The row carries `data-keys`.
 */
export function moveInRow(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step === undefined) return;
  const buttons = [...event.currentTarget.querySelectorAll<HTMLElement>('button')];
  const next = buttons[buttons.indexOf(document.activeElement as HTMLElement) + step];
  event.preventDefault();
  next?.focus();
}
