/** The bar at the top: panels, connection, engine, theme, help. */
import { signal } from '@preact/signals';
import { engine, obstacle, port, portState } from '../port/engine-state.js';
import { assign, Icon, IconButton } from './controls.js';
import { isDark, toggleTheme } from './theme.js';

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
export const panel = signal<Panel>(readHash());

addEventListener('hashchange', () => {
  panel.value = readHash();
  dialog.value = null;
});

/** Whether the engine's side can do what the panel is for. */
export function isOffered(name: Panel): boolean {
  return (name !== 'match' || port.offers.matches) && (name !== 'training' || port.offers.training);
}

/** The dialog that is open. */
export const dialog = signal<'options' | 'help' | 'appearance' | null>(null);

export function Header() {
  return (
    <header class="header">
      <a class="brand" href="#analyse" aria-label="Sardonyx">
        <img src={new URL('../icon.svg', import.meta.url).href} alt="" width={22} height={22} />
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
