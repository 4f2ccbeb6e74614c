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

export function SummaryTable({ caption, columns, rows }: SummaryTableProps) {
  return (
    <div class="table-wrap">
      <table class="summary">
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
              <th scope="row">{name}</th>
              {cells.map((cell, index) => (
                <td key={columns[index + 1]}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
