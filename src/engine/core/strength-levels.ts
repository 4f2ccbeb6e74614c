/** The settings that reach each Elo, as measured. Written by scripts/lab/strength/calibrate.mjs; do not edit it by hand. */
export interface StrengthLevel {
  readonly elo: number;
  readonly nodes: number;
  /** Of the random choice among the moves searched; 0 = always the best. */
  readonly temperature: number;
}

/** The bundled network with which they were measured, by its name. */
export const LEVELS_NETWORK = 'light';

/** Weakest first. Elo on the scale of Stockfish's UCI_Elo; 2026-11-28, models/light.onnx (sha256 1ac429923789), Stockfish 15.1 at 5+0.05. */
export const STRENGTH_LEVELS: readonly StrengthLevel[] = [
  { elo: 317, nodes: 1, temperature: 2 },
  { elo: 747, nodes: 1, temperature: 1.2 },
  { elo: 1083, nodes: 1, temperature: 0.8 },
  { elo: 1200, nodes: 1, temperature: 0.6 },
  { elo: 1358, nodes: 1, temperature: 0.4 },
  { elo: 1543, nodes: 1, temperature: 0.25 },
  { elo: 1785, nodes: 16, temperature: 0.25 },
  { elo: 1898, nodes: 64, temperature: 0.25 },
  { elo: 1997, nodes: 256, temperature: 0.15 },
  { elo: 2123, nodes: 1024, temperature: 0.1 },
  { elo: 2245, nodes: 4096, temperature: 0 },
  { elo: 2503, nodes: 16384, temperature: 0 },
];
