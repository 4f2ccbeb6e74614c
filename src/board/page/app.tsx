/** Where the page starts: header, the room that the address names, dialogs, notices. */
import '@lichess-org/chessground/assets/chessground.base.css';
import '@lichess-org/chessground/assets/chessground.brown.css';
import '@lichess-org/chessground/assets/chessground.cburnett.css';
import { signal } from '@preact/signals';
import { render } from 'preact';
import { AnalysePanel } from './analyse/analyse-panel.js';
import { Header } from './header.js';
import { engine, obstacle, port, RESTARTED } from './port/engine-port.js';
import { ASKS_FOR_RELOAD } from './port/site-start.js';
import { mistakes, startReviews } from './review/review-session.js';
import { AppearanceDialog } from './shell/appearance.js';
import { assign, Button, CheckField, Dialog, later } from './shell/controls.js';
import { bindKeys, KEYS, usesSigns } from './shell/keyboard.js';
import { Notices, outdated } from './shell/notices.js';
import { mode, room } from './shell/rooms.js';
import { acceptGames } from './shell/user-files.js';
import { startAnalyses } from './study/open-analysis.js';
import { readGames } from './study/open-games.js';

const PlayPanel = later(async () => (await import('./play/play-panel.js')).PlayPanel);
const MatchPanel = later(async () => (await import('./match/match-panel.js')).MatchPanel);
const TrainingPanel = later(async () => (await import('./training/training-panel.js')).TrainingPanel);
const GamesPanel = later(async () => (await import('./games/games-panel.js')).GamesPanel);
const MistakesPanel = later(async () => (await import('./review/mistakes.js')).MistakesPanel);
const OptionsDialog = later(async () => (await import('./options/options-dialog.js')).OptionsDialog);

/** The dialog that is open. */
const dialog = signal<'options' | 'help' | 'appearance' | null>(null);

const closeDialog = assign(dialog, null);

function App() {
  const isInside = !port.hasServer;
  const hasNetwork = engine.value === null || engine.value.running !== null;
  const problem = obstacle.value || (isInside && !hasNetwork && engine.value?.problem) || outdated.value;
  return (
    <>
      <Header onDialog={(name) => assign(dialog, name)()} />
      {problem !== '' && (
        <p class="obstacle line-below" role="alert">
          {problem}.{' '}
          {[ASKS_FOR_RELOAD, outdated.value].includes(problem) ? (
            <Button label="Load again" onClick={() => location.reload()} />
          ) : (
            isInside && <Button label="Try again" onClick={() => port.reconnect()} />
          )}
          {problem === RESTARTED && (
            <a class="button" href="/">
              Enter the address here
            </a>
          )}
        </p>
      )}
      <div class="room">
        <CurrentRoom />
      </div>
      {dialog.value === 'options' && <OptionsDialog onClose={closeDialog} />}
      {dialog.value === 'help' && <KeyList />}
      {dialog.value === 'appearance' && <AppearanceDialog onClose={closeDialog} />}
      <Notices />
    </>
  );
}

function CurrentRoom() {
  if (room.value === 'training') return port.hasServer ? <TrainingPanel /> : <ProgramOnly what="Training loops" />;
  if (room.value === 'match') return port.hasServer ? <MatchPanel /> : <ProgramOnly what="Matches" />;
  if (room.value === 'games') return <GamesPanel />;
  if (mode.value === 'play') return <PlayPanel />;
  return mistakes.value.length > 0 ? <MistakesPanel /> : <AnalysePanel />;
}

/** For addresses of rooms that need more than a page. */
function ProgramOnly({ what }: { readonly what: string }) {
  return (
    <main class="panel-room panel-hint">
      {what} need the program: start <code>sardonyx board</code>.
    </main>
  );
}

const KEY_NAMES: Readonly<Record<string, string>> = {
  ' ': 'Space',
  ArrowLeft: '←',
  ArrowRight: '→',
  ArrowUp: '↑',
  ArrowDown: '↓',
  PageUp: 'Page ↑',
  PageDown: 'Page ↓',
};

function KeyList() {
  return (
    <Dialog title="Keys" onClose={closeDialog}>
      <CheckField
        label="Keys of one letter or sign"
        state={usesSigns}
        title="Without them only arrows, Space, Home, End, Escape and keys with Ctrl do something"
      />
      <dl class="keys">
        {Object.values(KEYS).map(({ keys, help }) => (
          <div key={keys[0]}>
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
        The arrows belong to the board after a click, and to a row of tabs or buttons that you reached with Tab. With
        the right mouse button you draw arrows and circles of your own. A move’s menu opens with the right button, too;
        the wheel over the board steps through the game.
      </p>
    </Dialog>
  );
}

if (port.hasServer) void import('./match/match-session.js').then(({ watchRunningMatches }) => watchRunningMatches());
const root = document.getElementById('app');
if (root !== null) render(<App />, root);
acceptGames((files, name) => void readGames(files, name));
bindKeys({ help: assign(dialog, 'help'), options: assign(dialog, 'options') });
void startAnalyses().finally(() => port.begin?.());
startReviews();
