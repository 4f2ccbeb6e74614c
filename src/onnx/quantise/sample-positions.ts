/** Positions of the sample games as a network's planes, with the policy indices of their legal moves. */
import { listLegalMoves, Position, parseUciMove } from '../../chess/index.js';
import { expandPlanes } from '../../encoding/index.js';
import type { Model } from '../../nn/index.js';
import { unwrap } from '../../util/index.js';
import type { Batch } from './layer-statistics.js';
import { SAMPLE_GAMES } from './sample-games.js';

export interface SampleBatch extends Batch {
  /** For each row the policy indices of its legal moves. */
  readonly moves: readonly (readonly number[])[];
}

const BATCH_ROWS = 8;

/**
 * @param every takes each position whose ply in its game is `first` modulo `every`
 * @returns batches of eight rows
 */
export function createSamples(format: Model['format'], first: number, every: number): SampleBatch[] {
  const { inputEncoding, policyEncoding } = format;
  const { planes } = inputEncoding;
  const masks = new Uint32Array(2 * planes);
  const values = new Float32Array(planes);
  const rows: { planes: Float32Array; moves: number[] }[] = [];
  for (const game of SAMPLE_GAMES) {
    const position = new Position();
    for (const [ply, text] of game.split(' ').entries()) {
      if (ply % every === first) {
        const transform = inputEncoding.writePacked(position, 'fen_only', masks, 0, values, 0);
        const expanded = new Float32Array(planes * 64);
        expandPlanes(masks, 0, values, 0, planes, expanded, 0);
        const indices = listLegalMoves(position).map((move) => policyEncoding.moveToIndex(position, move, transform));
        rows.push({ planes: expanded, moves: indices });
      }
      position.makeMove(unwrap(parseUciMove(position, text)));
    }
  }
  const batches: SampleBatch[] = [];
  for (let start = 0; start + BATCH_ROWS <= rows.length; start += BATCH_ROWS) {
    const part = rows.slice(start, start + BATCH_ROWS);
    const data = new Float32Array(BATCH_ROWS * planes * 64);
    for (const [row, { planes: expanded }] of part.entries()) data.set(expanded, row * planes * 64);
    batches.push({ rows: BATCH_ROWS, planes: data, moves: part.map(({ moves }) => moves) });
  }
  return batches;
}
