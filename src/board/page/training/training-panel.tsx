/** A training loop: its generations with losses, gates and Elo, kept up to date while the loop runs. */
import { signal } from '@preact/signals';
import { useEffect } from 'preact/hooks';
import type { LoopState } from '../../protocol/replies.js';
import { LineChart } from '../chart/line-chart.js';
import { port, portState, reportError } from '../port/engine-state.js';
import { SummaryTable } from '../shell/summary-table.js';

const POLL_MS = 5000;
const CHART_HEIGHT = 200;

const loop = signal<LoopState | null>(null);

function poll(): void {
  if (portState.value !== 'open') return;
  port.send('readLoop', {}).answer.then((state) => {
    loop.value = state;
  }, reportError);
}

export function TrainingPanel() {
  useEffect(() => {
    const timer = setInterval(poll, POLL_MS);
    return () => clearInterval(timer);
  }, []);
  useEffect(poll, [portState.value]);
  const state = loop.value;
  return (
    <main class="panel-training">
      <section class="training" aria-label="Training">
        {state === null ? (
          <p>
            Start the server with <code>sardonyx board --loop=FOLDER</code> to watch a training loop here.
          </p>
        ) : (
          <Loop state={state} />
        )}
      </section>
    </main>
  );
}

function Loop({ state }: { readonly state: LoopState }) {
  const { generations } = state;
  const x = generations.map(({ number }) => number);
  const formatX = (number: number): string => (Number.isInteger(number) ? String(number) : '');
  return (
    <>
      <h2>{state.folder}</h2>
      <p class="faint">
        Generation {state.generation}, stage {state.stage}; best network {state.best}
      </p>
      <LineChart
        label="Elo of the best network over the first"
        xLabel="Generation"
        x={x}
        series={[{ label: 'Elo', color: '--accent', values: generations.map(({ elo }) => elo), fill: true }]}
        height={CHART_HEIGHT}
        formatX={formatX}
      />
      <LineChart
        label="Losses on held-out positions"
        xLabel="Generation"
        x={x}
        series={[
          { label: 'Policy loss', color: '--accent', values: generations.map(({ policyLoss }) => policyLoss) },
          { label: 'Value loss', color: '--mistake', values: generations.map(({ valueLoss }) => valueLoss) },
        ]}
        height={CHART_HEIGHT}
        formatX={formatX}
      />
      <SummaryTable
        caption="Generations, newest first"
        columns={['Generation', 'Games', 'Positions', 'Policy loss', 'Value loss', 'Gate', 'Promoted', 'Elo']}
        rows={generations.toReversed().map((row) => ({
          key: row.number,
          name: row.number,
          cells: [
            row.games ?? '–',
            row.positions ?? '–',
            row.policyLoss?.toFixed(3) ?? '–',
            row.valueLoss?.toFixed(3) ?? '–',
            row.gate === null ? '–' : `+${row.gate[0]} =${row.gate[1]} −${row.gate[2]}`,
            row.promoted === null ? '–' : row.promoted ? 'yes' : 'no',
            row.elo?.toFixed(0) ?? '–',
          ],
        }))}
      />
    </>
  );
}
