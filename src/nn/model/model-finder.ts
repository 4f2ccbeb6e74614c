/** Which edition of a network a backend wants: a device may run it in half precision, the processor in a form of its own. */
import { type Result, success } from '../../util/index.js';
import type { OnnxPlan } from '../backend/backend-plan.js';
import { loadModel, type Model, type ModelSource } from './model-file.js';

export type ModelEdition = Pick<OnnxPlan, 'provider' | 'precision'>;
export type ModelFinder = (edition: ModelEdition) => Promise<Result<ModelSource>>;

/** A source is the same for all. */
export async function loadEdition(wanted: ModelSource | ModelFinder, edition: ModelEdition): Promise<Result<Model>> {
  const source = typeof wanted === 'function' ? await wanted(edition) : success(wanted);
  return source.ok ? loadModel(source.value) : source;
}
