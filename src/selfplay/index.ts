/** The door of selfplay/: games between engines and networks, and what is made of them. */
export { EngineError } from './client/engine-process.js';
export { createEngineSpec, type EngineSpec, parsePairs } from './client/engine-spec.js';
export { LabelFiles } from './label/label-files.js';
export { runLabelling } from './label/label-run.js';
export type { LabelSettings, StartSource } from './label/label-settings.js';
export { openStartBooks, parseStartSource } from './label/start-books.js';
