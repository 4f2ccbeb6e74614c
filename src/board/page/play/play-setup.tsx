/** The form before a game: colour, strength, clock, start position. */

import { START_FEN } from '../../../chess/index.js';
import { createChess960Fen } from '../../game/chess960.js';
import { describeControl, type GameClock, type PlayerSide } from '../../game/played-game.js';
import { engine } from '../port/engine-state.js';
import { CheckField, NumberField, Segments } from '../shell/controls.js';
import { isBoolean, isNumber, isOneOf, storedSignal } from '../shell/stored.js';
import { study } from '../study/study.js';
import { prng, startGame } from './play-session.js';

type ColorChoice = PlayerSide | 'random';
type Start = 'standard' | 'chess960' | 'board';

const color = storedSignal<ColorChoice>('play.color', 'random', isOneOf('white', 'black', 'random'));
const isFullStrength = storedSignal('play.full', false, isBoolean);
const elo = storedSignal('play.elo', 1500, isNumber);
const control = storedSignal('play.control', 3, isNumber);
const minutes = storedSignal('play.minutes', 15, isNumber);
/** Seconds. */
const increment = storedSignal('play.increment', 10, isNumber);
const thinkMs = storedSignal('play.think', 1000, isNumber);
const start = storedSignal<Start>('play.start', 'standard', isOneOf('standard', 'chess960', 'board'));

const CONTROLS: readonly (GameClock | null)[] = [
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
const COLORS = [
  ['white', 'White'],
  ['random', 'Random'],
  ['black', 'Black'],
] as const;
const STARTS = [
  ['standard', 'Standard'],
  ['chess960', 'Chess960'],
  ['board', 'The position on the analysis board'],
] as const;

function getClock(): GameClock | null {
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
  startGame({
    user,
    elo: isFullStrength.value ? null : elo.value,
    clock: getClock(),
    thinkMs: thinkMs.value,
    startFen: startFens[start.value],
  });
}

export function PlaySetup() {
  const levels = engine.value?.levels ?? { weakest: 1000, strongest: 2000 };
  return (
    <form
      class="setup"
      onSubmit={(event) => {
        event.preventDefault();
        begin();
      }}
    >
      <h2>Play against the engine</h2>
      <Segments legend="You play" name="color" state={color} choices={COLORS} />
      <fieldset class="strength">
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
      <button type="submit" class="primary large">
        Play
      </button>
    </form>
  );
}
