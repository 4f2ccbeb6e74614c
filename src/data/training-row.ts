/**
 * The training targets of one position, all from the mover's view. A reader fills one object again and again; the shard
 * batch copies it into columns.
 */
const MAX_TARGETS = 256;

export interface TrainingRow {
  /** Hash of the game and ply in it: where the row came from. */
  game: number;
  ply: number;
  /** Number of entries in use in the target arrays. */
  targetCount: number;
  /** Target moves of the policy: the best one first; those with scores in their order. */
  readonly targetMoves: Uint16Array;
  /** Kind of policy target: probabilities, or scores that the training turns into probabilities. */
  targetKind: 'weights' | 'scores';
  readonly targetWeights: Float32Array;
  /** Centipawns; ±(32000 − 2n) for mate in n. */
  readonly targetScores: Int16Array;
  /** Game result: 1 won, 0 drawn, −1 lost. */
  result: number | null;
  centipawns: number | null;
  /** Search value W − L and draw probability. */
  valueWl: number | null;
  valueDraw: number | null;
  pliesLeft: number | null;
  /** How far a network's first impression was from the label: KL of its policy in nats, |error of its W − L|. */
  policyKl: number | null;
  valueError: number | null;
}

export function createTrainingRow(): TrainingRow {
  return {
    game: 0,
    ply: 0,
    targetCount: 0,
    targetMoves: new Uint16Array(MAX_TARGETS),
    targetKind: 'weights',
    targetWeights: new Float32Array(MAX_TARGETS),
    targetScores: new Int16Array(MAX_TARGETS),
    result: null,
    centipawns: null,
    valueWl: null,
    valueDraw: null,
    pliesLeft: null,
    policyKl: null,
    valueError: null,
  };
}

/** A position that comes with planes and policy indices instead of a board; the row's `targetMoves` are not used. */
export interface EncodedRow {
  readonly masks: Uint32Array;
  readonly planeValues: Float32Array;
  legalCount: number;
  readonly legalIndices: Uint16Array;
  /** As many as the row's `targetCount`. */
  readonly targetIndices: Uint16Array;
}
