/** The door of explain/: which squares a network's answer hangs on. */
export { type ClassActivation, computeClassActivation } from './class-activation.js';
export { computeOcclusion } from './occlusion-client.js';
export type { Occlusion, Opinion } from './occlusion-worker.js';
