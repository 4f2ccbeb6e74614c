/** A game against the engine: clocks by the board; actions, moves and the form for a new game beside it. */
import type { DrawShape } from '@lichess-org/chessground/draw';
import { computed, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { START_FEN } from '../../../chess/rules/index.js';
import { createChess960Fen } from '../../game/move-tree.js';
import {
  type ClockSettings,
  describeControl,
  describeResult,
  nameFinished,
  type PlayedGame,
  type PlayerSide,
} from '../../game/played-game.js';
import { BoardPanel } from '../board/board-panel.js';
import { point } from '../board/chess-board.js';
import { engine } from '../port/engine-port.js';
import { startReview } from '../review/review-session.js';
import {
  assign,
  Button,
  CheckField,
  ConfirmDialog,
  NumberField,
  ProblemLine,
  Segments,
  submit,
} from '../shell/controls.js';
import type { KeyBindings } from '../shell/keyboard.js';
import { isOneOf, storedSignal } from '../shell/stored.js';
import { saveFile } from '../shell/user-files.js';
import { MoveList } from '../study/move-list.js';
import { openPgn } from '../study/open-analysis.js';
import { study } from '../study/study.js';
import {
  abort,
  archive,
  askForHint,
  describePlayer,
  game,
  gameStudy,
  hint,
  isAtEnd,
  isThinking,
  moveNow,
  offerDraw,
  playUserDrop,
  playUserMove,
  prng,
  rematch,
  resign,
  restoreGame,
  settlePremove,
  startGame,
  takeBack,
  wantsNewGame,
} from './play-session.js';

const isConfirmingResignation = signal(false);

const shapes = computed<DrawShape[]>(() => {
  if (hint.value === '' || !isAtEnd.value) return [];
  return [{ ...point(gameStudy.position.value, hint.value, gameStudy.tree.value.isChess960), brush: 'green' }];
});

/** Takes a game to the analysis board. */
async function analyse(pgn: string): Promise<void> {
  if (!(await openPgn(pgn))) return;
  study.goToEnd();
  location.hash = 'analyse';
}

async function review(pgn: string): Promise<void> {
  if (!(await openPgn(pgn))) return;
  location.hash = 'review';
  startReview();
}

export function PlayPanel() {
  useEffect(restoreGame, []);
  void gameStudy.version.value;
  const current = game.value;
  const isOver = current?.result != null;
  // A game that runs is ended first.
  const showsSetup = current === null || (isOver && wantsNewGame.value);
  const isUserTurn = current?.isUserTurn === true && isAtEnd.value;
  return (
    <BoardPanel
      name="Play"
      study={gameStudy}
      players={{ white: describePlayer(current, 'white'), black: describePlayer(current, 'black') }}
      keys={KEYS}
      dests={isUserTurn ? gameStudy.dests.value : undefined}
      movable={current !== null && !isOver && isAtEnd.value ? current.settings.user : 'none'}
      shapes={shapes.value}
      canPremove={current !== null && !isOver && !current.isUserTurn}
      promoting={current?.settings.user}
      phoneTools={
        current !== null && (
          <>
            <HintButton current={current} />
            <TakeBackButton current={current} />
          </>
        )
      }
      typing={current === null || isOver ? undefined : { isOff: !isUserTurn, onMove: playUserMove }}
      onDrop={playUserDrop}
      onPlay={playUserMove}
      onReady={settlePremove}
      game={
        current === null ? (
          archive.value.length > 0 && <Archive />
        ) : (
          <>
            <MoveList study={gameStudy} />
            {archive.value.length > 0 && <Archive />}
          </>
        )
      }
    >
      {current !== null && (isOver ? <AfterGame current={current} /> : <Actions current={current} />)}
      {current?.result != null && (
        <p class="result raised" role="status">
          <strong>{current.result.score.replace('-', '–')}</strong>{' '}
          {describeResult(current.result, current.settings.user)}
        </p>
      )}
      {current !== null && (
        <p class="play-head row wrap raised">
          <span>
            {describePlayer(current, current.settings.user === 'white' ? 'black' : 'white').name},{' '}
            {describeControl(current.settings.clock)}
          </span>
          {isOver && <BackToAnalysis />}
        </p>
      )}
      {showsSetup && <PlaySetup />}
      {isConfirmingResignation.value && (
        <ConfirmDialog
          title="Resign the game?"
          action="Resign"
          onConfirm={resign}
          onClose={assign(isConfirmingResignation, false)}
        >
          {current !== null && current.end.depth < FIRST_RESIGNED_PLY && (
            <Button
              label="Abort: no result"
              onClick={() => {
                isConfirmingResignation.value = false;
                abort();
              }}
            />
          )}
        </ConfirmDialog>
      )}
    </BoardPanel>
  );
}

const KEYS: KeyBindings = { hint: askForHint, takeBack, moveNow };
/** Every button keeps its place: one that comes and goes would move the others under the finger. */
function Actions({ current }: { readonly current: PlayedGame }) {
  return (
    <div class="actions line-below">
      <TakeBackButton current={current} />
      <HintButton current={current} />
      <Button label="Move now" onClick={moveNow} disabled={!isThinking.value} title="The engine moves now (m)" />
      <Button label="Draw" aria-label="Offer a draw" onClick={offerDraw} />
      <Button label="Resign" class="danger" onClick={assign(isConfirmingResignation, true)} />
    </div>
  );
}

function TakeBackButton({ current }: { readonly current: PlayedGame }) {
  const isOff = !current.canTakeBack;
  return <Button label="Back" aria-label="Take back" title="Take back (t)" onClick={takeBack} disabled={isOff} />;
}

function HintButton({ current }: { readonly current: PlayedGame }) {
  const isOff = !current.isUserTurn || current.result !== null;
  return <Button label="Hint" onClick={askForHint} disabled={isOff} title="Hint (h)" />;
}

/** From here on a game counts. */
const FIRST_RESIGNED_PLY = 2;

/** In the places of the actions before; no place of a harmless button takes one that ends something. */
function AfterGame({ current }: { readonly current: PlayedGame }) {
  const pgn = current.formatPgn(engine.value?.name ?? 'Engine');
  return (
    <div class="actions line-below">
      <TakeBackButton current={current} />
      <Button label="Rematch" onClick={rematch} />
      <Button label="New" aria-label="New game" class="primary" onClick={assign(wantsNewGame, true)} />
      <Button label="Review" title="Review the game" onClick={() => void review(pgn)} />
      <Button label="Analyse" onClick={() => void analyse(pgn)} />
    </div>
  );
}

/** The analysis is where it was before the game. */
function BackToAnalysis() {
  return (
    <a class="button" href="#analyse">
      Back to the analysis
    </a>
  );
}

/** Games that were finished in this browser. */
function Archive() {
  return (
    <details class="archive line-above">
      <summary class="faint">Finished games ({archive.value.length})</summary>
      <ul>
        {archive.value.map((pgn, index) => (
          <li key={index}>
            <Button label={nameFinished(pgn)} class="text-button bare" onClick={() => void analyse(pgn)} />
          </li>
        ))}
      </ul>
      <Button label="Save all as PGN" onClick={() => saveFile('games.pgn', archive.value.join('\n'))} />
    </details>
  );
}

type ColorChoice = PlayerSide | 'random';
type Start = 'standard' | 'chess960' | 'board';

const color = storedSignal<ColorChoice>('play.color', 'random', isOneOf('white', 'black', 'random'));
const isFullStrength = storedSignal('play.full', false);
const elo = storedSignal('play.elo', 1500);
const control = storedSignal('play.control', 3);
const minutes = storedSignal('play.minutes', 15);
/** Seconds. */
const increment = storedSignal('play.increment', 10);
const thinkMs = storedSignal('play.think', 1000);
/** Why the last game could not begin. */
const problem = signal('');
const start = storedSignal<Start>('play.start', 'standard', isOneOf('standard', 'chess960', 'board'));

const CONTROLS: readonly (ClockSettings | null)[] = [
  { initialMs: 60_000, incrementMs: 0 },
  { initialMs: 180_000, incrementMs: 2000 },
  { initialMs: 300_000, incrementMs: 3000 },
  { initialMs: 600_000, incrementMs: 5000 },
  { initialMs: 1_800_000, incrementMs: 20_000 },
  null,
];
/** Number of the choice of minutes and increment of one's own. */
const OWN_CONTROL = CONTROLS.length;
const MOST_MINUTES = 600;
const MOST_INCREMENT = 600;
const THINK_TIMES_MS = [200, 1000, 3000, 10_000];
const ELO_STEP = 50;
const COLORS = { white: 'White', random: 'Random', black: 'Black' };
const STARTS = { standard: 'Standard', chess960: 'Chess960', board: 'The position on the analysis board' };

function getClock(): ClockSettings | null {
  if (control.value !== OWN_CONTROL) return CONTROLS[control.value] ?? null;
  return { initialMs: Math.round(minutes.value * 60_000), incrementMs: Math.round(increment.value * 1000) };
}

function begin(): void {
  const user = color.value === 'random' ? (prng.nextBelow(2) === 0 ? 'white' : 'black') : color.value;
  const startFens = {
    standard: START_FEN,
    chess960: createChess960Fen(prng.nextBelow(960)),
    board: study.node.value.fen,
  };
  problem.value = startGame({
    user,
    elo: isFullStrength.value ? null : elo.value,
    clock: getClock(),
    thinkMs: thinkMs.value,
    startFen: startFens[start.value],
  });
}

function PlaySetup() {
  const levels = engine.value?.levels ?? { weakest: 1000, strongest: 2000 };
  return (
    <form class="setup stack sheet" onSubmit={submit(begin)}>
      <h2>Play against the engine</h2>
      <Segments legend="You play" name="color" state={color} choices={COLORS} />
      <fieldset class="strength stack">
        <legend>Strength</legend>
        <CheckField label="Full strength" state={isFullStrength} />
        <label class="slider">
          <input
            type="range"
            aria-label="Elo of the engine"
            min={levels.weakest}
            max={levels.strongest}
            step={ELO_STEP}
            value={elo.value}
            disabled={isFullStrength.value}
            onInput={({ currentTarget }) => {
              elo.value = Number(currentTarget.value);
            }}
          />
          <output>{isFullStrength.value ? 'Everything it has' : `Elo ${elo.value}`}</output>
        </label>
      </fieldset>
      <Segments
        legend="Clock"
        name="clock"
        state={control}
        choices={[
          ...CONTROLS.map((clock, index) => [index, describeControl(clock)] as const),
          [OWN_CONTROL, 'Other …'],
        ]}
      />
      {control.value === OWN_CONTROL && (
        <div class="fields">
          <NumberField label="Minutes" state={minutes} min={0.1} max={MOST_MINUTES} />
          <NumberField label="Increment in seconds" state={increment} min={0} max={MOST_INCREMENT} />
        </div>
      )}
      {CONTROLS[control.value] === null && (
        <Segments
          legend="The engine thinks about a move for"
          name="think"
          state={thinkMs}
          choices={THINK_TIMES_MS.map((ms) => [ms, `${ms / 1000} s`] as const)}
        />
      )}
      <Segments legend="Start" name="start" look="choice" state={start} choices={STARTS} />
      <ProblemLine text={problem.value} />
      <div class="sheet-foot stack">
        <button type="submit" class="primary large">
          Play
        </button>
        {game.value === null && <BackToAnalysis />}
      </div>
    </form>
  );
}
