/** Where the page starts: header, the panel that the address names, dialogs, notices. */
import '@lichess-org/chessground/assets/chessground.base.css';
import '@lichess-org/chessground/assets/chessground.brown.css';
import '@lichess-org/chessground/assets/chessground.cburnett.css';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ImportedGame } from '../game/game-import.js';
import { AnalysePanel } from './analyse/analyse-panel.js';
import { MatchPanel } from './match/match-panel.js';
import { OptionsDialog } from './options/options-dialog.js';
import { PlayPanel } from './play/play-panel.js';
import { obstacle } from './port/engine-state.js';
import { ASKS_FOR_RELOAD } from './port/site-start.js';
import { ReviewPanel } from './review/review-panel.js';
import { AppearanceDialog } from './shell/appearance.js';
import { assign, Dialog } from './shell/controls.js';
import { dialog, Header, isOffered, panel } from './shell/header.js';
import { bindKeys, listBindings } from './shell/keyboard.js';
import { addNotice, Notices } from './shell/notices.js';
import { acceptDroppedFiles } from './shell/user-files.js';
import { importFile } from './study/import-client.js';
import { openFile, startLibrary } from './study/library.js';
import { TrainingPanel } from './training/training-panel.js';

const closeDialog = assign(dialog, null);

/** The games of a dropped file become an analysis. */
function readDroppedGame(file: File): void {
  const games: ImportedGame[] = [];
  importFile(file, (news) => {
    if (news.type === 'games') {
      games.push(...news.games);
      for (const sentence of news.refusals.slice(0, 1)) addNotice('error', sentence);
      return;
    }
    if (news.problem !== null) addNotice('error', news.problem);
    if (games.length > 0 && openFile(games, 0, file.name)) location.hash = '#analyse';
  });
}

function App() {
  useEffect(() => acceptDroppedFiles(readDroppedGame), []);
  useEffect(
    () =>
      bindKeys([
        { keys: ['?'], help: 'This list', run: assign(dialog, 'help') },
        { keys: ['e'], help: 'Engine: network and options', run: assign(dialog, 'options') },
      ]),
    [],
  );
  return (
    <>
      <Header />
      {obstacle.value !== '' && (
        <p class="obstacle" role="alert">
          {obstacle.value}.{' '}
          {obstacle.value === ASKS_FOR_RELOAD && (
            <button type="button" onClick={() => location.reload()}>
              Load again
            </button>
          )}
        </p>
      )}
      <div class="room">
        <CurrentPanel />
      </div>
      {dialog.value === 'options' && <OptionsDialog onClose={closeDialog} />}
      {dialog.value === 'help' && <KeyList />}
      {dialog.value === 'appearance' && <AppearanceDialog onClose={closeDialog} />}
      <Notices />
    </>
  );
}

function CurrentPanel() {
  if (!isOffered(panel.value)) return <ProgramOnly />;
  if (panel.value === 'play') return <PlayPanel />;
  if (panel.value === 'training') return <TrainingPanel />;
  if (panel.value === 'match') return <MatchPanel />;
  return panel.value === 'review' ? <ReviewPanel /> : <AnalysePanel />;
}

/** For addresses of panels that need more than a page. */
function ProgramOnly() {
  return (
    <main class="panel">
      <p class="panel-hint">
        {panel.value === 'match' ? 'Matches' : 'Training loops'} need the program: start <code>sardonyx board</code>.
      </p>
    </main>
  );
}

const KEY_NAMES: Readonly<Record<string, string>> = {
  ' ': 'Space',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
};

function KeyList() {
  return (
    <Dialog title="Keys" onClose={closeDialog}>
      <dl class="keys">
        {listBindings()
          .filter(({ help }) => help !== '')
          .map(({ keys, help }) => (
            <div key={help}>
              <dt>
                {keys.map((key) => (
                  <kbd key={key}>{KEY_NAMES[key] ?? key}</kbd>
                ))}
              </dt>
              <dd>{help}</dd>
            </div>
          ))}
      </dl>
      <p class="faint">
        With the right mouse button you draw arrows and circles of your own. A move’s menu opens with the right button,
        too; the wheel over the board steps through the game.
      </p>
    </Dialog>
  );
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
void startLibrary();
