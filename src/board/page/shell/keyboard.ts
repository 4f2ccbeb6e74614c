/**
 * Keys. One table says which key does what, and no key stands in it twice; a panel says what of it can be done there. Whatever uses
 * a key itself (fields, sliders, rows of tabs) keeps it, and so do combinations with Ctrl, Alt or Meta that the table does not name.
 */
import { storedSignal } from './stored.js';

interface KeyRow {
  /** As KeyboardEvent.key has it; letters in lower case; with Ctrl or Meta `Ctrl+z`; with Shift `Shift+Home`. */
  readonly keys: readonly string[];
  /** What it does, for the list of keys. */
  readonly help: string;
}

export const KEYS = {
  back: { keys: ['ArrowLeft', 'k'], help: 'Back' },
  forward: { keys: ['ArrowRight', 'j'], help: 'Forward' },
  up: { keys: ['ArrowUp'], help: 'At a fork the move above, elsewhere to the start' },
  down: { keys: ['ArrowDown'], help: 'At a fork the move below, elsewhere to the end' },
  start: { keys: ['Home'], help: 'To the start' },
  end: { keys: ['End'], help: 'To the end' },
  leaveVariation: { keys: ['Shift+ArrowLeft'], help: 'Out of the variation' },
  nextVariation: { keys: ['v'], help: 'Next variation' },
  previousGame: { keys: ['PageUp'], help: 'Previous game of the file' },
  nextGame: { keys: ['PageDown'], help: 'Next game of the file' },
  nextMistake: { keys: ['n'], help: 'To the next bad move, or the next mistake to learn from' },
  leave: { keys: ['Escape'], help: 'Back from the mistakes to the review' },
  flip: { keys: ['f'], help: 'Flip the board' },
  type: { keys: ['/'], help: 'Type a move, -- to pass, a FEN or a PGN' },
  pass: { keys: ['-'], help: 'Null move: pass the turn' },
  undo: { keys: ['Ctrl+z'], help: 'Take the last change back' },
  comment: { keys: ['c'], help: 'Comment on the move' },
  glyph1: { keys: ['1'], help: 'Good move (!)' },
  glyph2: { keys: ['2'], help: 'Mistake (?)' },
  glyph3: { keys: ['3'], help: 'Brilliant move (!!)' },
  glyph4: { keys: ['4'], help: 'Blunder (??)' },
  glyph5: { keys: ['5'], help: 'Interesting move (!?)' },
  glyph6: { keys: ['6'], help: 'Dubious move (?!)' },
  copy: { keys: ['Ctrl+c'], help: 'Copy the FEN, or what is selected' },
  save: { keys: ['Ctrl+s'], help: 'Save all games of the file' },
  load: { keys: ['p'], help: 'Paste or open games, a FEN or a PGN' },
  engine: { keys: ['l'], help: 'Engine on or off' },
  bestMove: { keys: [' '], help: 'Play the engine’s best move; without the engine: switch it on' },
  threat: { keys: ['x'], help: 'Threats: what the opponent would play' },
  arrows: { keys: ['a'], help: 'Arrows on or off' },
  policy: { keys: ['o'], help: 'Arrows of the search or of the policy' },
  numbers: { keys: ['s'], help: 'Numbers on the squares on or off' },
  hint: { keys: ['h'], help: 'In a game: hint' },
  takeBack: { keys: ['t', 'Backspace'], help: 'In a game: take back' },
  moveNow: { keys: ['m'], help: 'In a game: the engine moves now' },
  options: { keys: ['e'], help: 'Engine: network and options' },
  help: { keys: ['?'], help: 'This list' },
} as const satisfies Readonly<Record<string, KeyRow>>;

type Deed = keyof typeof KEYS;

/** What can be done where it is bound. */
export type KeyBindings = Partial<Readonly<Record<Deed, () => void>>>;

const DEEDS: ReadonlyMap<string, Deed> = new Map(
  Object.entries(KEYS).flatMap(([deed, { keys }]) => keys.map((key) => [key, deed as Deed])),
);

