/** Copies and saves the game on the board, or all games of its file, with what the user wants to have in them. */
import { EXPORT_PARTS, type ExportParts } from '../../game/move-tree-text.js';
import { port } from '../port/engine-port.js';
import { MenuItem, toggle } from '../shell/controls.js';
import { storedSignal } from '../shell/stored.js';
import { copyText, saveFile } from '../shell/user-files.js';
import type { Chapter } from './analysis-store.js';
import { analysisName, chapterIndex, chapters, createLink, keepChapter } from './open-analysis.js';
import { study } from './study.js';

const PARTS = Object.keys(EXPORT_PARTS) as (keyof ExportParts)[];
const wanted = Object.fromEntries(PARTS.map((part) => [part, storedSignal(`export.${part}`, true)]));
/** Games that are written before the page goes on. */
const BATCH = 50;

async function writeGames(games: readonly Chapter[]): Promise<string> {
  const { exportPgn } = await import('../../game/move-tree-reader.js');
  const parts = Object.fromEntries(PARTS.map((part) => [part, wanted[part].value])) as ExportParts;
  const texts: string[] = [];
  for (const { text, judgements = [] } of games) {
    texts.push(`${exportPgn(text, judgements, parts).trimEnd()}\n`);
    if (texts.length % BATCH === 0) await new Promise((resolve) => setTimeout(resolve));
  }
  return texts.join('\n');
}

const readGame = (): Promise<string> => writeGames([keepChapter()[chapterIndex.value]]);

async function saveGame(): Promise<void> {
  saveFile('game.pgn', await readGame());
}

/** All games of the file that is open; one that has no file is saved alone. */
export async function saveGames(): Promise<void> {
  if (chapters.value.length < 2) return saveGame();
  return saveAll(keepChapter(), analysisName.value || 'games');
}

/** @param name with or without endings of files */
export async function saveAll(games: readonly Chapter[], name: string): Promise<void> {
  const stem = name.replace(/\.(?:gz|zst|bz2|zip|tar|tgz|txt|epd|fen|pgn)\b.*$/i, '');
  saveFile(`${stem}.pgn`, await writeGames(games));
}

export function ShareItems() {
  const { length } = chapters.value;
  return (
    <>
      <MenuItem label="Copy PGN" onClick={() => void readGame().then(copyText)} />
      <MenuItem label="Copy FEN" onClick={() => void copyText(study.node.value.fen)} />
      {/* The address of `sardonyx board` leads nobody else anywhere. */}
      {!port.hasServer && <MenuItem label="Copy link" onClick={() => void copyText(createLink())} />}
      <MenuItem label="Save PGN" onClick={() => void saveGame()} />
      {length > 1 && (
        <MenuItem label={`Save all ${length} games`} title="The file (Ctrl+S)" onClick={() => void saveGames()} />
      )}
      {PARTS.map((part) => (
        <MenuItem
          key={part}
          label={EXPORT_PARTS[part]}
          role="menuitemcheckbox"
          aria-checked={wanted[part].value}
          title="In what is copied and saved"
          onClick={(event) => {
            // The menu stays.
            event.stopPropagation();
            toggle(wanted[part]);
          }}
        />
      ))}
    </>
  );
}
