/** A game against the engine: board and clocks on the left; moves, actions and the form for a new game on the right. */
import type { DrawShape } from '@lichess-org/chessground/draw';
import type { Key } from '@lichess-org/chessground/types';
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { getArrow } from '../../game/board-moves.js';
import { parseGame } from '../../game/move-tree-text.js';
import { describeControl, describeResult, type PlayedGame, type PlayerSide } from '../../game/played-game.js';
import { formatClock } from '../../game/value-text.js';
import { ChessBoard } from '../board/chess-board.js';
import { PromotionDialog } from '../board/promotion-dialog.js';
import { createStepKeys, StepButtons } from '../board/step-buttons.js';
import { TypedMove } from '../board/typed-move.js';
import { engine } from '../port/engine-state.js';
import { startReview } from '../review/review-session.js';
import { Dialog } from '../shell/dialog.js';
import { bindKeys } from '../shell/keyboard.js';
import { copyText, saveFile } from '../shell/user-files.js';
import { MoveList } from '../study/move-list.js';
import { study } from '../study/study.js';
import {
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
  resign,
  takeBack,
  view,
  watchGame,
} from './play-session.js';
import { PlaySetup } from './play-setup.js';

const NO_DESTS: ReadonlyMap<string, readonly string[]> = new Map();
const isConfirmingResignation = signal(false);
const wantsNewGame = signal(false);

const shapes = computed<DrawShape[]>(() => {
  if (hint.value === '' || !isAtEnd.value) return [];
  const [orig, dest] = getArrow(view.position.value, hint.value, view.isChess960.value);
  return [{ orig: orig as Key, dest: dest as Key, brush: 'move0' }];
});

/** @returns false for a stored game that is damaged */
function loadStudy(pgn: string): boolean {
  const read = parseGame(pgn);
  if (!read.ok) return false;
  study.load(read.value.tree);
  return true;
}

/** Takes a game to the analysis board. */
function analyse(pgn: string): void {
  if (!loadStudy(pgn)) return;
  study.goToEnd();
  location.hash = 'analyse';
}

function review(pgn: string): void {
  if (!loadStudy(pgn)) return;
  location.hash = 'review';
  void startReview();
}

export function PlayPanel() {
  useEffect(watchGame, []);
  useEffect(
    () =>
      bindKeys([
        ...createStepKeys(view),
        { keys: ['h'], help: 'Hint', run: askForHint },
        { keys: ['t', 'Backspace'], help: 'Take back', run: takeBack },
        { keys: [' '], help: 'The engine moves now', run: moveNow },
      ]),
    [],
  );
  void view.version.value;
  const current = game.value;
  const isOver = current?.result != null;
  const showsSetup = current === null || wantsNewGame.value;
  useEffect(() => {
    wantsNewGame.value = false;
  }, [current]);
  const isUserTurn = current?.isUserTurn === true && isAtEnd.value;
  const top = view.orientation.value === 'white' ? 'black' : 'white';
  const promotion = view.promotion.value;
  return (
    <main class="panel panel-play">
      <section class="board-column" aria-label="Board">
        <PlayerRow current={current} side={top} />
        <ChessBoard
          fen={view.node.value.fen}
          orientation={view.orientation.value}
          turn={view.turn.value}
          dests={isUserTurn ? view.dests.value : NO_DESTS}
          movable={current !== null && !isOver && isAtEnd.value ? current.settings.user : 'none'}
          lastMove={view.lastMove.value}
          isCheck={view.node.value.isCheck}
          shapes={shapes.value}
          canPremove={current !== null && !isOver && !current.isUserTurn}
          onMove={playUserDrop}
          onReady={(board) => {
            if (isUserTurn) board.playPremove();
          }}
        />
        <PlayerRow current={current} side={view.orientation.value} />
        <StepButtons study={view} />
      </section>
      <section class="side" aria-label="Game">
        {current?.result != null && (
          <p class="result" role="status">
            <strong>{current.result.score.replace('-', '–')}</strong>{' '}
            {describeResult(current.result, current.settings.user)}
          </p>
        )}
        {current !== null && !isOver && <Actions current={current} />}
        {current !== null && isOver && <AfterGame current={current} />}
        {showsSetup && <PlaySetup />}
        {current !== null && <MoveList study={view} />}
        {isUserTurn && <TypedMove position={view.position.value} onMove={playUserMove} />}
        <Archive />
      </section>
      {promotion !== null && current !== null && (
        <PromotionDialog
          moves={promotion}
          color={current.settings.user}
          onChoose={playUserMove}
          onCancel={() => view.cancelPromotion()}
        />
      )}
      {isConfirmingResignation.value && (
        <Dialog title="Resign the game?" onClose={() => setConfirming(false)}>
          <div class="button-row">
            <button
              type="button"
              class="danger"
              onClick={() => {
                setConfirming(false);
                resign();
              }}
            >
              Resign
            </button>
            <button type="button" onClick={() => setConfirming(false)}>
              Play on
            </button>
          </div>
        </Dialog>
      )}
    </main>
  );
}

