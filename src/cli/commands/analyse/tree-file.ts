/** A search tree as a file: JSON, or a picture for Graphviz (`dot -Tsvg`). */

import { formatUciMove, type Move } from '../../../chess/rules/index.js';
import { computeWdl, convertPliesToMoves, type TreeDump } from '../../../search/index.js';
import { writeOutput } from '../../write-output.js';

export interface TreeFile {
  /** The root. */
  readonly fen: string;
  /** Castling is written as king takes rook. */
  readonly isChess960: boolean;
  readonly tree: TreeDump;
}

export function isTreeFile(path: string): boolean {
  return /\.(json|dot|gv)$/i.test(path);
}

export async function writeTreeFile(path: string, file: TreeFile): Promise<void> {
  await writeOutput(path, /\.json$/i.test(path) ? formatTreeJson(file) : formatTreeDot(file));
}

/** @param bound −1, 0 or 1 */
function nameResult(bound: number): string {
  return ['loss', 'draw', 'win'][bound + 1];
}

export function formatTreeJson({ fen, isChess960, tree }: TreeFile): string {
  const describe = (node: TreeDump): object => ({
    ...(node.move === 0 ? {} : { move: formatUciMove(node.move as Move, isChess960), prior: round(node.prior) }),
    visits: node.visits,
    ...(node.nodeVisits === node.visits ? {} : { nodeVisits: node.nodeVisits }),
    ...(node.visits === 0 ? {} : { q: round(node.wl), wdl: computeWdl(node.wl, node.d) }),
    ...(node.visits === 0 || node.m === null ? {} : { movesLeft: round(convertPliesToMoves(node.m)) }),
    ...(node.lower === -1 && node.upper === 1 ? {} : { bounds: [nameResult(node.lower), nameResult(node.upper)] }),
    ...(node.terminal === null ? {} : { terminal: node.terminal }),
    ...(node.id === 0 ? {} : { id: node.id }),
    ...(node.isElsewhere ? { transposition: true } : {}),
    ...(node.children.length === 0 ? {} : { children: node.children.map(describe) }),
  });
  return `${JSON.stringify({ fen, root: describe(tree) }, null, 1)}\n`;
}

export function formatTreeDot({ fen, isChess960, tree }: TreeFile): string {
  const lines = [
    'digraph search {',
    `  label=${JSON.stringify(fen)}; labelloc=t; rankdir=LR; node [shape=box fontname=monospace]; edge [fontname=monospace];`,
  ];
  let unnamed = 0;
  const add = (node: TreeDump): string => {
    const name = node.id === 0 ? `leaf${++unnamed}` : `n${node.id}`;
    if (!node.isElsewhere) {
      const { win, draw, loss } = computeWdl(node.wl, node.d);
      const bounds = node.lower === node.upper ? `\\n${nameResult(node.lower)}` : '';
      const value = node.visits === 0 ? '' : `\\n${node.wl.toFixed(3)}\\n${win} ${draw} ${loss}`;
      lines.push(`  ${name} [label="${node.nodeVisits}${value}${bounds}"];`);
    }
    for (const child of node.children) {
      const move = formatUciMove(child.move as Move, isChess960);
      const below = add(child);
      const width = (1 + 4 * (child.visits / Math.max(1, tree.visits))).toFixed(2);
      const label = `${move} ${(100 * child.prior).toFixed(1)}%\\n${child.visits}`;
      lines.push(`  ${name} -> ${below} [label="${label}" penwidth=${width}];`);
    }
    return name;
  };
  add(tree);
  return `${[...lines, '}'].join('\n')}\n`;
}

function round(value: number): number {
  return Number(value.toFixed(6));
}
