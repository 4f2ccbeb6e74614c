/** Folders with tables that tests make: enough to win with a queen, a rook or a pawn against the bare king. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createTableFile } from './syzygy-writer.js';

const PIECES = { Q: 5, R: 4, P: 1 } as const;
const WIN = 4;
const LOSS = 0;

export function createTableFolder(files: Readonly<Record<string, Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'sardonyx-syzygy-'));
  for (const [name, bytes] of Object.entries(files)) writeFileSync(join(folder, name), bytes);
  return folder;
}

export async function withTableFolder(
  files: Readonly<Record<string, Buffer>>,
  use: (folder: string) => Promise<void> | void,
): Promise<void> {
  const folder = createTableFolder(files);
  try {
    await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Whoever has the piece wins, in `dtzValue` more moves than one; true but for stalemates and the like. */
export function createWonTables(piece: keyof typeof PIECES, dtzValue = 0): Record<string, Buffer> {
  const code = PIECES[piece];
  const pieces = [code, 6, 14];
  const pawns = piece === 'P' ? 'one side' : 'none';
  const files = piece === 'P' ? 4 : 1;
  const repeat = <T>(part: T): T[] => Array.from({ length: files }, () => part);
  const wdl = createTableFile({
    kind: 'wdl',
    pawns,
    parts: repeat([
      { pieces, values: WIN },
      { pieces, values: LOSS },
    ]),
  });
  const dtz = createTableFile({ kind: 'dtz', pawns, parts: repeat([{ pieces, values: dtzValue }]) });
  return { [`K${piece}vK.rtbw`]: wdl, [`K${piece}vK.rtbz`]: dtz };
}
