/** Settings that the browser keeps. Where it keeps nothing (private windows, full disks) they last as long as the page. */
import { effect, type Signal, signal, untracked } from '@preact/signals';
import { addNotice } from './notices.js';

const PREFIX = 'sardonyx.';

export function readStored(name: string): unknown {
  try {
    return JSON.parse(localStorage.getItem(PREFIX + name) ?? 'null');
  } catch {
    return null;
  }
}

/** @returns false where the browser keeps nothing, or has no more room: the page works without */
export function writeStored(name: string, value: unknown): boolean {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
    return true;
  } catch {
    return false;
  }
}

/** Another tab of this browser has written the value. */
export function watchStored(name: string, listener: (value: unknown) => void): void {
  addEventListener('storage', ({ key }) => {
    if (key === PREFIX + name) listener(readStored(name));
  });
}

/**
 * A signal that the browser remembers.
 * @param isValid what an older version of the page left behind may not be; left out: any value of the same type is
 */
export function storedSignal<T>(
  name: string,
  initial: T,
  isValid = (value: unknown): value is T => typeof value === typeof initial,
): Signal<T> {
  const stored = readStored(name);
  const state = signal<T>(isValid(stored) ? stored : initial);
  let isFirst = true;
  effect(() => {
    const { value } = state;
    if (!isFirst && !writeStored(name, value)) untracked(complain);
    isFirst = false;
  });
  return state;
}

let hasComplained = false;

function complain(): void {
  if (!hasComplained) addNotice('warning', 'The browser does not keep this setting: it lasts as long as this page');
  hasComplained = true;
}

export function isOneOf<T extends string>(...choices: readonly T[]): (value: unknown) => value is T {
  return (value): value is T => choices.includes(value as T);
}

/** Once, when the first game is kept in the browser alone: browsers delete what they keep when they need room, unless they promise not to. */
export function askToPersist(): void {
  const { storage } = navigator;
  if (storage?.persist === undefined || readStored('persist') !== null) return;
  writeStored('persist', true);
  const say = (isKept: boolean): void =>
    isKept
      ? addNotice('note', 'The browser has promised to keep your games until you delete them')
      : addNotice('warning', 'The browser may delete your games when it needs room: save as PGN what you want to keep');
  storage.persist().then(say, () => say(false));
}
