/** How White's expected points moved during this search. */
import { LineChart } from '../chart/line-chart.js';
import { valueHistory } from './board-analysis.js';

const HEIGHT = 190;
const FEWEST_NODES = 10;

export function ValueGraph() {
  // The first few nodes say little and jump about.
  const points = valueHistory.value.filter(({ nodes }) => nodes >= FEWEST_NODES);
  if (points.length === 0) return <p class="faint panel-hint">The graph appears when the engine analyses.</p>;
  return (
    <LineChart
      label="White’s expected points during the search"
      xLabel="Seconds"
      x={points.map(({ timeMs }) => timeMs / 1000)}
      series={[{ label: 'White', color: '--accent', values: points.map((point) => 100 * point.points), fill: true }]}
      height={HEIGHT}
      range={[0, 100]}
      formatX={(seconds) => `${seconds} s`}
      formatY={(points) => `${Math.round(points)} %`}
    />
  );
}