/** Keys of one sign without Ctrl: speech recognition and unsteady hands press them by mistake. Space stays. */
export const usesSigns = storedSignal('keys.signs', true);

const layers: KeyBindings[] = [];
const TEXT_FIELD =
  'textarea, select, [contenteditable], input:not([type=checkbox], [type=radio], [type=range], [type=file])';
/** These move with the arrows, the first ones also after a click; `data-keys` marks rows of buttons that do so (see `moveInRow`), and the board. */
const ALWAYS_MOVING = '[type=range], [role=menu] *';
const MOVING = '[type=radio], [role=tab], [data-keys], [data-keys] *';

/**
 * Whether what has the focus got it by a click. Who has clicked a tab and presses an arrow wants to step through the game; who has
 * come to the tab with the keyboard wants the next tab.
 */
let isPointed = false;
let isPressed = false;

addEventListener(
  'pointerdown',
  () => {
    isPointed = true;
    isPressed = true;
  },
  { capture: true },
);
for (const type of ['pointerup', 'pointercancel']) {
  // The click and the focus that it gives come behind it.
  addEventListener(type, () => setTimeout(() => (isPressed = false)), { capture: true });
}
addEventListener(
  'keydown',
  ({ key }) => {
    if (key === 'Tab') isPointed = false;
  },
  { capture: true },
);
addEventListener(
  'focusin',
  () => {
    if (!isPressed) isPointed = false;
  },
  { capture: true },
);

/** Whether the arrows belong to what has the focus: the keyboard has brought it, not a click. */
export function ownsArrows(): boolean {
  return !isPointed;
}

/** The keys of the newest layer come first. @returns a function that takes them away */
export function bindKeys(bindings: KeyBindings): () => void {
  layers.push(bindings);
  return () => {
    layers.splice(layers.indexOf(bindings), 1);
  };
}

/** Whether the element with the focus needs the key itself. */
function isTaken(key: string, target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement)) return false;
  if (target.matches(TEXT_FIELD)) return true;
  if (/^(Arrow|Home$|End$|Page)/.test(key))
    return target.matches(isPointed ? ALWAYS_MOVING : `${ALWAYS_MOVING}, ${MOVING}`);
  return (key === ' ' || key === 'Enter') && target.matches('button, a, summary, [role=button], input');
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.altKey) return;
  if (document.querySelector('dialog[open], :popover-open') !== null) return;
  // Out of a field of text: then the keys are the board's again.
  if (event.key === 'Escape' && event.target instanceof HTMLElement && event.target.matches(TEXT_FIELD))
    event.target.blur();
  const isSign = event.key.length === 1;
  const hasControl = event.ctrlKey || event.metaKey;
  if (isSign && !hasControl && event.key !== ' ' && !usesSigns.value) return;
  // A sign without Ctrl has its Shift in it.
  const prefix = (hasControl ? 'Ctrl+' : '') + (event.shiftKey && (hasControl || !isSign) ? 'Shift+' : '');
  const deed = DEEDS.get(prefix + (isSign ? event.key.toLowerCase() : event.key));
  // Saving is no business of a field.
  if (deed !== 'save' && isTaken(event.key, event.target)) return;
  const run = deed && layers.findLast((layer) => layer[deed] !== undefined)?.[deed];
  if (run === undefined || (deed === 'copy' && getSelection()?.isCollapsed === false)) return;
  event.preventDefault();
  run();
});

/**
 * For a row of buttons that is one tab stop: the arrows move the focus within it. The row carries `data-keys`.
 */
export function moveInRow(event: KeyboardEvent & { readonly currentTarget: HTMLElement }): void {
  const step = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (step === undefined || event.defaultPrevented || (isPointed && event.currentTarget.role !== 'menu')) return;
  const stops = [...event.currentTarget.querySelectorAll<HTMLElement>('button, a')].filter((stop) =>
    stop.checkVisibility(),
  );
  const next = stops[stops.indexOf(document.activeElement as HTMLElement) + step];
  event.preventDefault();
  next?.focus();
}
