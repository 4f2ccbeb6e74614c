/**
 * The opening books that matches may use: those of `--book`, those that a page has sent, and those that the matches' folder keeps.
 * A page, and the files of a match, send a name of this list. A book is read in a thread of its own, where its unpacking stops nobody.
 */
import { constants, lstatSync } from 'node:fs';
import { copyFile, mkdir } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { checkFile } from './file-check.js';
import { isPlainFile } from './match-record.js';

interface OfferedBook {
  readonly path: string;
  /** Of its content, if a page has sent it: it lies in a folder that goes away with the server. */
  readonly digest: string | null;
}

export class MatchBooks {
  private readonly books = new Map<string, OfferedBook>();

  private constructor() {}

  /** Rejects with the sentence for the user when a book cannot be read. */
  static async open(paths: readonly string[]): Promise<MatchBooks> {
    const books = new MatchBooks();
    for (const path of paths) {
      await checkFile({ kind: 'book', path });
      books.books.set(basename(path), { path: resolve(path), digest: null });
    }
    return books;
  }

  get names(): readonly string[] {
    return [...this.books.keys()];
  }

  /** Offers a file that a page has sent. Rejects with the sentence for the user when it is no book. @returns its name in the list */
  async add(name: string, path: string): Promise<string> {
    const digest = await checkFile({ kind: 'book', path }, name);
    let unique = name;
    for (let number = 2; this.books.has(unique); number++) unique = `${number}-${name}`;
    this.books.set(unique, { path, digest });
    return unique;
  }

  /**
   * One that a page has sent is copied first, for a match needs its book as long as it goes on.
   * @returns the name by which `find` knows it
   */
  async keep(name: string, folder: string): Promise<string> {
    const book = this.books.get(name);
    if (book === undefined) throw new Error(`No book of that name is offered: ${name}`);
    if (book.digest === null) return name;
    await mkdir(folder, { recursive: true });
    if (!isPlainFolder(folder)) throw new Error(`${folder} is no folder of the matches: books are not kept there`);
    const kept = `${book.digest}-${name}`;
    await copyFile(book.path, join(folder, kept), constants.COPYFILE_EXCL).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error;
    });
    this.find(kept, folder);
    return kept;
  }

  /** The path of a book. Throws the sentence for the user. @param folder of the books that matches keep */
  find(name: string, folder: string): string {
    const book = this.books.get(name);
    if (book?.digest === null) return book.path;
    const path = join(folder, name);
    if (name === basename(name) && this.isKept(path, folder)) return path;
    throw new Error(`No book of that name is offered: ${name}`);
  }

  /** Throws the sentence for the user when a match would read a file that is no book of the server's. */
  requireOffered(path: string, folder: string): void {
    const offered = [...this.books.values()].some((book) => book.digest === null && book.path === resolve(path));
    if (!offered && !this.isKept(path, folder)) {
      throw new Error(`This match needs the book ${path}: start the server with --book for it`);
    }
  }

  private isKept(path: string, folder: string): boolean {
    return dirname(resolve(path)) === folder && isPlainFolder(folder) && isPlainFile(resolve(path));
  }
}

/** Not a link to one. */
function isPlainFolder(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}
