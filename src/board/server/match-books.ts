/** The opening books that matches may use: those of `--book`, and those that a page has sent. A page sends a name of this list. */
import { createHash } from 'node:crypto';
import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { createMatchOpenings } from '../../selfplay/index.js';
import { unwrap } from '../../util/index.js';

interface OfferedBook {
  readonly path: string;
  /** It lies in a folder that goes away with the server. */
  readonly isSent: boolean;
}

export class MatchBooks {
  private readonly books = new Map<string, OfferedBook>();

  /** Throws the sentence for the user when a book cannot be read. */
  constructor(paths: readonly string[]) {
    for (const path of paths) {
      requireBook(path);
      this.books.set(basename(path), { path: resolve(path), isSent: false });
    }
  }

  get names(): readonly string[] {
    return [...this.books.keys()];
  }

  /** Offers a file that a page has sent. Throws the sentence for the user when it is no book. @returns its name in the list */
  add(name: string, path: string): string {
    requireBook(path);
    let unique = name;
    for (let number = 2; this.books.has(unique); number++) unique = `${number}-${name}`;
    this.books.set(unique, { path, isSent: true });
    return unique;
  }

  /** The path of a book. One that a page has sent is copied first, for a match needs its book as long as it goes on. */
  keep(name: string, folder: string): string {
    const book = this.books.get(name);
    if (book === undefined) throw new Error(`No book of that name is offered: ${name}`);
    if (!book.isSent) return book.path;
    const digest = createHash('sha256').update(readFileSync(book.path)).digest('hex').slice(0, 12);
    const path = join(folder, `${digest}-${name}`);
    mkdirSync(folder, { recursive: true });
    if (!existsSync(path)) copyFileSync(book.path, path);
    return path;
  }
}

/** Reads the first opening. */
function requireBook(path: string): void {
  unwrap(createMatchOpenings({ book: path, maxPlies: null, order: 'sequential', seed: 0, games: 2, chess960: true }));
}
