/** Games and positions that the user gives: files, texts that are pasted or typed. Games become the analysis on the board as they are read. */
import { signal } from '@preact/signals';
import { addNotice, refusals } from '../shell/notices.js';
import { mode, room, showStudy } from '../shell/rooms.js';
import { importFiles, nameGames } from '../shell/user-files.js';
import {
  addChapters,
  analysisId,
  analysisName,
  beginAnalysis,
  chapters,
  loadReader,
  openKnown,
} from './open-analysis.js';
import { study } from './study.js';

/** Of the files that are being read: 0 to 1; null when none are. */
export const readShare = signal<number | null>(null);
/** Key of the collection that the room of games shows; '' = the file that is open, or else what is kept. */
export const chosenCollection = signal('');
/** The field for a text in the room of games is to have the focus. */
export const wantsText = signal(false);

let stopReading: () => void = () => undefined;

export function openGamesRoom(): void {
  wantsText.value = true;
  location.hash = 'games';
}

/**
 * One game is shown on the board; several, too, unless the room of games is shown. Games that were opened before come as they were
 * left. @param name of the files. @param onOpened the first game is there
 */
export async function readGames(
  files: readonly Blob[],
  name = '',
  onOpened: () => void = () => undefined,
): Promise<void> {
  stopReading();
  readShare.value = 0;
  refusals.value = [];
  study.remarks.value = null;
  const source = await nameGames(files);
  await loadReader();
  if (await openKnown(source)) {
    readShare.value = null;
    chosenCollection.value = '';
    addNotice('note', 'Opened before: here it is as you left it');
    if (room.value !== 'games' || chapters.value.length === 1) showStudy();
    onOpened();
    return;
  }
  let id = '';
  stopReading = importFiles(files, (news) => {
    if (news.type === 'games') {
      readShare.value = news.readShare;
      refusals.value = [...refusals.value, ...news.refusals];
      if (id !== '') addChapters(id, news.games);
      const [first, ...others] = news.games;
      if (id !== '' || first === undefined || !beginAnalysis({ games: [first, ...others], name, source })) return;
      id = analysisId.value;
      chosenCollection.value = '';
      if (room.value !== 'games') showStudy();
      onOpened();
      return;
    }
    readShare.value = null;
    const problem = news.problem ?? (id === '' && refusals.value.length === 0 ? 'There is no game in this text' : '');
    if (problem !== '') refusals.value = [...refusals.value, problem];
    const { length } = refusals.value;
    if (length > 0 && room.value !== 'games')
      study.remark(refusals.value[0] + (length === 1 ? '' : ` (and ${length - 1} more: see Games)`));
    if (id === '' && (room.value !== 'board' || mode.value === 'play')) location.hash = 'games';
    if (id === '' || id !== analysisId.value || chapters.value.length > 1) return;
    analysisName.value = '';
    if (length === 0) showStudy();
  });
}
