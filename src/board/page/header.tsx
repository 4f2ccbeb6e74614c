/** The header: rooms; in the middle what is on the board; on the right new games, sharing, settings. */
import { computed, effect } from '@preact/signals';
import { unwrap } from '../../base/util/index.js';
import { createChess960Fen, MoveTree } from '../game/move-tree.js';
import { archive, describePlayer, game, gameStudy, prng, wantsNewGame } from './play/play-session.js';
import { describeLoss, engine, obstacle, port, portState, reportError } from './port/engine-port.js';
import { ReviewChip } from './review/review-parts.js';
import { isDark, toggleTheme } from './shell/appearance.js';
import { assign, Button, IconButton, Menu, MenuItem } from './shell/controls.js';
import { ONLY_HERE, unsaved } from './shell/notices.js';
import { activities, mode, RoomLinks, room } from './shell/rooms.js';
import { copyText, saveFile } from './shell/user-files.js';
import { analysisName, beginAnalysis, chapterIndex, chapters, setup } from './study/open-analysis.js';
import { openGamesRoom } from './study/open-games.js';
import { players } from './study/players.js';
import { ShareItems, saveGames } from './study/share-menu.js';
import { study } from './study/study.js';
import { stepChapter, undo } from './study/study-panel.js';

/** What is shown, in words: players of the game, or the room. */
const title = computed(() => {
  if (room.value !== 'board') return { games: 'Games', match: 'Match', training: 'Training' }[room.value];
  if (mode.value === 'play') {
    if (game.value === null) return 'Play against the engine';
    return (['white', 'black'] as const).map((side) => describePlayer(game.value, side).name).join(' – ');
  }
  const names = [players.value.white.name, players.value.black.name];
  const isNamed = names[0] !== 'White' || names[1] !== 'Black';
  return isNamed ? names.join(' – ') : 'Analysis';
});

effect(() => {
  document.title = `${title.value} · Sardonyx`;
});

export function Header({ onDialog }: { onDialog(name: 'options' | 'help' | 'appearance'): void }) {
  const isFile = room.value === 'board' && mode.value !== 'play' && chapters.value.length > 1;
  return (
    <header class="header row line-below">
      <a class="brand row" href={`#${mode.value}`} aria-label="Sardonyx">
        <img src="icon.svg" alt="" width={20} height={20} />
        <span>Sardonyx</span>
      </a>
      <nav class="nav" aria-label="Rooms">
        <RoomLinks />
      </nav>
      <div class="header-title fill row">
        {isFile && renderStep('Previous game', 'back', -1)}
        <h1 class="cut" title={title.value}>
          {isFile && `${chapterIndex.value + 1} / ${chapters.value.length} · `}
          {title.value}
          {isFile && analysisName.value !== '' && <span class="faint"> · {analysisName.value}</span>}
        </h1>
        {isFile && renderStep('Next game', 'forward', 1)}
      </div>
      {Object.entries(activities.value).map(([address, words]) => (
        <a
          key={address}
          class="chip small"
          href={`#${address}`}
          title={words}
          aria-current={address === (room.value === 'board' ? mode.value : room.value) ? 'page' : undefined}
        >
          {words}
        </a>
      ))}
      <UnsavedMark />
      <ReviewChip />
      {portState.value === 'lost' && (
        <span class="lost row" title={obstacle.value || 'The server cannot be reached'}>
          <span class="lost-words">{describeLoss()}</span>
          {obstacle.value === '' && <Button label="Now" onClick={() => port.reconnect()} />}
        </span>
      )}
      {room.value === 'board' && mode.value !== 'play' && (
        <IconButton
          label="Undo"
          title="Take the last change back (Ctrl+Z)"
          icon="undo"
          disabled={study.undos.value.length === 0}
          onClick={undo}
        />
      )}
      <Menu label="New">
        <MenuItem label="Game against the engine" onClick={begin('play', assign(wantsNewGame, true))} />
        <MenuItem label="Empty board" onClick={begin('analyse', () => openPosition())} />
        <MenuItem
          label="Chess960"
          onClick={begin('analyse', () => openPosition(createChess960Fen(prng.nextBelow(960))))}
        />
        <MenuItem label="Set up a position" onClick={begin('analyse', () => assign(setup, study.node.value.fen)())} />
        <MenuItem label="Paste or open …" title="Games, a FEN or PGN, earlier analyses (p)" onClick={openGamesRoom} />
      </Menu>
      {room.value === 'board' && (
        <Menu label="Share">
          {mode.value === 'play' ? <PlayedItems /> : <ShareItems />}
          <MenuItem label="Save picture (SVG)" onClick={() => savePicture('svg')} />
          <MenuItem label="Save picture (PNG)" onClick={() => savePicture('png')} />
        </Menu>
      )}
      <Menu label="Settings" icon="gear">
        <MenuItem
          label="Engine"
          title="Network and options (e)"
          disabled={engine.value === null}
          onClick={() => onDialog('options')}
        />
        <MenuItem label="Board and sounds" onClick={() => onDialog('appearance')} />
        <MenuItem label={isDark.value ? 'Light colours' : 'Dark colours'} onClick={toggleTheme} />
        <MenuItem label="Keys" title="?" onClick={() => onDialog('help')} />
        <RoomLinks role="menuitem" />
      </Menu>
    </header>
  );
}

/** What would be lost with the page, why, and a way out. */
function UnsavedMark() {
  const marks = [...unsaved.value].map(([id, mark]) => ({ id, ...mark }));
  const mark = marks.find(({ words }) => words === ONLY_HERE) ?? marks[0];
  if (mark === undefined) return null;
  const save = (): void => {
    if (mark.id === 'game') saveFile('game.pgn', formatPlayed());
    else if (mark.id === 'archive') saveFile('games.pgn', archive.value.join('\n'));
    else void saveGames();
  };
  return (
    <span role="status">
      <Menu label={`● ${mark.words}`} class="unsaved">
        <MenuItem label={`${mark.reason}: save it as PGN`} onClick={save} />
      </Menu>
    </span>
  );
}

function formatPlayed(): string {
  return game.value?.formatPgn(engine.value?.name ?? 'Engine') ?? '';
}

function savePicture(format: 'svg' | 'png'): void {
  const { node, orientation } = mode.value === 'play' ? gameStudy : study;
  import('./board/board-picture.js')
    .then(({ saveBoard }) => saveBoard(node.value.fen, orientation.value, format))
    .catch(reportError);
}

/** Of the game against the engine. */
function PlayedItems() {
  const pgn = formatPlayed();
  return (
    <>
      <MenuItem label="Copy PGN" disabled={pgn === ''} onClick={() => void copyText(pgn)} />
      <MenuItem label="Copy FEN" onClick={() => void copyText(gameStudy.node.value.fen)} />
      <MenuItem label="Save PGN" disabled={pgn === ''} onClick={() => saveFile('game.pgn', pgn)} />
    </>
  );
}

function openPosition(fen?: string): void {
  beginAnalysis({ games: [unwrap(MoveTree.create(fen))] });
}

/** Shows the board in a mode, and does something there. */
function begin(wanted: 'analyse' | 'play', run: () => void): () => void {
  return () => {
    location.hash = wanted;
    run();
  };
}

/** To another game of the file. */
function renderStep(label: string, icon: 'back' | 'forward', step: number) {
  const isOff = chapters.value[chapterIndex.value + step] === undefined;
  return <IconButton label={label} icon={icon} disabled={isOff} onClick={() => stepChapter(step)} />;
}
