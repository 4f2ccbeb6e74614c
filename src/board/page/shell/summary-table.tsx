/** A small table of numbers: one row for each player, network or generation. */
import type { ComponentChildren } from 'preact';

interface SummaryTableProps {
  /** For screen readers. */
  readonly caption: string;
  /** Heads of all columns, that of the rows' names first. */
  readonly columns: readonly string[];
  readonly rows: readonly {
    readonly key: string | number;
    readonly name: ComponentChildren;
    readonly cells: readonly ComponentChildren[];
    readonly isCurrent?: boolean;
  }[];
}

/** Columns that a narrow panel has room for; a row of more is shown there as a list of names and numbers. */
const MOST_NARROW_COLUMNS = 7;

export function SummaryTable({ caption, columns, rows }: SummaryTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a table wider than its panel scrolls sideways, and keys must reach it
    <section class="table-wrap" aria-label={caption} tabIndex={0}>
      <table class={columns.length > MOST_NARROW_COLUMNS ? 'summary line-above summary-wide' : 'summary line-above'}>
        <caption class="visually-hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, cells, isCurrent }) => (
            <tr key={key} aria-current={isCurrent === true ? 'true' : undefined}>
              <th scope="row" data-label={columns[0]} title={typeof name === 'string' ? name : undefined}>
                {name}
              </th>
              {cells.map((cell, index) => (
                <td key={columns[index + 1]} data-label={columns[index + 1]}>
                  {cell}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
