/** The door of options/: what an option is, and the store that holds the values of all of them. */
export {
  listOtherNames,
  mayNameFile,
  type OptionCheck,
  type OptionEffect,
  type OptionSpec,
  type OptionValue,
  parseOptionValue,
} from './option-spec.js';
export { type OptionHandlers, OptionStore } from './option-store.js';
