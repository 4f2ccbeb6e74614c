/** What plays like which Elo: measured. Written by scripts/strength/calibrate.mjs; not to be edited by hand. */
export interface StrengthLevel {
  readonly elo: number;
  readonly nodes: number;
  /** Of the draw among the moves searched; 0 = the best. */
  readonly temperature: number;
}

/** Weakest first. Elo on the scale of Stockfish's UCI_Elo; 2026-11-21, models/default.onnx, Stockfish 15.1. */
export const STRENGTH_LEVELS: readonly StrengthLevel[] = [
  { elo: 1000, nodes: 1, temperature: 0.5 },
  { elo: 1350, nodes: 1, temperature: 0.1 },
  { elo: 1900, nodes: 512, temperature: 0.25 },
];
