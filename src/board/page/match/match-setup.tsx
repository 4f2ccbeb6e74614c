/** The form that starts a match. */
import { signal } from '@preact/signals';
import { BOOK_ENDINGS } from '../../../chess/archives/index.js';
import { engine, port, portState, reportError, sendFile } from '../port/engine-port.js';
import { Button, CheckField, FileButton, NumberField, Segments, Select, submit } from '../shell/controls.js';
import { isOneOf, storedSignal } from '../shell/stored.js';
import { hasListed, matches, showMatch } from './match-session.js';

/** Chosen players; '' = the first or last one that is offered. */
const chosen = signal<readonly string[]>(['', '']);
const tournament = storedSignal('match.tournament', 'round-robin', isOneOf('round-robin', 'gauntlet'));
const limit = storedSignal('match.limit', 'nodes', isOneOf('nodes', 'clock'));
const nodes = storedSignal('match.nodes', 100);
const seconds = storedSignal('match.seconds', 10);
const increment = storedSignal('match.increment', 0.1);
const games = storedSignal('match.games', 100);
const concurrency = storedSignal('match.concurrency', 1);
const usesSprt = storedSignal('match.sprt', false);
const elo0 = storedSignal('match.elo0', 0);
const elo1 = storedSignal('match.elo1', 10);
const chess960 = storedSignal('match.chess960', false);
const books = signal<readonly string[]>([]);
/** '' = none. */
const book = signal('');
/** Null until the user opened or closed the form: then it is open while there is no match to look at. */
const isOpen = signal<boolean | null>(null);

const MOST_PLAYERS = 12;
const MOST_LIVE_GAMES = 16;

async function begin(): Promise<void> {
  const isPair = chosen.value.length === 2;
  const name = await port.send('startMatch', {
    players: chosen.value.map(getPlayer),
    tournament: tournament.value,
    clock: limit.value === 'clock' ? { seconds: seconds.value, increment: increment.value } : null,
    nodes: Math.round(nodes.value),
    games: Math.round(games.value),
    concurrency: Math.min(MOST_LIVE_GAMES, Math.round(concurrency.value)),
    book: book.value === '' ? null : book.value,
    sprt: isPair && usesSprt.value ? { elo0: elo0.value, elo1: elo1.value } : null,
    chess960: chess960.value,
  }).answer;
  isOpen.value = false;
  showMatch(name);
}

function getPlayer(name: string, index: number): string {
  const players = engine.value?.players ?? [];
  return name !== '' && players.includes(name) ? name : (players.at(index === 0 ? 0 : -1) ?? '');
}

function readBooks(): void {
  if (portState.value !== 'open') return;
  port.send('readMatchOffer', {}).answer.then((offer) => {
    books.value = offer.books;
  }, reportError);
}

async function sendBook(file: File): Promise<void> {
  const name = await sendFile('book', file);
  books.value = [...books.value.filter((known) => known !== name), name];
  book.value = name;
}

export function MatchSetup() {
  const isPair = chosen.value.length === 2;
  const isShown = isOpen.value ?? (hasListed.value && matches.value.length === 0);
  return (
    <details
      class={isShown ? 'match-setup line-below sheet' : 'match-setup line-below'}
      open={isShown}
      onToggle={({ currentTarget }) => {
        if (currentTarget.open !== isShown) isOpen.value = currentTarget.open;
        readBooks();
      }}
    >
      <summary class="strong">New match</summary>
      <form class="setup stack" onSubmit={submit(() => begin().catch(reportError))}>
        <Players />
        {!isPair && (
          <Segments
            legend="Who plays whom"
            name="tournament"
            state={tournament}
            choices={{ 'round-robin': 'Each against each', gauntlet: 'The first against all others' }}
          />
        )}
        <Segments legend="Limit of a move" name="limit" state={limit} choices={{ nodes: 'Nodes', clock: 'Clock' }} />
        <div class="fields">
          {limit.value === 'nodes' ? (
            <NumberField label="Nodes a move" state={nodes} min={1} />
          ) : (
            <>
              <NumberField label="Seconds a game" state={seconds} min={0.1} />
              <NumberField label="Increment in seconds" state={increment} min={0} />
            </>
          )}
          <NumberField label={isPair ? 'Games at most' : 'Games of each two'} state={games} min={2} />
          <NumberField label="Games at a time" state={concurrency} min={1} max={MOST_LIVE_GAMES} />
        </div>
        <Book />
        <div class="fields">
          <CheckField label="Chess960" state={chess960} />
          {isPair && <CheckField label="Stop when a test has decided (SPRT)" state={usesSprt} />}
          {isPair && usesSprt.value && (
            <>
              <NumberField label="No more Elo than" state={elo0} min={-500} />
              <NumberField label="Elo to prove" state={elo1} min={-500} />
            </>
          )}
        </div>
        <p class="faint">Networks draw their first twelve moves at random, so that no two games are the same.</p>
        <div class="sheet-foot stack">
          <button type="submit" class="primary">
            Start the match
          </button>
        </div>
      </form>
    </details>
  );
}

function Players() {
  const players = engine.value?.players ?? [];
  const label = (index: number): string => ['First player', 'Second player'][index] ?? `Player ${index + 1}`;
  return (
    <>
      <div class="fields">
        {chosen.value.map((name, index) => (
          <label key={index} class="field">
            {label(index)}
            <Select
              value={getPlayer(name, index)}
              choices={players.map((player) => [player, player] as const)}
              onSelect={(player) => {
                chosen.value = chosen.value.with(index, player);
              }}
            />
          </label>
        ))}
      </div>
      <div class="button-row">
        <Button
          label="Add a player"
          disabled={chosen.value.length >= MOST_PLAYERS}
          onClick={() => {
            chosen.value = [...chosen.value, ''];
          }}
        />
        <Button
          label="Remove the last"
          disabled={chosen.value.length <= 2}
          onClick={() => {
            chosen.value = chosen.value.slice(0, -1);
          }}
        />
      </div>
    </>
  );
}

function Book() {
  return (
    <div class="fields">
      <label class="field">
        Openings
        <Select
          value={book.value}
          choices={[['', 'The initial position'], ...books.value.map((name) => [name, name] as const)]}
          onSelect={(name) => {
            book.value = name;
          }}
        />
      </label>
      <FileButton
        label="Open a book"
        title="PGN, EPD, a list of FENs, or Polyglot"
        accept={BOOK_ENDINGS.join()}
        onFiles={([file]) => sendBook(file).catch(reportError)}
      />
    </div>
  );
}
