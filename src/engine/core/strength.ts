/**
 * Limited strength, by Stockfish's names: UCI_LimitStrength with UCI_Elo, or Skill Level (0 to 20) on the same scale.
 *
 * A weak level searches few nodes, down to one, and chooses its move at random, by a temperature, among those that look nearly
 * as good as the best one. The search has one batch at a time and starts from an empty tree, so a level depends neither on
 * earlier moves nor, unless its clock is too fast for its nodes, on the machine. A queen or rook mates a bare king at every level
 * (mop-up.ts).
 */
import type { OptionStore } from '../../base/options/index.js';
import type { SearchParams } from '../../search/index.js';
import { STRENGTH_LEVELS, type StrengthLevel } from './strength-levels.js';

export type Strength = Pick<StrengthLevel, 'nodes' | 'temperature'>;

/** A level never plays a move whose win probability is lower than the best one's by more percent than this. */
export const STRENGTH_VALUE_CUTOFF = 5;
export const FULL_SKILL = 20;

const ELO_STEP = 50;
/** The range of Elo that was measured. */
export const WEAKEST_ELO = Math.ceil(STRENGTH_LEVELS[0].elo / ELO_STEP) * ELO_STEP;
export const STRONGEST_ELO = Math.floor(STRENGTH_LEVELS[STRENGTH_LEVELS.length - 1].elo / ELO_STEP) * ELO_STEP;

/** Interpolates between measured levels: nodes geometrically, temperature linearly. Outside the range: the nearest level. */
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

/** Skill level 0 is the weakest Elo. Each level adds a twentieth of the range; the last one is full strength. */
export function computeSkillElo(level: number): number {
  return WEAKEST_ELO + ((STRONGEST_ELO - WEAKEST_ELO) * level) / FULL_SKILL;
}

export function isStrengthLimited(options: OptionStore): boolean {
  return readStrength(options) !== null;
}

/** Null for full strength. */
export function readStrength(options: OptionStore): Strength | null {
  if (options.getBoolean('UCI_LimitStrength')) return computeStrength(options.getNumber('UCI_Elo'));
  const skill = options.getNumber('Skill Level');
  return skill === FULL_SKILL ? null : computeStrength(computeSkillElo(skill));
}

/** Positions evaluated at a time: one for every 128 nodes of the search, from 1 to 8, so that a large search is fast. */
export function computeMinibatch(nodes: number): number {
  return Math.min(8, Math.max(1, Math.floor(nodes / 128)));
}

export function weaken(params: SearchParams, { nodes, temperature }: Strength): SearchParams {
  return {
    ...params,
    temperature,
    tempDecayMoves: 0,
    tempCutoffMove: 0,
    tempVisitOffset: 0,
    tempValueCutoff: STRENGTH_VALUE_CUTOFF,
    minibatchSize: computeMinibatch(nodes),
    batchesInFlight: 1,
    maxPrefetch: 0,
    solidTreeThreshold: Number.POSITIVE_INFINITY,
    smartPruningFactor: 0,
  };
}
