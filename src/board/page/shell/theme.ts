/** Light or dark: the system's choice until the user makes one. */
import { computed, effect, signal } from '@preact/signals';
import { isOneOf, storedSignal } from './stored.js';

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
