/** A game against the engine: clocks by the board; actions, moves and the form for a new game beside it. */
import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Key } from '@lichess-org/chessground/types';
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { getArrow } from '../../game/board-moves.js';
import {
  describeControl,
  describeResult,
  nameFinished,
  type PlayedGame,
  type PlayerSide,
} from '../../game/played-game.js';
import { formatClock, splitPoints } from '../../game/value-text.js';
import { BoardPanel, type PlayerNote, TypedMove } from '../board/board-panel.js';
import { engine } from '../port/engine-state.js';
import { startReview } from '../review/review-session.js';
import { assign, ConfirmDialog } from '../shell/controls.js';
import type { KeyBinding } from '../shell/keyboard.js';
import { copyText, saveFile } from '../shell/user-files.js';
import { openPgn } from '../study/library.js';
import { MoveList } from '../study/move-list.js';
import { study } from '../study/study.js';
import {
  abort,
  archive,
  askForHint,
  game,
  hint,
  isAtEnd,
  isThinking,
  moveNow,
  now,
  offerDraw,
  playUserDrop,
  playUserMove,
  rematch,
  resign,
  restoreGame,
  settlePremove,
  takeBack,
  view,
} from './play-session.js';
import { PlaySetup } from './play-setup.js';

const isConfirmingResignation = signal(false);
const wantsNewGame = signal(false);

const shapes = computed<DrawShape[]>(() => {
  if (hint.value === '' || !isAtEnd.value) return [];
  const [orig, dest] = getArrow(view.position.value, hint.value, view.isChess960.value);
  return [{ orig: orig as Key, dest: dest as Key, brush: 'move0' }];
});

/** Takes a game to the analysis board. */
function analyse(pgn: string): void {
  if (!openPgn(pgn)) return;
  study.goToEnd();
  location.hash = 'analyse';
}

function review(pgn: string): void {
  if (!openPgn(pgn)) return;
  location.hash = 'review';
  void startReview();
}

export function PlayPanel() {
  useEffect(restoreGame, []);
  void view.version.value;
  const current = game.value;
  const isOver = current?.result != null;
  const showsSetup = current === null || wantsNewGame.value;
  useEffect(() => {
    wantsNewGame.value = false;
  }, [current]);
  const isUserTurn = current?.isUserTurn === true && isAtEnd.value;
  return (
    <BoardPanel
      name="Play"
      study={view}
      players={{ white: describePlayer(current, 'white'), black: describePlayer(current, 'black') }}
      keys={KEYS}
      dests={isUserTurn ? view.dests.value : undefined}
      movable={current !== null && !isOver && isAtEnd.value ? current.settings.user : 'none'}
      shapes={shapes.value}
      canPremove={current !== null && !isOver && !current.isUserTurn}
      promoting={current?.settings.user}
      onDrop={playUserDrop}
      onPlay={playUserMove}
      onReady={settlePremove}
      game={
        current === null ? (
          archive.value.length > 0 && <Archive />
        ) : (
          <>
            <MoveList study={view} />
            {!isOver && (
              <div class="board-inputs">
                <TypedMove position={view.position.value} isOff={!isUserTurn} onMove={playUserMove} />
              </div>
            )}
            {archive.value.length > 0 && <Archive />}
          </>
        )
      }
    >
      {current?.result != null && (
        <p class="result" role="status">
          <strong>{current.result.score.replace('-', '–')}</strong>{' '}
          {describeResult(current.result, current.settings.user)}
        </p>
      )}
      {current !== null && !isOver && <Actions current={current} />}
      {current !== null && isOver && <AfterGame current={current} />}
      {showsSetup && <PlaySetup />}
      {isConfirmingResignation.value && (
        <ConfirmDialog
          title="Resign the game?"
          action="Resign"
          onConfirm={resign}
          onClose={assign(isConfirmingResignation, false)}
        />
      )}
    </BoardPanel>
  );
}

const KEYS: readonly KeyBinding[] = [
  { keys: ['h'], help: 'Hint', run: askForHint },
  { keys: ['t', 'Backspace'], help: 'Take back', run: takeBack },
  { keys: [' '], help: 'The engine moves now', run: moveNow },
];
const LOW_MS = 10_000;

function describePlayer(current: PlayedGame | null, side: PlayerSide): PlayerNote {
  if (current === null) return { name: '' };
  const { user, elo, clock } = current.settings;
  const isUser = side === user;
  const remainingMs = current.getRemainingMs(side, now.value);
  const { result } = current;
  const [whites, blacks] = splitPoints(result?.score);
  return {
    name: isUser ? 'You' : `${engine.value?.name ?? 'Engine'}${elo === null ? '' : `, level ${elo}`}`,
    remark: !isUser && isThinking.value ? 'thinks …' : '',
    clock: clock === null ? '' : formatClock(remainingMs),
    isLow: remainingMs < LOW_MS,
    isRunning: result === null && current.turn === side,
    points: side === 'white' ? whites : blacks,
  };
}

/** Every button keeps its place: one that comes and goes would move the others under the finger. */
function Actions({ current }: { readonly current: PlayedGame }) {
  const hasBegun = current.end.depth >= FIRST_RESIGNED_PLY;
  return (
    <div class="action-grid actions">
      <button type="button" onClick={takeBack} disabled={!current.canTakeBack} title="Take back (t)">
        Take back
      </button>
      <button type="button" onClick={askForHint} disabled={!current.isUserTurn} title="Hint (h)">
        Hint
      </button>
      <button type="button" onClick={moveNow} disabled={!isThinking.value} title="The engine moves now (space)">
        Move now
      </button>
      <button type="button" onClick={offerDraw}>
        Offer a draw
      </button>
      <button type="button" onClick={abort} disabled={hasBegun} title="End the game without a result">
        Abort
      </button>
      <button type="button" class="danger" onClick={assign(isConfirmingResignation, true)}>
        Resign
      </button>
      <span class="faint">{describeControl(current.settings.clock)}</span>
    </div>
  );
}

/** From here on a game counts. */
const FIRST_RESIGNED_PLY = 2;

/** In the places of the actions before; no place of a harmless button takes one that ends something. */
function AfterGame({ current }: { readonly current: PlayedGame }) {
  const pgn = current.formatPgn(engine.value?.name ?? 'Engine');
  return (
    <div class="action-grid actions">
      <button type="button" onClick={takeBack} disabled={!current.canTakeBack}>
        Take back
      </button>
      <button type="button" onClick={() => void copyText(pgn)}>
        Copy PGN
      </button>
      <button type="button" onClick={() => saveFile('game.pgn', pgn)}>
        Save PGN
      </button>
      <button type="button" onClick={() => analyse(pgn)}>
        Analyse
      </button>
      <button type="button" title="Review the game" onClick={() => review(pgn)}>
        Review
      </button>
      <button type="button" onClick={rematch}>
        Rematch
      </button>
      <button type="button" class="primary" onClick={assign(wantsNewGame, true)}>
        New game
      </button>
    </div>
  );
}

/** Games that were finished in this browser. */
function Archive() {
  return (
    <details class="archive">
      <summary>Finished games ({archive.value.length})</summary>
      <ul>
        {archive.value.map((pgn, index) => (
          <li key={index}>
            <button type="button" class="text-button" onClick={() => analyse(pgn)}>
              {nameFinished(pgn)}
            </button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => saveFile('games.pgn', archive.value.join('\n'))}>
        Save all as PGN
      </button>
    </details>
  );
}