function setConfirming(isConfirming: boolean): void {
  isConfirmingResignation.value = isConfirming;
}

function PlayerRow({ current, side }: { readonly current: PlayedGame | null; readonly side: PlayerSide }) {
  if (current === null) return <div class="player-row" />;
  const { user, elo, clock } = current.settings;
  const isUser = side === user;
  const remainingMs = current.getRemainingMs(side, now.value);
  const isRunning = current.result === null && current.turn === side;
  const name = isUser ? 'You' : `${engine.value?.name ?? 'Engine'}${elo === null ? '' : `, level ${elo}`}`;
  return (
    <div class={isRunning ? 'player-row player-running' : 'player-row'}>
      <span class={`player-color player-${side}`} aria-hidden="true" />
      <span class="player-name">{name}</span>
      {!isUser && isThinking.value && <span class="faint">thinks …</span>}
      <span class="spacer" />
      {clock !== null && (
        <span class={remainingMs < 10_000 ? 'clock clock-low' : 'clock'} role="timer" aria-label={`Clock of ${name}`}>
          {formatClock(remainingMs)}
        </span>
      )}
    </div>
  );
}

function Actions({ current }: { readonly current: PlayedGame }) {
  return (
    <div class="button-row actions">
      <button type="button" onClick={takeBack} disabled={current.end.depth === 0} title="Take back (t)">
        Take back
      </button>
      <button type="button" onClick={askForHint} disabled={!current.isUserTurn} title="Hint (h)">
        Hint
      </button>
      {isThinking.value && (
        <button type="button" onClick={moveNow} title="The engine moves now (space)">
          Move now
        </button>
      )}
      <button type="button" onClick={offerDraw}>
        Offer a draw
      </button>
      <button type="button" class="danger" onClick={() => setConfirming(true)}>
        Resign
      </button>
      <span class="spacer" />
      <span class="faint">{describeControl(current.settings.clock)}</span>
    </div>
  );
}

function AfterGame({ current }: { readonly current: PlayedGame }) {
  const pgn = current.formatPgn(engine.value?.name ?? 'Engine');
  return (
    <div class="button-row actions">
      <button type="button" class="primary" onClick={() => setNewGame()}>
        New game
      </button>
      <button type="button" onClick={() => review(pgn)}>
        Review
      </button>
      <button type="button" onClick={() => analyse(pgn)}>
        Analyse
      </button>
      <button type="button" onClick={takeBack}>
        Take back
      </button>
      <button type="button" onClick={() => void copyText(pgn)}>
        Copy PGN
      </button>
      <button type="button" onClick={() => saveFile('game.pgn', pgn)}>
        Save PGN
      </button>
    </div>
  );
}

function setNewGame(): void {
  wantsNewGame.value = true;
}

/** Games that were finished in this browser. */
function Archive() {
  if (archive.value.length === 0) return null;
  return (
    <details class="archive">
      <summary>Finished games ({archive.value.length})</summary>
      <ul>
        {archive.value.map((pgn, index) => {
          const read = (tag: string): string => new RegExp(`\\[${tag} "([^"]*)"`).exec(pgn)?.[1] ?? '?';
          return (
            <li key={index}>
              <button type="button" class="text-button" onClick={() => analyse(pgn)}>
                {read('Date')} {read('White')} – {read('Black')} {read('Result')}
              </button>
            </li>
          );
        })}
      </ul>
      <button type="button" onClick={() => saveFile('games.pgn', archive.value.join('\n'))}>
        Save all as PGN
      </button>
    </details>
  );
}
