/** A page cannot read folders of tablebases: every function throws. */

function refuse(): never {
  throw new Error('a page has no folders of tablebases');
}

export const closeFile: (descriptor: number) => void = refuse;
export const openFile: (path: string) => number = refuse;
export const readWholeFile: (path: string) => Uint8Array = refuse;
export const readInto: (descriptor: number, bytes: Uint8Array, length: number, position: number) => void = refuse;
export const getSize: (path: string) => number = refuse;
export const listFolder: (folder: string) => string[] = refuse;
export const joinPath: (folder: string, name: string) => string = refuse;
