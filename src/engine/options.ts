/** The second, light door of engine/: its options. It loads no code that plays. */
export { acceptedOptions, engineOptions } from './engine-options.js';
export { isStrengthLimited, STRONGEST_ELO, WEAKEST_ELO } from './strength.js';
export { LEVELS_NETWORK } from './strength-levels.js';
