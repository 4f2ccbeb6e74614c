/** A training loop: stage and control, its generations with losses, gates and Elo, and its games. */
import { batch, signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import { parseTree } from '../../game/move-tree-reader.js';
import { formatRating } from '../../game/page-text.js';
import type { LoopGameKind, LoopGames, LoopGeneration, LoopState } from '../../protocol/replies.js';
import { createStepKeys, StepButtons } from '../board/board-panel.js';
import { ChessBoard } from '../board/chess-board.js';
import { LineChart } from '../chart/line-chart.js';
import { port, portState, reportError } from '../port/engine-port.js';
import { assign, Button, ConfirmDialog, ProblemLine, Select, useLateText } from '../shell/controls.js';
import { bindKeys } from '../shell/keyboard.js';
import { addNotice } from '../shell/notices.js';
import { SummaryTable } from '../shell/summary-table.js';
import { MoveList } from '../study/move-list.js';
import { analyseGame } from '../study/open-analysis.js';
import { Study } from '../study/study.js';

const POLL_MS = 2000;

/** Null where there is no loop; undefined until the server has answered. */
const loop = signal<LoopState | null | undefined>(undefined);
/** Why there is nothing to show, in one sentence. */
const problem = signal('');

/** Which games are replayed. */
const generation = signal(0);
const kind = signal<LoopGameKind>('games');
/** Of the chosen generation; null until they were counted. */
const counts = signal<LoopGames | null>(null);
/** From 0; -1 = none on the board. */
const shownLoopGame = signal(-1);
const loopStudy = new Study();

function readLoop(): void {
  if (portState.value !== 'open') return;
  port.send('readLoop', {}).answer.then(
    (state) =>
      batch(() => {
        loop.value = state;
        problem.value = '';
      }),
    (error: Error) => {
      problem.value = error.message;
    },
  );
}

/** The panel is shown. @returns a function that ends it */
function watchLoop(): () => void {
  const timer = setInterval(readLoop, POLL_MS);
  return () => clearInterval(timer);
}

function order(what: 'startLoop' | 'stopLoop'): () => void {
  return () => void port.send(what, {}).answer.then(readLoop, reportError);
}

function changeBest(how: 'promote' | 'rollback', network: number): void {
  addNotice('note', `Generation ${network} becomes the best one …`);
  port.send('changeBest', { kind: how, network }).answer.then((words) => {
    addNotice('note', words);
    readLoop();
  }, reportError);
}

/** Counts the games of a generation and shows the first one. */
async function showGeneration(number: number, wanted: LoopGameKind = kind.value): Promise<void> {
  batch(() => {
    generation.value = number;
    kind.value = wanted;
    shownLoopGame.value = -1;
    counts.value = null;
  });
  const counted = await port.send('countLoopGames', { generation: number }).answer;
  counts.value = counted;
  if (counted[wanted] > 0) await showLoopGame(0);
}

/** @param game from 0 */
async function showLoopGame(game: number): Promise<void> {
  const total = counts.value?.[kind.value] ?? 0;
  if (game < 0 || game >= total) return;
  const question = { generation: generation.value, kind: kind.value, game };
  const read = parseTree(await port.send('readLoopGame', question).answer);
  if (!read.ok) throw new Error(read.error);
  batch(() => {
    shownLoopGame.value = game;
    loopStudy.load(read.value.tree);
  });
}

const CHART_HEIGHT = 180;
const SHOWN_CHANGES = 3;
const SHOWN_LINES = 6;

/** The network that the user wants to be the best one, until it is confirmed. */
const wanted = signal<{ readonly how: 'promote' | 'rollback'; readonly network: number } | null>(null);

export function TrainingPanel() {
  useEffect(watchLoop, []);
  useEffect(readLoop, [portState.value]);
  const state = loop.value;
  return (
    <main class="panel-training">
      <section class="training" aria-label="Training">
        <ProblemLine text={problem.value} />
        {state ? (
          <Loop state={state} />
        ) : (
          problem.value === '' && (
            <p>
              {state === null ? 'No training loop: start' : 'Start'} the server with{' '}
              <code>sardonyx board --loop=FOLDER</code> to watch a training loop here.
            </p>
          )
        )}
      </section>
      {wanted.value !== null && <Confirmation />}
    </main>
  );
}

function Loop({ state }: { readonly state: LoopState }) {
  return (
    <>
      <Head state={state} />
      {state.generations.length > 1 && <Charts generations={state.generations} />}
      {state.generation > 0 && (
        <>
          <Generations state={state} />
          <LoopGameView state={state} />
        </>
      )}
    </>
  );
}

function Head({ state }: { readonly state: LoopState }) {
  const { control, progress } = state;
  return (
    <div class="loop-head stack">
      <h2>{state.folder}</h2>
      <p>
        {state.generation === 0
          ? 'Not begun'
          : `Generation ${state.generation}, stage ${state.stage}; best network ${state.best}`}
      </p>
      {progress !== null && progress.total !== null && (
        <div class="button-row">
          <progress
            class="fill"
            max={progress.total}
            value={Math.min(progress.done, progress.total)}
            aria-label="Games of this stage"
          />
          <span>
            {progress.done} of {progress.total} games
          </span>
        </div>
      )}
      <div class="button-row">
        {control.isRunning ? (
          <Button
            label={control.isStopping ? 'Stopping …' : 'Stop the loop'}
            onClick={order('stopLoop')}
            disabled={control.isStopping}
          />
        ) : (
          <Button
            label={state.generation === 0 ? 'Start the loop' : 'Go on with the loop'}
            class="primary"
            onClick={order('startLoop')}
            disabled={control.isElsewhere || control.obstacle !== ''}
          />
        )}
        <span class="faint">{control.isElsewhere ? 'Another process runs this loop.' : control.obstacle}</span>
      </div>
      {control.lines.length > 0 && (
        <div class="loop-lines raised small" role="log" aria-label="What the loop says">
          {control.lines.slice(-SHOWN_LINES).join('\n')}
        </div>
      )}
      {state.changes.slice(-SHOWN_CHANGES).map((change) => (
        <p key={change} class="faint">
          {change}
        </p>
      ))}
    </div>
  );
}

function Charts({ generations }: { readonly generations: readonly LoopGeneration[] }) {
  const measured = generations.filter(({ elo }) => elo !== null);
  const bound = (sign: number): (number | null)[] =>
    measured.map(({ elo, eloError }) => (elo === null || eloError === null ? null : elo + sign * eloError));
  const charts = [
    {
      label: 'Elo of the best network against a kept version, with its error',
      rows: measured,
      series: [{ label: 'Elo', color: '--accent', values: measured.map(({ elo }) => elo) }],
      band: { lower: bound(-1), upper: bound(1) },
    },
    {
      label: 'Losses on held-out positions',
      series: [
        { label: 'Policy loss', color: '--accent', values: generations.map(({ policyLoss }) => policyLoss) },
        { label: 'Value loss', color: '--mistake', values: generations.map(({ valueLoss }) => valueLoss) },
      ],
    },
    {
      label: 'Games of self-play an hour',
      series: [{ label: 'Games an hour', color: '--good', values: generations.map((row) => row.gamesPerHour) }],
    },
    {
      label: 'Positions in the window',
      series: [{ label: 'Window', color: '--dubious', values: generations.map(({ window }) => window) }],
    },
  ];
  return (
    <div class="loop-charts">
      {charts.map(({ label, rows = generations, series, band }) =>
        rows.length === 0 ? null : (
          <LineChart
            key={label}
            label={label}
            xLabel="Generation"
            x={rows.map(({ number }) => number)}
            series={series}
            band={band}
            height={CHART_HEIGHT}
          />
        ),
      )}
    </div>
  );
}

const COLUMNS = [
  'Games',
  'Games/h',
  'Positions',
  'Window',
  'Policy',
  'Value',
  'Gate',
  'Promoted',
  'Elo',
  'Time',
  'Version',
];

function Generations({ state }: { readonly state: LoopState }) {
  const canChange = state.control.obstacle === '' && !state.control.isRunning && !state.control.isElsewhere;
  const renderVersion = (number: number, hasNetwork: boolean) => {
    if (number === state.best) return 'best';
    if (!hasNetwork) return '';
    return (
      <span class="button-row version">
        <Button label="Promote" disabled={!canChange} onClick={assign(wanted, { how: 'promote', network: number })} />
        {number < state.best && (
          <Button
            label="Roll back"
            disabled={!canChange}
            onClick={assign(wanted, { how: 'rollback', network: number })}
          />
        )}
      </span>
    );
  };
  const rows = state.generations.toReversed().map((row) => ({
    key: row.number,
    name: row.number,
    isCurrent: row.number === state.best,
    cells: [
      row.games ?? '–',
      row.gamesPerHour?.toFixed(0) ?? '–',
      row.positions ?? '–',
      row.window ?? '–',
      row.policyLoss?.toFixed(3) ?? '–',
      row.valueLoss?.toFixed(3) ?? '–',
      row.gate === null ? '–' : `+${row.gate[0]} =${row.gate[1]} −${row.gate[2]}`,
      row.promoted === null ? '–' : row.promoted ? 'yes' : 'no',
      row.elo === null ? '–' : formatRating(row.elo, row.eloError),
      formatMinutes(row.seconds),
      renderVersion(row.number, row.hasNetwork),
    ],
  }));
  const first = {
    key: 0,
    name: 0,
    isCurrent: state.best === 0,
    cells: [...COLUMNS.slice(1).map(() => ''), renderVersion(0, state.hasFirstNetwork)],
  };
  return (
    <SummaryTable caption="Generations, newest first" columns={['Generation', ...COLUMNS]} rows={[...rows, first]} />
  );
}

function formatMinutes(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(Math.round(seconds) % 60).padStart(2, '0')}`;
}

function Confirmation() {
  const change = wanted.value;
  if (change === null) return null;
  const consequence =
    change.how === 'rollback'
      ? 'Games of later networks are no longer trained on.'
      : 'It replaces the best network, whatever its gate said.';
  return (
    <ConfirmDialog
      title={`Make generation ${change.network} the best one?`}
      action={change.how === 'rollback' ? 'Roll back' : 'Promote'}
      onConfirm={() => changeBest(change.how, change.network)}
      onClose={assign(wanted, null)}
    >
      <p>{consequence} An unfinished generation is abandoned.</p>
    </ConfirmDialog>
  );
}

const KINDS: Readonly<Record<LoopGameKind, string>> = { games: 'Self-play', gate: 'Gate', measure: 'Measuring' };

/** Games of the loop: self-play, gates and measuring, generation by generation. */
function LoopGameView({ state }: { readonly state: LoopState }) {
  const { headers } = loopStudy.tree.value;
  const { orientation } = loopStudy;
  useEffect(
    () =>
      bindKeys({
        ...createStepKeys(loopStudy),
        previousGame: () => pick(shownLoopGame.value - 1),
        nextGame: () => pick(shownLoopGame.value + 1),
      }),
    [],
  );
  return (
    <section class="loop-games stack" aria-label="Games of the loop">
      <h3>Games</h3>
      <GameChoice numbers={[...state.generations.map(({ number }) => number), state.generation].filter((n) => n > 0)} />
      {shownLoopGame.value >= 0 && (
        <div class="loop-board">
          <div class="loop-position stack">
            <ChessBoard
              fen={loopStudy.node.value.fen}
              orientation={orientation.value}
              lastMove={loopStudy.lastMove.value}
            />
            <StepButtons study={loopStudy} />
          </div>
          <div class="loop-moves">
            <p>
              {headers.get('White')} – {headers.get('Black')} <strong>{headers.get('Result')}</strong>
            </p>
            <MoveList study={loopStudy} />
            <Button
              label="Analyse"
              onClick={() => {
                const place = `loop/${generation.value}/${kind.value}/${shownLoopGame.value}`;
                void analyseGame(loopStudy.tree.value, place, loopStudy.node.value);
              }}
            />
          </div>
        </div>
      )}
    </section>
  );
}

function GameChoice({ numbers }: { readonly numbers: readonly number[] }) {
  const total = counts.value?.[kind.value] ?? 0;
  const typed = useLateText(String(shownLoopGame.value + 1), (text) => pick(Math.round(Number(text)) - 1));
  return (
    <div class="button-row">
      <label class="field-inline">
        Generation{' '}
        <Select
          value={generation.value}
          choices={[[0, 'choose'], ...numbers.toReversed().map((number) => [number, String(number)] as const)]}
          onSelect={(number) => showGeneration(Number(number)).catch(reportError)}
        />
      </label>
      <Select
        aria-label="Kind of games"
        value={kind.value}
        choices={(Object.keys(KINDS) as LoopGameKind[]).map((name) => [
          name,
          `${KINDS[name]}${counts.value === null ? '' : ` (${counts.value[name]})`}`,
        ])}
        onSelect={(name) => showGeneration(generation.value, name as LoopGameKind).catch(reportError)}
      />
      <Button label="Previous" disabled={shownLoopGame.value <= 0} onClick={() => pick(shownLoopGame.value - 1)} />
      <label class="field-inline">
        Game <input type="number" min={1} max={Math.max(1, total)} disabled={total === 0} {...typed} /> of {total}
      </label>
      <Button
        label="Next"
        disabled={total === 0 || shownLoopGame.value + 1 >= total}
        onClick={() => pick(shownLoopGame.value + 1)}
      />
    </div>
  );
}

function pick(game: number): void {
  showLoopGame(game).catch(reportError);
}
