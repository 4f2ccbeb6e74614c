/** How the page looks and sounds: light or dark colours, colours of the board, pieces, sounds. */
import { computed, effect, signal } from '@preact/signals';
import { CheckField, Dialog, Segments } from './controls.js';
import { addNotice } from './notices.js';
import { isOneOf, readStored, storedSignal, writeStored } from './stored.js';

/* Light or dark: the system's choice until the user makes one. */
const system = matchMedia('(prefers-color-scheme: dark)');
const systemIsDark = signal(system.matches);
system.addEventListener('change', () => {
  systemIsDark.value = system.matches;
});

/** The user wants no movement on the screen. */
export const reducesMotion = matchMedia('(prefers-reduced-motion: reduce)').matches;

const choice = storedSignal('theme', 'system', isOneOf('system', 'light', 'dark'));

export const isDark = computed(() => (choice.value === 'system' ? systemIsDark.value : choice.value === 'dark'));

effect(() => {
  document.documentElement.dataset.theme = isDark.value ? 'dark' : 'light';
});

export function toggleTheme(): void {
  choice.value = isDark.value ? 'light' : 'dark';
}

/** A colour as a canvas understands it. @param name a CSS colour, or a variable of the theme such as `--accent` */
export function readColor(name: string): string {
  const value = name.startsWith('--') ? getComputedStyle(document.documentElement).getPropertyValue(name).trim() : name;
  return value === '' ? '#888888' : value;
}

type Colors = readonly [light: string, dark: string];

const BOARDS = {
  brown: ['#f0d9b5', '#b58863'],
  blue: ['#dee3e6', '#8ca2ad'],
  green: ['#ffffdd', '#86a666'],
  grey: ['#dcdcdc', '#a0a0a0'],
} as const satisfies Record<string, Colors>;

const board = storedSignal('board', 'brown', isOneOf('brown', 'blue', 'green', 'grey', 'own'));
const ownColors = storedSignal<Colors>('board.colors', BOARDS.brown, isColors);

function isColors(value: unknown): value is Colors {
  return Array.isArray(value) && value.length === 2 && value.every((color) => /^#[0-9a-f]{6}$/.test(String(color)));
}

effect(() => {
  const [light, dark] = board.value === 'own' ? ownColors.value : BOARDS[board.value];
  const { style } = document.documentElement;
  style.setProperty('--board-light', light);
  style.setProperty('--board-dark', dark);
});

if (readStored('pieces') !== null) {
  addNotice(
    'note',
    'Your own pictures of pieces are not shown any more: choose one of the three sets in Board and sounds',
  );
  writeStored('pieces', null);
}

type PieceSet = keyof typeof PIECES;

const PIECES = { cburnett: 'Cburnett', merida: 'Merida', fancy: 'Kryukov' } as const;
/** The style sheets of all but the first set, which is in the page's own. */
const PIECE_SHEETS: Partial<Record<PieceSet, () => Promise<unknown>>> = {
  merida: () => import('../styles/pieces-merida.css'),
  fancy: () => import('../styles/pieces-fancy.css'),
};
const pieces = storedSignal<PieceSet>('pieceSet', 'cburnett', isOneOf('cburnett', 'merida', 'fancy'));

effect(() => {
  const { value } = pieces;
  const show = (): void => {
    if (value === pieces.peek()) document.documentElement.dataset.pieces = value;
  };
  // Without its sheet a set looks like the first one.
  Promise.resolve(PIECE_SHEETS[value]?.()).then(show, show);
});

const hasSounds = storedSignal('sounds', false);
let audio: AudioContext | null = null;

/** A short knock, lower and longer for a capture. */
export function playMoveSound(isCapture: boolean): void {
  if (!hasSounds.value) return;
  audio ??= new AudioContext();
  const [frequency, seconds] = isCapture ? [180, 0.09] : [320, 0.05];
  const oscillator = new OscillatorNode(audio, { type: 'triangle', frequency });
  const gain = new GainNode(audio, { gain: 0.25 });
  gain.gain.exponentialRampToValueAtTime(0.001, audio.currentTime + seconds);
  oscillator.connect(gain).connect(audio.destination);
  oscillator.start();
  oscillator.stop(audio.currentTime + seconds);
}

export function AppearanceDialog({ onClose }: { onClose(): void }) {
  const renderColor = (label: string, place: 0 | 1) => (
    <label class="field-inline">
      {label}{' '}
      <input
        type="color"
        value={ownColors.value[place]}
        onInput={({ currentTarget }) => {
          const [light, dark] = ownColors.value;
          ownColors.value = place === 0 ? [currentTarget.value, dark] : [light, currentTarget.value];
        }}
      />
    </label>
  );
  return (
    <Dialog title="Board and sounds" onClose={onClose}>
      <Segments legend="Pieces" name="pieces" state={pieces} choices={PIECES} />
      <Segments
        legend="Squares"
        name="board"
        state={board}
        choices={{ brown: 'Brown', blue: 'Blue', green: 'Green', grey: 'Grey', own: 'Own colours' }}
      />
      {board.value === 'own' && (
        <div class="button-row">
          {renderColor('Light squares', 0)}
          {renderColor('Dark squares', 1)}
        </div>
      )}
      <CheckField label="Sounds" state={hasSounds} />
    </Dialog>
  );
}
