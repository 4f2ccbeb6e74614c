// Chooses positions of labelled games (`sardonyx label`) by a seed, for the scripts of this folder, so that all networks are
// tested on the same positions. Also converts scores to winning chances, by which the scripts measure the loss of a move.
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { gunzipSync } from 'node:zlib';
import { describeReadFailure } from '../../../dist/platform/node/node-files.js';

/** Winning chances in percent of a score in centipawns: Lichess's curve, https://lichess.org/page/accuracy. */
export function getWinChances(centipawns) {
  return 100 / (1 + Math.exp(-0.00368208 * centipawns));
}

/**
 * Win minus loss, −1 … 1, of a score in centipawns: two logistic curves, as training makes its targets (`targets.wdl_offset_cp`,
 * `targets.wdl_scale_cp` in scripts/train/sardonyx_train/config/training_config.py).
 */
export function computeExpectedScore(centipawns) {
  const logistic = (x) => 1 / (1 + Math.exp(-x));
  return logistic((centipawns - 80) / 100) - logistic((-centipawns - 80) / 100);
}

/** A number in [0, 1) that depends on the seed and the text alone. */
export function drawNumber(seed, text) {
  return createHash('sha256').update(`${seed} ${text}`).digest().readUInt32LE(0) / 2 ** 32;
}

/** The games of a .jsonl.gz file; ends the process with one sentence when it cannot be read. */
export function readGames(path) {
  try {
    return gunzipSync(readFileSync(path))
      .toString()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  } catch (error) {
    console.error(`Cannot read the labelled games ${path}: ${describeReadFailure(error)}`);
    process.exit(1);
  }
}
