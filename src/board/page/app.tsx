/** Where the page starts: header, the panel that the address names, dialogs, notices. */
import '@lichess-org/chessground/assets/chessground.base.css';
import '@lichess-org/chessground/assets/chessground.brown.css';
import '@lichess-org/chessground/assets/chessground.cburnett.css';
import { signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import type { ImportedGame } from '../game/game-list.js';
import { AnalysePanel } from './analyse/analyse-panel.js';
import { PlayPanel } from './play/play-panel.js';
import { engine, obstacle, port, portState } from './port/engine-port.js';
import { ASKS_FOR_RELOAD } from './port/site-start.js';
import { AppearanceDialog, isDark, toggleTheme } from './shell/appearance.js';
import { assign, Button, Dialog, Icon, IconButton, later } from './shell/controls.js';
import { bindKeys, listBindings } from './shell/keyboard.js';
import { addNotice, Notices } from './shell/notices.js';
import { acceptDroppedFiles, importFile } from './shell/user-files.js';
import { openFile, startLibrary } from './study/library.js';

const MatchPanel = later(async () => (await import('./match/match-panel.js')).MatchPanel);
const ReviewPanel = later(async () => (await import('./review/review-panel.js')).ReviewPanel);
const TrainingPanel = later(async () => (await import('./training/training-panel.js')).TrainingPanel);
const OptionsDialog = later(async () => (await import('./options/options-dialog.js')).OptionsDialog);

const PANELS = ['analyse', 'play', 'review', 'match', 'training'] as const;
type Panel = (typeof PANELS)[number];

const PANEL_NAMES: Readonly<Record<Panel, string>> = {
  analyse: 'Analyse',
  play: 'Play',
  review: 'Review',
  match: 'Match',
  training: 'Training',
};

function readHash(): Panel {
  const name = location.hash.slice(1);
  return PANELS.find((panel) => panel === name) ?? 'analyse';
}

/** The panel that is shown: the hash of the address, so that the browser's back button works. */
const panel = signal<Panel>(readHash());

addEventListener('hashchange', () => {
  panel.value = readHash();
});

/** Whether the engine's side can do what the panel is for. */
function isOffered(name: Panel): boolean {
  return (name !== 'match' || port.offers.matches) && (name !== 'training' || port.offers.training);
}

/** The dialog that is open. */
const dialog = signal<'options' | 'help' | 'appearance' | null>(null);

function Header() {
  return (
    <header class="header">
      <a class="brand" href="#analyse" aria-label="Sardonyx">
        <img src={new URL('./icon.svg', import.meta.url).href} alt="" width={22} height={22} />
        <span>Sardonyx</span>
      </a>
      <nav class="nav" aria-label="Panels">
        {PANELS.filter(isOffered).map((name) => (
          <a key={name} href={`#${name}`} aria-current={panel.value === name ? 'page' : undefined}>
            {PANEL_NAMES[name]}
          </a>
        ))}
      </nav>
      <span class="spacer" />
      {portState.value === 'lost' && (
        <span class="lost" role="alert" title={obstacle.value || 'No connection: trying again …'}>
          <span class="lost-words">{obstacle.value === '' ? 'No connection' : 'No engine'}</span>
        </span>
      )}
      <button
        type="button"
        class="header-engine"
        aria-label="Engine"
        onClick={assign(dialog, 'options')}
        disabled={engine.value === null}
        title="Network and options (e)"
      >
        <Icon name="engine" />
        <span>Engine</span>
      </button>
      <IconButton
        label="Board and pieces"
        title="Board, pieces, sounds"
        icon="board"
        onClick={assign(dialog, 'appearance')}
      />
      <IconButton
        label={isDark.value ? 'Light colours' : 'Dark colours'}
        icon={isDark.value ? 'sun' : 'moon'}
        onClick={toggleTheme}
      />
      <IconButton label="Keys" title="Keys (?)" icon="keyboard" class="header-keys" onClick={assign(dialog, 'help')} />
    </header>
  );
}

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
  const canRestart = port.restart !== undefined;
  const hasNetwork = engine.value === null || engine.value.running !== null;
  const problem = obstacle.value || (canRestart && !hasNetwork && engine.value?.problem) || '';
  return (
    <>
      <Header />
      {problem !== '' && (
        <p class="obstacle" role="alert">
          {problem}.{' '}
          {problem === ASKS_FOR_RELOAD ? (
            <Button label="Load again" onClick={() => location.reload()} />
          ) : (
            canRestart && <Button label="Try again" onClick={() => port.restart?.()} />
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
