/** What plays like which Elo: measured. Written by scripts/strength/calibrate.mjs; not to be edited by hand. */
export interface StrengthLevel {
  readonly elo: number;
  readonly nodes: number;
  /** Of the draw among the moves searched; 0 = the best. */
  readonly temperature: number;
}

/** Weakest first. Elo on the scale of Stockfish's UCI_Elo; 2026-11-21, models/default.onnx (sha256 df307f27b733), Stockfish 15.1. */
export const STRENGTH_LEVELS: readonly StrengthLevel[] = [
  { elo: 899, nodes: 1, temperature: 0.6 },
  { elo: 1078, nodes: 1, temperature: 0.4 },
  { elo: 1243, nodes: 1, temperature: 0.25 },
  { elo: 1333, nodes: 1, temperature: 0 },
  { elo: 1456, nodes: 4, temperature: 0.1 },
  { elo: 1645, nodes: 16, temperature: 0.25 },
  { elo: 1850, nodes: 64, temperature: 0.25 },
  { elo: 1948, nodes: 256, temperature: 0.25 },
];
