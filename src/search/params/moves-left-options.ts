/** The bonus for short wins and long losses, from the moves-left output of a network (lc0: MLH). */
import type { OptionSpec } from '../../options/index.js';

export const movesLeftOptions = {
  movesLeftMaxEffect: {
    uci: 'MovesLeftMaxEffect',
    flag: 'moves-left-max-effect',
    kind: 'float',
    default: 0.0345,
    min: 0,
    max: 1,
    help: 'Largest bonus for a shorter win or a longer loss.',
  },
  movesLeftThreshold: {
    uci: 'MovesLeftThreshold',
    flag: 'moves-left-threshold',
    kind: 'float',
    default: 0.8,
    min: 0,
    max: 1,
    help: 'Absolute value from which moves left count.',
  },
  movesLeftSlope: {
    uci: 'MovesLeftSlope',
    flag: 'moves-left-slope',
    kind: 'float',
    default: 0.0027,
    min: 0,
    max: 1,
    help: 'Bonus per ply of difference in moves left.',
  },
  movesLeftConstantFactor: {
    uci: 'MovesLeftConstantFactor',
    flag: 'moves-left-constant-factor',
    kind: 'float',
    default: 0,
    min: -1,
    max: 1,
    help: 'Constant multiplier of the moves-left bonus.',
  },
  movesLeftScaledFactor: {
    uci: 'MovesLeftScaledFactor',
    flag: 'moves-left-scaled-factor',
    kind: 'float',
    default: 1.6521,
    min: -2,
    max: 2,
    help: 'Multiplier of the moves-left bonus that grows with the value.',
  },
  movesLeftQuadraticFactor: {
    uci: 'MovesLeftQuadraticFactor',
    flag: 'moves-left-quadratic-factor',
    kind: 'float',
    default: -0.6521,
    min: -1,
    max: 1,
    help: 'Multiplier of the moves-left bonus that grows with the square of the value.',
  },
} as const satisfies Record<string, OptionSpec>;
