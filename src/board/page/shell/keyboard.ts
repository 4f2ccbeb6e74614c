/**
 * Keys. A panel says what its keys do; fields that take text keep theirs, and so do combinations with Ctrl, Alt or Meta, which
 * are the browser's.
 */
export interface KeyBinding {
  /** As KeyboardEvent.key has it; letters in lower case. */
  readonly keys: readonly string[];
  /** For the list of keys; empty = not listed. */
  readonly help: string;
  run(): void;
}

const layers: (readonly KeyBinding[])[] = [];

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

function takesText(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  return target.matches('input:not([type=checkbox]):not([type=range]), textarea, select, [contenteditable]');
}

/** Buttons and links are pressed by the space bar themselves. */
function takesSpace(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && target.matches('button, a, summary, [role=button], input');
}

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || takesText(event.target)) return;
  if (document.querySelector('dialog[open]') !== null) return;
  const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
  if ((key === ' ' || key === 'Enter') && takesSpace(event.target)) return;
  const binding = listBindings().find(({ keys }) => keys.includes(key));
  if (binding === undefined) return;
  event.preventDefault();
  binding.run();
});
