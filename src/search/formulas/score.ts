/**
 * Formulas that turn search values into the scores and the WDL of info lines. Sources: lc0's search/classic/search.cc (SendUciInfo)
 * and, for `centipawn_leela`, the Leela explanation of 2018.
 *
 * Legend: wl = win minus loss in [−1, 1]; d = draw probability; q = wl + drawScore·d; mu = location of the WDL fit.
 * All are from the view of the side to move at the root, and so is the result. Results are truncated to whole numbers, as
 * lc0's conversion to int does.
 */
export const SCORE_TYPES = [
  'centipawn',
  'centipawn_with_drawscore',
  'centipawn_2019',
  'centipawn_2018',
  'win_percentage',
  'Q',
  'W-L',
  'WDL_mu',
  'centipawn_leela',
] as const;

export type ScoreType = (typeof SCORE_TYPES)[number];

export interface ScoreInput {
  readonly wl: number;
  readonly d: number;
  readonly q: number;
  readonly mu: number;
}

/** The game has ended in a draw. */
export const DRAWN_VALUES: ScoreInput = { wl: 0, d: 1, q: 0, mu: 0 };

/** Above this |wl| + d the location of the fit is meaningless. */
const MU_LIMIT = 0.996;
/** Limit of the score, because a tangent has poles. */
const MAX_SCORE = 100000;

export function computeScore(type: ScoreType, input: ScoreInput): number {
  const score = Math.trunc(computeRawScore(type, input));
  // `|| 0` turns −0 into 0, and NaN (from an invalid value) into a harmless score.
  return Math.max(-MAX_SCORE, Math.min(MAX_SCORE, score)) || 0;
}

function computeRawScore(type: ScoreType, { wl, d, q, mu }: ScoreInput): number {
  switch (type) {
    case 'centipawn':
      return 90 * Math.tan(1.5637541897 * wl);
    case 'centipawn_with_drawscore':
      return 90 * Math.tan(1.5637541897 * q);
    case 'centipawn_2019':
      return (295 * wl) / (1 - 0.976953126 * wl ** 14);
    case 'centipawn_2018':
      return 290.680623072 * Math.tan(1.548090806 * wl);
    case 'win_percentage':
      return 5000 * wl + 5000;
    case 'Q':
      return 10000 * q;
    case 'W-L':
      return 10000 * wl;
    case 'centipawn_leela':
      return 111.714640912 * Math.tan(1.5620688421 * q);
    case 'WDL_mu': {
      const centipawns = 45 * Math.tan(1.56728071628 * wl);
      const usesMu =
        mu !== 0 && Math.abs(wl) + d < MU_LIMIT && (Math.abs(mu) < 1 || Math.abs(centipawns) < Math.abs(100 * mu));
      return usesMu ? 100 * mu : centipawns;
    }
  }
}

/** The search counts plies to the end of the game; every report and every JSON answer says full moves. */
export function convertPliesToMoves(plies: number): number {
  return (1 + plies) / 2;
}

/** Per mille: the shape of results in the library, in JSON and for the page. */
export interface Wdl {
  readonly win: number;
  readonly draw: number;
  readonly loss: number;
}

/** Per mille; the three numbers sum to 1000. */
export function computeWdl(wl: number, d: number): Wdl {
  let win = clampPerMille(500 * (1 + wl - d));
  let loss = clampPerMille(500 * (1 - wl - d));
  const draw = 1000 - win - loss;
  if (draw >= 0) return { win, draw, loss };
  win = Math.min(1000, Math.max(0, win + Math.trunc(draw / 2)));
  loss = 1000 - win;
  return { win, draw: 0, loss };
}

function clampPerMille(value: number): number {
  return Math.min(1000, Math.max(0, Math.round(value))) || 0;
}
