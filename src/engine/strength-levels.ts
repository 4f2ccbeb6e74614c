/** What plays like which Elo: measured. Written by scripts/strength/calibrate.mjs; not to be edited by hand. */
export interface StrengthLevel {
  readonly elo: number;
  readonly nodes: number;
  /** Of the draw among the moves searched; 0 = the best. */
  readonly temperature: number;
}

/** Weakest first. Elo on the scale of Stockfish's UCI_Elo; 2026-11-22, models/default-int8.onnx (sha256 0a738d68f1c2), Stockfish 15.1. */
export const STRENGTH_LEVELS: readonly StrengthLevel[] = [
  { elo: 1171, nodes: 1, temperature: 0.6 },
  { elo: 1384, nodes: 1, temperature: 0.4 },
  { elo: 1640, nodes: 1, temperature: 0.25 },
  { elo: 1643, nodes: 1, temperature: 0 },
  { elo: 1731, nodes: 4, temperature: 0.1 },
  { elo: 1921, nodes: 16, temperature: 0.25 },
  { elo: 2035, nodes: 64, temperature: 0.25 },
];
