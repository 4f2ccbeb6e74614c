/** Where the page starts: header, the panel that the address names, dialogs, notices. */
import '@lichess-org/chessground/assets/chessground.base.css';
import '@lichess-org/chessground/assets/chessground.brown.css';
import '@lichess-org/chessground/assets/chessground.cburnett.css';
import { signal } from '@preact/signals';
import { render } from 'preact';
import { useEffect } from 'preact/hooks';
import { AnalysePanel } from './analyse/analyse-panel.js';
import { MatchPanel } from './match/match-panel.js';
import { OptionsDialog } from './options/options-dialog.js';
import { PlayPanel } from './play/play-panel.js';
import { ReviewPanel } from './review/review-panel.js';
import { Dialog } from './shell/dialog.js';
import { Header, panel } from './shell/header.js';
import { bindKeys, listBindings } from './shell/keyboard.js';
import { Notices } from './shell/notices.js';
import { TrainingPanel } from './training/training-panel.js';

const dialog = signal<'options' | 'help' | null>(null);

function closeDialog(): void {
  dialog.value = null;
}

function App() {
  useEffect(
    () =>
      bindKeys([
        {
          keys: ['?'],
          help: 'This list',
          run: () => {
            dialog.value = 'help';
          },
        },
        {
          keys: ['e'],
          help: 'Engine: network and options',
          run: () => {
            dialog.value = 'options';
          },
        },
      ]),
    [],
  );
  return (
    <>
      <Header
        onOptions={() => {
          dialog.value = 'options';
        }}
        onHelp={() => {
          dialog.value = 'help';
        }}
      />
      <CurrentPanel />
      {dialog.value === 'options' && <OptionsDialog onClose={closeDialog} />}
      {dialog.value === 'help' && <KeyList />}
      <Notices />
    </>
  );
}

function CurrentPanel() {
  if (panel.value === 'play') return <PlayPanel />;
  if (panel.value === 'training') return <TrainingPanel />;
  if (panel.value === 'match') return <MatchPanel />;
  return panel.value === 'review' ? <ReviewPanel /> : <AnalysePanel />;
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
      <p class="faint">With the right mouse button you draw arrows and circles of your own.</p>
    </Dialog>
  );
}

const root = document.getElementById('app');
if (root !== null) render(<App />, root);
