/** Refuses a stranger's network whose tensors need more memory than any network does. */
import type { Model } from '../model/model-file.js';
import { findRefusalByShapes, showActivations } from '../model/onnx-limits.js';
import { openPlainly } from './onnx-sessions.js';

/** In single precision; networks of a few megabytes have less than 10 MB a position. */
const ALWAYS_ALLOWED_BYTES = 512 * 2 ** 20;
/** Weights that the graph expands to single precision count too. */
const BYTES_PER_MODEL_BYTE = 16;

/** Rejects when the tensors of one position need more memory than any network does: the runtime would allocate them without asking. */
export async function refuseLargeActivations(model: Model): Promise<void> {
  const { bytes, path } = model;
  let shapes = await readShapes(model, null);
  // The runtime computes no size from a shape, so each round tells the shapes that depend on sizes known by then.
  for (let open = countOpen(shapes), before = Infinity; open > 0 && open < before; ) {
    shapes = await readShapes(model, shapes);
    before = open;
    open = countOpen(shapes);
  }
  const countElements = (shape: Shape): number =>
    shape.reduce<number>((product, size) => product * (typeof size === 'number' && size > 0 ? size : 1), 1);
  const needed = 4 * [...shapes.values()].reduce((sum, shape) => sum + countElements(shape), 0);
  if (needed > ALWAYS_ALLOWED_BYTES + BYTES_PER_MODEL_BYTE * bytes.byteLength) {
    throw new Error(
      `The network ${path} needs ${Math.round(needed / 2 ** 20)} MB for one position, more than any known network`,
    );
  }
  const refusal = findRefusalByShapes(bytes, shapes);
  if (refusal !== null) throw new Error(`The network ${path} ${refusal}`);
}

type Shape = readonly (number | string)[];

async function readShapes(
  { bytes, weightsFolder }: Model,
  known: ReadonlyMap<string, Shape> | null,
): Promise<ReadonlyMap<string, Shape>> {
  // Optimisation would compute what is constant.
  const session = await openPlainly({ model: showActivations(bytes, known), weightsFolder, optimization: 0 });
  const { outputNames, outputShapes } = session;
  await session.release();
  return new Map(outputNames.map((name, i) => [name, outputShapes[i]]));
}

function countOpen(shapes: ReadonlyMap<string, Shape>): number {
  return [...shapes.values()].flat().filter((size) => typeof size !== 'number' || size < 0).length;
}
