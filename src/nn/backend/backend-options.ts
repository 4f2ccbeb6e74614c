/**
 * Reads lc0's grammar of backend options: `key=value,key=value,name(key=value,…)`. Values may be quoted. A parenthesis opens a
 * dictionary inside, which also sees the keys of the one around it; no backend reads such a dictionary yet. An option that
 * the backend did not read is an error, so a misspelt name is not silently ignored.
 */
import { failure, type Result, success } from '../../util/index.js';

export class BackendOptions {
  private readonly values = new Map<string, string>();
  private readonly unread = new Set<string>();
  readonly children = new Map<string, BackendOptions>();
  /** Somebody asked for what this sub-dictionary describes, so it counts as read even when it is empty. */
  isUsed = false;

  constructor(private readonly parent: BackendOptions | null = null) {}

  set(key: string, text: string): void {
    this.values.set(key, text);
    this.unread.add(key);
  }

  /** The text of an option, or undefined. Reading it here or in a sub-dictionary counts as read. */
  read(key: string): string | undefined {
    this.unread.delete(key);
    return this.values.get(key) ?? this.parent?.read(key);
  }

  readInteger(key: string, fallback: number, min: number, max: number): number {
    const text = this.read(key);
    if (text === undefined) return fallback;
    const number = Number(text);
    if (!Number.isInteger(number) || text === '' || number < min || number > max) {
      throw new BackendOptionError(`Backend option ${key} must be a whole number from ${min} to ${max}, not "${text}"`);
    }
    return number;
  }

  readFlag(key: string, fallback: boolean): boolean {
    const text = this.read(key);
    if (text === undefined) return fallback;
    if (text === 'true' || text === '1') return true;
    if (text === 'false' || text === '0') return false;
    throw new BackendOptionError(`Backend option ${key} must be true or false, not "${text}"`);
  }

  /** Throws when an option, here or in a sub-dictionary, was never read. */
  refuseUnread(backend: string): void {
    const names = this.listUnread('');
    if (names.length > 0) {
      throw new BackendOptionError(`Backend ${backend} knows no option ${names.map((name) => `"${name}"`).join(', ')}`);
    }
  }

  private listUnread(prefix: string): string[] {
    const names = [...this.unread].map((key) => prefix + key);
    for (const [name, child] of this.children) {
      const inner = child.listUnread(`${prefix}${name}.`);
      const isIgnored = inner.length === 0 && child.values.size === 0 && !child.isUsed;
      names.push(...(isIgnored ? [prefix + name] : inner));
    }
    return names;
  }
}

/** Carries the one sentence for the user. */
export class BackendOptionError extends Error {}

export function parseBackendOptions(text: string): Result<BackendOptions> {
  let at = 0;
  const bad = (what: string): Result<never> => failure(`Backend options "${text}": ${what} at position ${at + 1}`);
  const skipSpaces = (): void => {
    while (text[at] === ' ') at++;
  };
  const readWord = (): string => {
    const start = at;
    while (at < text.length && !',()= "\''.includes(text[at])) at++;
    return text.slice(start, at);
  };
  /** Up to a comma or a parenthesis, so that `devices=0;1` and paths need no quotes. */
  const readValue = (): string | null => {
    const quote = text[at];
    if (quote !== '"' && quote !== "'") {
      const start = at;
      while (at < text.length && !',()'.includes(text[at])) at++;
      return text.slice(start, at).trim();
    }
    const end = text.indexOf(quote, at + 1);
    if (end < 0) return null;
    const inner = text.slice(at + 1, end);
    at = end + 1;
    return inner;
  };
  const readDictionary = (into: BackendOptions, depth: number): Result<BackendOptions> => {
    for (;;) {
      skipSpaces();
      const key = readWord();
      skipSpaces();
      if (key !== '' && text[at] === '=') {
        at++;
        skipSpaces();
        const found = readValue();
        if (found === null) return bad('a quote is not closed');
        into.set(key, found);
      } else if (text[at] === '(') {
        at++;
        const child = new BackendOptions(into);
        into.children.set(key === '' ? `[${into.children.size + 1}]` : key, child);
        const inner = readDictionary(child, depth + 1);
        if (!inner.ok) return inner;
        if (text[at] !== ')') return bad('a closing parenthesis is missing');
        at++;
      } else if (key !== '') {
        return bad(`"${key}" needs a value (${key}=…)`);
      }
      skipSpaces();
      if (text[at] === ',') at++;
      else if (at === text.length || (depth > 0 && text[at] === ')')) return success(into);
      else return bad(`unexpected "${text[at]}"`);
    }
  };
  return readDictionary(new BackendOptions(), 0);
}
