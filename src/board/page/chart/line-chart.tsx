/**
 * A chart of lines on a canvas (uPlot, loaded with the first chart). A canvas says nothing to a screen reader, so that every chart
 * comes with its numbers as a table that only such programs see; where uPlot cannot start, everybody sees the table. uPlot
 * throws while it loads where the browser's language is no language tag (`en-US@posix`).
 */
import { useEffect, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import { isDark, readColor } from '../shell/appearance.js';

export interface ChartSeries {
  readonly label: string;
  /** As in CSS; a name of a variable of the theme. */
  readonly color: string;
  readonly values: readonly (number | null)[];
  readonly fill?: boolean;
}

interface LineChartProps {
  readonly label: string;
  readonly xLabel: string;
  readonly x: readonly number[];
  readonly series: readonly ChartSeries[];
  readonly height: number;
  /** Error of the first series, painted as a band. */
  readonly band?: { readonly lower: readonly (number | null)[]; readonly upper: readonly (number | null)[] };
  /** Fixed range of the values; as the data needs when left out. */
  readonly range?: readonly [number, number];
  readonly marked?: number | null;
  formatX?(x: number): string;
  formatY?(y: number): string;
  /** A click on the chart, with the index of the nearest point. */
  onPick?(index: number): void;
}

const MOST_TABLE_ROWS = 40;
/** Distances of the numbers on the x axis, which counts moves, games, generations or seconds: whole ones only. */
const WHOLE_STEPS = [1, 10, 100, 1000, 10_000].flatMap((power) => [power, 2 * power, 5 * power]);

export function LineChart(props: LineChartProps) {
  const element = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [canDraw, setCanDraw] = useState(true);
  const { x, series, height, label, xLabel } = props;
  const names = `${series.map((one) => one.label).join('|')}${props.band === undefined ? '' : '±'}`;

  useEffect(() => {
    const host = element.current;
    if (host === null) return;
    const observer = new ResizeObserver(() => chart.current?.setSize({ width: host.clientWidth, height }));
    let isGone = false;
    const draw = ({ default: Plot }: { readonly default: typeof uPlot }) => {
      if (isGone) return;
      const options = createOptions(Plot, latest, host.clientWidth || 300);
      chart.current = new Plot(options, createData(latest.current), host);
      observer.observe(host);
    };
    import('uplot').then(draw).catch(() => setCanDraw(false));
    return () => {
      isGone = true;
      observer.disconnect();
      chart.current?.destroy();
      chart.current = null;
    };
  }, [names, height, isDark.value]);

  useEffect(() => {
    chart.current?.setData(createData(latest.current));
  }, [x, series]);

  useEffect(() => {
    // Only what is drawn over the lines: with its scales, uPlot would forget those of the first draw.
    chart.current?.redraw(false);
  }, [props.marked]);

  const step = Math.max(1, Math.ceil(x.length / MOST_TABLE_ROWS));
  return (
    <figure class="chart">
      <figcaption class="chart-title faint small">{label}</figcaption>
      <div ref={element} aria-hidden="true" />
      <table class={canDraw ? 'visually-hidden' : 'chart-table'}>
        <caption>{label}</caption>
        <thead>
          <tr>
            <th scope="col">{xLabel}</th>
            {series.map((one) => (
              <th key={one.label} scope="col">
                {one.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {x.map((value, index) =>
            index % step === 0 ? (
              <tr key={index}>
                <td>{props.formatX?.(value) ?? value}</td>
                {series.map((one) => (
                  <td key={one.label}>{formatValue(props, one.values[index])}</td>
                ))}
              </tr>
            ) : null,
          )}
        </tbody>
      </table>
    </figure>
  );
}

function formatValue({ formatY }: LineChartProps, value: number | null | undefined): string {
  if (value === null || value === undefined) return '–';
  return formatY?.(value) ?? String(Number(value.toFixed(3)));
}

function createData({ x, series, band }: LineChartProps): uPlot.AlignedData {
  const bounds = band === undefined ? [] : [[...band.upper], [...band.lower]];
  return [[...x], ...series.map(({ values }) => [...values]), ...bounds] as uPlot.AlignedData;
}

/** The two bounds are series without a line of their own. */
function createBand({ series, band }: LineChartProps): Pick<uPlot.Options, 'series' | 'bands'> {
  if (band === undefined) return { series: [] };
  const bound = { width: 0, spanGaps: true, points: { show: false }, stroke: readColor(series[0].color) };
  const upper = series.length + 1;
  return {
    series: [
      { ...bound, label: '+ error' },
      { ...bound, label: '− error' },
    ],
    bands: [{ series: [upper, upper + 1], fill: `${readColor(series[0].color)}30` }],
  };
}

function createOptions(Plot: typeof uPlot, latest: { current: LineChartProps }, width: number): uPlot.Options {
  const { series, height, range, formatX, formatY } = latest.current;
  /** uPlot cannot draw an axis without a range, which it does not find where no value is known yet. */
  const computeRange = (_: uPlot, least: number | null, most: number | null): uPlot.Range.MinMax =>
    least === null || most === null ? [0, 1] : Plot.rangeNum(least, most, 0.1, true);
  const ink = readColor('--faint');
  const grid = { stroke: readColor('--line'), width: 1 };
  const { series: bounds, bands = [] } = createBand(latest.current);
  const axis = { stroke: ink, grid, ticks: { show: false }, font: '11px system-ui, sans-serif' };
  return {
    width,
    height,
    legend: { show: series.length > 1, live: false },
    cursor: { drag: { x: false, y: false }, y: false, points: { size: 6 } },
    scales: { x: { time: false }, y: { range: range === undefined ? computeRange : [range[0], range[1]] } },
    axes: [
      {
        ...axis,
        size: 22,
        incrs: WHOLE_STEPS,
        values: (_, ticks) => ticks.map((tick) => formatX?.(tick) ?? String(tick)),
      },
      { ...axis, size: 44, values: (_, ticks) => ticks.map((tick) => formatY?.(tick) ?? String(tick)) },
    ],
    series: [
      {},
      ...series.map((one) => ({
        label: one.label,
        stroke: readColor(one.color),
        width: 2,
        spanGaps: true,
        // uPlot cannot draw the points of a line that has none.
        points: { show: one.values.length < 2 && one.values[0] != null },
        ...(one.fill === true ? { fill: `${readColor(one.color)}30` } : {}),
      })),
      ...bounds,
    ],
    bands,
    hooks: {
      draw: [(plot) => drawMark(plot, latest.current.marked ?? null)],
      ready: [
        (plot) =>
          plot.over.addEventListener('click', () => {
            const { idx } = plot.cursor;
            if (idx !== null && idx !== undefined) latest.current.onPick?.(idx);
          }),
      ],
    },
  };
}

/** A vertical line where the user is. */
function drawMark(plot: uPlot, marked: number | null): void {
  if (marked === null) return;
  const { ctx, bbox } = plot;
  const x = Math.round(plot.valToPos(marked, 'x', true));
  ctx.save();
  ctx.strokeStyle = readColor('--accent');
  ctx.lineWidth = devicePixelRatio;
  ctx.beginPath();
  ctx.moveTo(x, bbox.top);
  ctx.lineTo(x, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}
