/** The settings that reach each Elo, as measured. Written by scripts/lab/strength/calibrate.mjs; do not edit it by hand. */
export interface StrengthLevel {
  readonly elo: number;
  readonly nodes: number;
  /** Of the random choice among the moves searched; 0 = always the best. */
  readonly temperature: number;
}

/** The bundled network with which they were measured, by its name. */
export const LEVELS_NETWORK = 'levels-int8';

/** Weakest first. Elo on the scale of Stockfish's UCI_Elo; 2026-11-24, models/levels-int8.onnx (sha256 70f0a14c640a), Stockfish 15.1 at 5+0.05. */
export const STRENGTH_LEVELS: readonly StrengthLevel[] = [
  { elo: 851, nodes: 1, temperature: 0.8 },
  { elo: 1144, nodes: 1, temperature: 0.6 },
  { elo: 1323, nodes: 1, temperature: 0.4 },
  { elo: 1499, nodes: 1, temperature: 0.25 },
  { elo: 1738, nodes: 16, temperature: 0.25 },
  { elo: 1943, nodes: 64, temperature: 0.25 },
  { elo: 2041, nodes: 256, temperature: 0.15 },
  { elo: 2245, nodes: 1024, temperature: 0.1 },
  { elo: 2379, nodes: 4096, temperature: 0 },
];
