/** The door of explain/: which squares a network's answer hangs on. */
export { type ClassActivation, computeClassActivation } from './class-activation.js';
export { computeOcclusion, type Occlusion, type Opinion } from './occlusion-client.js';
