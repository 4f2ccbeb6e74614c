/** The door of options/: what an option is, how tables declare them, and the store that holds the values of all of them. */
export * from './option-spec.js';
export * from './option-store.js';
