/** The second, light door of engine/: options, without loading what runs. */
export { acceptedOptions } from './accepted-options.js';
export { engineOptions } from './engine-options.js';
export { STRONGEST_ELO, WEAKEST_ELO } from './strength.js';
