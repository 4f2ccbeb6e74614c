/**
 * Limited strength, by Stockfish's names: UCI_LimitStrength with UCI_Elo, or Skill Level (0 to 20) on the same scale.
 *
 * A weak player of our kind sees little rather than errs at random: its search is a few nodes, down to the network's first
 * impression, and its move is drawn by a temperature among those that look nearly as good as the best. The search is
 * sequential and starts from an empty tree, so that a level does not depend on the machine or on the moves before.
 */
import type { OptionStore } from '../options/index.js';
import type { SearchParams } from '../search/index.js';
import { STRENGTH_LEVELS, type StrengthLevel } from './strength-levels.js';

export type Strength = Pick<StrengthLevel, 'nodes' | 'temperature'>;

/** Moves that look worse than the best by more than this, in percent of win probability, are not played. */
export const STRENGTH_VALUE_CUTOFF = 5;
export const FULL_SKILL = 20;

const ELO_STEP = 50;
/** The part of the scale that was measured. */
export const WEAKEST_ELO = Math.ceil(STRENGTH_LEVELS[0].elo / ELO_STEP) * ELO_STEP;
export const STRONGEST_ELO = Math.floor(STRENGTH_LEVELS[STRENGTH_LEVELS.length - 1].elo / ELO_STEP) * ELO_STEP;

/** Between two measured levels: nodes by their ratio, the temperature evenly. Beyond the ends: the end. */
export function computeStrength(elo: number, levels: readonly StrengthLevel[] = STRENGTH_LEVELS): Strength {
  const above = levels.findIndex((level) => level.elo >= elo);
  if (above <= 0) return levels[above === 0 ? 0 : levels.length - 1];
  const [low, high] = [levels[above - 1], levels[above]];
  const share = (elo - low.elo) / (high.elo - low.elo);
  return {
    nodes: Math.round(low.nodes * (high.nodes / low.nodes) ** share),
    temperature: low.temperature + (high.temperature - low.temperature) * share,
  };
}

/** Skill level 0 is the weakest Elo; each level adds a twentieth of the scale, and the last one is full strength. */
export function computeSkillElo(level: number): number {
  return WEAKEST_ELO + ((STRONGEST_ELO - WEAKEST_ELO) * level) / FULL_SKILL;
}

/** Null = full strength. */
export function readStrength(options: OptionStore): Strength | null {
  if (options.getBoolean('UCI_LimitStrength')) return computeStrength(options.getNumber('UCI_Elo'));
  const skill = options.getNumber('Skill Level');
  return skill === FULL_SKILL ? null : computeStrength(computeSkillElo(skill));
}

export function weaken(params: SearchParams, { temperature }: Strength): SearchParams {
  return {
    ...params,
    temperature,
    tempDecayMoves: 0,
    tempCutoffMove: 0,
    tempVisitOffset: 0,
    tempValueCutoff: STRENGTH_VALUE_CUTOFF,
    minibatchSize: 1,
    batchesInFlight: 1,
    smartPruningFactor: 0,
  };
}
