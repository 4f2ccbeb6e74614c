/** The bar at the top: panels, connection, engine, theme, help. */
import { signal } from '@preact/signals';
import { engine, obstacle, port, portState } from '../port/engine-state.js';
import { Icon } from './controls.js';
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
});

/** Whether the engine's side can do what the panel is for. */
export function isOffered(name: Panel): boolean {
  return (name !== 'match' || port.offers.matches) && (name !== 'training' || port.offers.training);
}

interface HeaderProps {
  onOptions(): void;
  onHelp(): void;
  onAppearance(): void;
}

export function Header({ onOptions, onHelp, onAppearance }: HeaderProps) {
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
        <span class="lost" role="alert">
          {obstacle.value === '' ? 'No connection' : 'No engine'}
        </span>
      )}
      <button
        type="button"
        class="header-engine"
        aria-label="Engine"
        onClick={onOptions}
        disabled={engine.value === null}
        title="Network and options (e)"
      >
        <Icon name="engine" />
        <span>Engine</span>
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label="Board and pieces"
        title="Board, pieces, sounds"
        onClick={onAppearance}
      >
        <Icon name="board" />
      </button>
      <button
        type="button"
        class="icon-button"
        onClick={toggleTheme}
        aria-label={isDark.value ? 'Light colours' : 'Dark colours'}
        title={isDark.value ? 'Light colours' : 'Dark colours'}
      >
        <Icon name={isDark.value ? 'sun' : 'moon'} />
      </button>
      <button type="button" class="icon-button header-keys" onClick={onHelp} aria-label="Keys" title="Keys (?)">
        <Icon name="keyboard" />
      </button>
    </header>
  );
}
