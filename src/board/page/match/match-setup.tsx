/** The form that starts a match. */
import { signal } from '@preact/signals';
import { engine, port, reportError } from '../port/engine-state.js';
import { isBoolean, isNumber, isOneOf, storedSignal } from '../shell/stored.js';
import { showMatch } from './match-session.js';

const first = signal('');
const second = signal('');
const limit = storedSignal('match.limit', 'nodes', isOneOf('nodes', 'clock'));
const nodes = storedSignal('match.nodes', 100, isNumber);
const seconds = storedSignal('match.seconds', 10, isNumber);
const increment = storedSignal('match.increment', 0.1, isNumber);
const games = storedSignal('match.games', 100, isNumber);
const usesSprt = storedSignal('match.sprt', false, isBoolean);
const elo1 = storedSignal('match.elo1', 10, isNumber);
const chess960 = storedSignal('match.chess960', false, isBoolean);

async function begin(): Promise<void> {
  const players = engine.value?.players ?? [];
  const chosen = [first.value || players[0], second.value || players.at(-1) || ''];
  const name = await port.send('startMatch', {
    players: chosen,
    clock: limit.value === 'clock' ? { seconds: seconds.value, increment: increment.value } : null,
    nodes: nodes.value,
    games: games.value,
    sprt: usesSprt.value ? { elo0: 0, elo1: elo1.value } : null,
    chess960: chess960.value,
  }).answer;
  showMatch(name);
}

export function MatchSetup() {
  const players = engine.value?.players ?? [];
  return (
    <details class="match-setup">
      <summary>New match</summary>
      <form
        class="setup"
        onSubmit={(event) => {
          event.preventDefault();
          begin().catch(reportError);
        }}
      >
        <div class="fields">
          {[
            { label: 'First player', state: first, initial: players[0] },
            { label: 'Second player', state: second, initial: players.at(-1) },
          ].map(({ label, state, initial }) => (
            <label key={label} class="field">
              {label}
              <select
                value={state.value || initial}
                onChange={({ currentTarget }) => {
                  state.value = currentTarget.value;
                }}
              >
                {players.map((name) => (
                  <option key={name}>{name}</option>
                ))}
              </select>
            </label>
          ))}
        </div>
        <fieldset class="segments">
          <legend>Limit of a move</legend>
          {(['nodes', 'clock'] as const).map((name) => (
            <label key={name}>
              <input
                type="radio"
                name="limit"
                checked={limit.value === name}
                onChange={() => {
                  limit.value = name;
                }}
              />
              <span>{name === 'nodes' ? 'Nodes' : 'Clock'}</span>
            </label>
          ))}
        </fieldset>
        <div class="fields">
          {limit.value === 'nodes' ? (
            <NumberField label="Nodes a move" state={nodes} min={1} />
          ) : (
            <>
              <NumberField label="Seconds a game" state={seconds} min={0.1} />
              <NumberField label="Seconds more a move" state={increment} min={0} />
            </>
          )}
          <NumberField label="Games at most" state={games} min={2} />
        </div>
        <div class="fields">
          <CheckField label="Chess960" state={chess960} />
          <CheckField label="Stop when a test has decided (SPRT)" state={usesSprt} />
          {usesSprt.value && <NumberField label="Elo to prove" state={elo1} min={1} />}
        </div>
        <p class="faint">Networks draw their first twelve moves at random, so that no two games are the same.</p>
        <button type="submit" class="primary">
          Start the match
        </button>
      </form>
    </details>
  );
}

interface FieldProps<T> {
  readonly label: string;
  readonly state: { value: T };
}

function NumberField({ label, state, min }: FieldProps<number> & { readonly min: number }) {
  return (
    <label class="field">
      {label}
      <input
        type="number"
        min={min}
        step="any"
        required
        value={state.value}
        onChange={({ currentTarget }) => {
          state.value = Math.max(min, Number(currentTarget.value) || min);
        }}
      />
    </label>
  );
}

function CheckField({ label, state }: FieldProps<boolean>) {
  return (
    <label class="check">
      <input
        type="checkbox"
        checked={state.value}
        onChange={({ currentTarget }) => {
          state.value = currentTarget.checked;
        }}
      />
      {label}
    </label>
  );
}
