/**
 * What is known of a tensor before the model runs, as far as the sizes of other tensors need it: its shape, and the values of small
 * tensors, by the operators that exporters compute sizes with. A value is exact or unknown, because a size can be a multiple of any
 * small difference: single precision is rounded as the runtime does, and what overflows becomes infinite, which no size may be.
 */
import { concatBytes } from '../../../base/util/index.js';
import type { FlatNode } from './flat-graph.js';
import { countBytes, listData } from './onnx-header.js';
import {
  type AttributeMessage,
  findAttribute,
  getIntegerAttribute,
  getIntegerList,
  type TensorMessage,
} from './onnx-messages.js';
import { readPackedIntegers } from './protobuf-messages.js';
import { TensorType } from './tensor-type.js';

/** What a tensor's values depend on, from the least to the most. */
export const CONSTANT = 0;
/** Shapes of tensors that depend on the graph's inputs. */
export const SHAPES = 1;
/** The values of the graph's inputs. */
export const INPUTS = 2;

export interface Known {
  /** NaN for an unknown dimension; null if not even their number is known. */
  readonly dims: readonly number[] | null;
  /** As `dims`, for small tensors. */
  readonly values: readonly number[] | null;
  /** TensorProto.DataType; 0 if unknown. */
  readonly type: number;
}

export interface Fact extends Known {
  readonly from: number;
  /** Whether something constant that is unknown has gone into the values. */
  readonly hidesConstant: boolean;
}

const UNKNOWN: Known = { dims: null, values: null, type: 0 };
/** What is known of a constant of which nothing is known. */
export const UNKNOWN_CONSTANT: Fact = { ...UNKNOWN, from: CONSTANT, hidesConstant: false };
/** A tensor of more values cannot be a shape. */
const MOST_VALUES = 16;
const { FLOAT, INT32, INT64, BOOL } = TensorType;

export function describeWeight(tensor: TensorMessage): Fact {
  const dims = (tensor.dims ?? []).map(Number);
  const type = tensor.dataType ?? 0;
  const count = countElements(dims);
  const isSmall = count <= MOST_VALUES && countBytes(tensor) <= 16 * MOST_VALUES;
  const values = isSmall ? readValues(tensor, type) : null;
  return { dims, type, values: values?.length === count ? values : null, from: CONSTANT, hidesConstant: false };
}

/** @param dims −1 for open ones */
export function describeInput(dims: readonly number[]): Fact {
  const known = dims.map((size) => (size < 0 ? Number.NaN : size));
  return { ...UNKNOWN, dims: known, from: INPUTS, hidesConstant: false };
}

/** The first output of a node. @param given its inputs; undefined for those that are left out */
export function computeFact(node: FlatNode, given: readonly (Fact | undefined)[]): Fact {
  const inputs = given.filter((fact) => fact !== undefined);
  const from = Math.max(CONSTANT, ...inputs.map((fact) => fact.from));
  if (node.opType === 'Shape' || node.opType === 'Size') {
    const known = fillUnknown(computeShape(node, given[0] ?? UNKNOWN));
    return { ...known, from: Math.min(from, SHAPES), hidesConstant: false };
  }
  const isStandard = (node.domain ?? '') === '' || node.domain === 'ai.onnx';
  const compute = isStandard ? OPERATORS.get(node.opType) : undefined;
  return {
    ...(compute ? fillUnknown(compute(node, given)) : UNKNOWN),
    from,
    hidesConstant:
      compute !== undefined && inputs.some((fact) => fact.hidesConstant || (fact.from === CONSTANT && !isKnown(fact))),
  };
}

/** One of two tensors, by a condition. */
export function chooseFact(condition: Fact | undefined, a: Fact, b: Fact): Fact {
  const [taken] = condition?.values ?? [];
  if (taken !== undefined && Number.isFinite(taken)) return taken === 0 ? b : a;
  const isSame = a.type === b.type && isEqual(a.dims, b.dims) && isEqual(a.values, b.values);
  const from = Math.max(condition?.from ?? CONSTANT, a.from, b.from);
  if (isSame) return { ...a, from, hidesConstant: a.hidesConstant || b.hidesConstant };
  const hidesConstant = [a, b].some((side) => side.hidesConstant || side.from === CONSTANT);
  return { ...UNKNOWN, from, hidesConstant };
}

/** Whether all values are known that do not depend on the graph's inputs. */
export function isKnown({ values, from }: Fact): boolean {
  return values !== null && (from !== CONSTANT || !values.some(Number.isNaN));
}

export function countElements(dims: readonly number[]): number {
  return dims.reduce((product, size) => product * size, 1);
}

/** All dimensions as ONNX broadcasts them; of two that do not fit, the larger one. */
export function broadcast(shapes: readonly (readonly number[])[]): number[] {
  const rank = Math.max(...shapes.map(({ length }) => length));
  return Array.from({ length: rank }, (_, i) => {
    const sizes = shapes.map((dims) => dims[dims.length - rank + i] ?? 1).filter((size) => size !== 1);
    return sizes.length === 0 ? 1 : sizes.includes(0) ? 0 : Math.max(...sizes);
  });
}

function isEqual(a: readonly number[] | null, b: readonly number[] | null): boolean {
  return (
    a === b || (a !== null && b !== null && a.length === b.length && a.every((value, i) => Object.is(value, b[i])))
  );
}

function fillUnknown(known: Known): Known {
  const { dims, values } = known;
  const count = dims === null ? Number.NaN : countElements(dims);
  if (values !== null) return values.length <= MOST_VALUES ? known : { ...known, values: null };
  return count <= MOST_VALUES ? { ...known, values: new Array<number>(count).fill(Number.NaN) } : known;
}

type Compute = (node: FlatNode, given: readonly (Known | undefined)[]) => Known;

function computeShape(node: FlatNode, { dims }: Known): Known {
  if (node.opType === 'Size') return { dims: [], values: dims && [countElements(dims)], type: INT64 };
  if (dims === null) return { dims: [Number.NaN], values: null, type: INT64 };
  const start = getIntegerAttribute(node, 'start', 0);
  const values = dims.slice(start, getIntegerAttribute(node, 'end', dims.length));
  return { dims: [values.length], values, type: INT64 };
}

/** From here on the numbers of a type are not exact, or no numbers. The sum of two singles, rounded from double precision, is exact. */
const LARGEST: ReadonlyMap<number, number> = new Map([
  [INT32, 2 ** 31],
  [INT64, Number.MAX_SAFE_INTEGER],
  [FLOAT, Number.POSITIVE_INFINITY],
]);

/** On scalars and lists. */
function calculate(operation: (a: number, b: number) => number, result?: number): Compute {
  return (_, given) => {
    const dims = broadcastKnown(given);
    const [a, b, ...others] = given;
    if (a?.values == null || b?.values == null || others.length > 0 || !isList(dims)) return { ...UNKNOWN, dims };
    const most = LARGEST.get(a.type);
    if (most === undefined || a.type !== b.type) return { ...UNKNOWN, dims };
    const round = a.type === FLOAT ? Math.fround : Math.trunc;
    const values = spread(dims, [a.values, b.values]).map(([x, y]) => {
      const outcome = round(operation(x, y));
      if ([x, y, outcome].some((value) => Math.abs(value) >= most)) return Number.POSITIVE_INFINITY;
      return Number.isNaN(x + y) ? Number.NaN : outcome;
    });
    return { dims, values, type: result ?? a.type };
  };
}

function transform(operation: (a: number) => number): Compute {
  return (_, [x = UNKNOWN]) => ({ ...x, values: x.values?.map(operation) ?? null });
}

function broadcastKnown(given: readonly (Known | undefined)[]): number[] | null {
  const shapes = given.map((fact) => fact?.dims);
  return shapes.every((dims) => dims != null) && shapes.length > 0 ? broadcast(shapes) : null;
}

function isList(dims: readonly number[] | null): dims is readonly number[] {
  return dims !== null && dims.length <= 1 && countElements(dims) <= MOST_VALUES;
}

/** For each element of a list, the values of all operands. */
function spread(dims: readonly number[], operands: readonly (readonly number[])[]): number[][] {
  return Array.from({ length: countElements(dims) }, (_, i) =>
    operands.map((values) => values[values.length === 1 ? 0 : i] ?? Number.NaN),
  );
}

/** What a slice takes of an axis. */
function cutAxis(size: number, start: number, end: number, step: number): { from: number; step: number; size: number } {
  const clamp = (at: number, least: number, most: number): number =>
    Math.min(Math.max(at < 0 ? at + size : at, least), most);
  const [from, to] =
    step > 0 ? [clamp(start, 0, size), clamp(end, 0, size)] : [clamp(start, 0, size - 1), clamp(end, -1, size - 1)];
  return { from, step, size: Math.max(0, Math.ceil((to - from) / step)) };
}

/** @param source place in the result → place in `x` */
function rearrange(x: Known, dims: readonly number[], source: (place: readonly number[]) => readonly number[]): Known {
  const count = countElements(dims);
  const { values } = x;
  const shape = x.dims ?? [];
  if (values === null || !(count <= MOST_VALUES)) return { dims, values: null, type: x.type };
  const picked = Array.from({ length: count }, (_, index) => {
    const place = source(findPlace(index, dims));
    return values[place.reduce((at, i, axis) => at * shape[axis] + i, 0)] ?? Number.NaN;
  });
  return { dims, values: picked, type: x.type };
}

/** The coordinates of an element of a tensor, by its number. */
function findPlace(index: number, dims: readonly number[]): number[] {
  const place = new Array<number>(dims.length).fill(0);
  let rest = index;
  for (let axis = dims.length - 1; axis >= 0; axis--) {
    place[axis] = rest % dims[axis];
    rest = Math.floor(rest / dims[axis]);
  }
  return place;
}

/** Broadcasts shapes only. */
const spreadShapes: Compute = (_, given) => ({ ...UNKNOWN, dims: broadcastKnown(given) });

function getAxes(node: FlatNode, axes: Known | undefined, rank: number): number[] | null {
  const given = axes === undefined ? getIntegerList(node, 'axes', []) : axes.values;
  if (given === null || given.some((axis) => !Number.isInteger(axis))) return null;
  return given.map((axis) => (axis < 0 ? axis + rank : axis));
}

const OPERATORS: ReadonlyMap<string, Compute> = new Map<string, Compute>(
  Object.entries<Compute>({
    Identity: (_, [x = UNKNOWN]) => x,
    Constant: (node) => readConstant(node.attribute),
    Cast: (node, [x = UNKNOWN]) => cast(x, getIntegerAttribute(node, 'to', 0)),
    CastLike: (_, [x = UNKNOWN, like = UNKNOWN]) => cast(x, like.type),
    ConstantOfShape: (node, [shape = UNKNOWN]) => {
      if (shape.values === null) return UNKNOWN;
      const value = findAttribute(node, 'value')?.t;
      const fill = value ? describeWeight(value) : { values: [0], type: FLOAT };
      return repeat(shape.values, fill.values, fill.type);
    },
    Expand: (_, [x = UNKNOWN, shape = UNKNOWN]) => {
      if (shape.values === null || x.dims === null) return UNKNOWN;
      return repeat(broadcast([x.dims, shape.values]), x.values, x.type);
    },
    Tile: (_, [x = UNKNOWN, repeats = UNKNOWN]) => {
      const { values } = repeats;
      return { ...UNKNOWN, dims: values && x.dims ? x.dims.map((size, i) => size * (values[i] ?? 1)) : null };
    },
    Range: (_, [start, limit, delta]) => {
      const [from, to, step] = [start, limit, delta].map((fact) => fact?.values?.[0]);
      const isExact = [from, to, step].every(Number.isSafeInteger) && start?.type !== FLOAT;
      if (from === undefined || to === undefined || !step || !isExact) return UNKNOWN;
      const count = Math.max(0, Math.ceil((to - from) / step));
      const values = count <= MOST_VALUES ? Array.from({ length: count }, (_, i) => from + i * step) : null;
      return { dims: [count], values, type: start?.type ?? 0 };
    },
    Gather: (node, [data = UNKNOWN, indices = UNKNOWN]) => {
      if (!data.dims?.length || indices.dims === null) return UNKNOWN;
      const rank = data.dims.length;
      const axis = (getIntegerAttribute(node, 'axis', 0) + rank) % rank;
      const dims = [...data.dims.slice(0, axis), ...indices.dims, ...data.dims.slice(axis + 1)];
      const { values } = data;
      const isSimple = rank === 1 && values !== null && indices.values !== null;
      const picked = isSimple ? indices.values.map((i) => values[i < 0 ? i + values.length : i]) : null;
      return { dims, values: picked?.every((value) => value !== undefined) ? picked : null, type: data.type };
    },
    Slice: (node, [x = UNKNOWN, ...bounds]) => {
      const isOld = bounds.length === 0;
      const read = (name: string, i: number, fallback: number[]): readonly number[] | null =>
        isOld ? getIntegerList(node, name, fallback) : bounds[i] === undefined ? fallback : bounds[i].values;
      const starts = read('starts', 0, []);
      const ends = read('ends', 1, []);
      const axes = read('axes', 2, [...(starts ?? []).keys()]);
      const steps = read(
        'steps',
        3,
        (starts ?? []).map(() => 1),
      );
      const bound = [starts, ends, axes, steps].map((list) => (list?.every(Number.isFinite) ? list : null));
      if (x.dims === null || bound.includes(null)) return UNKNOWN;
      const cuts = x.dims.map((size) => ({ from: 0, step: 1, size }));
      axes?.forEach((axis, i) => {
        const at = axis < 0 ? axis + cuts.length : axis;
        cuts[at] = cutAxis(x.dims?.[at] ?? Number.NaN, starts?.[i] ?? 0, ends?.[i] ?? 0, steps?.[i] ?? 1);
      });
      const dims = cuts.map(({ size }) => size);
      return rearrange(x, dims, (place) => place.map((i, axis) => cuts[axis].from + i * cuts[axis].step));
    },
    Transpose: (node, [x = UNKNOWN]) => {
      const order = x.dims && getIntegerList(node, 'perm', [...x.dims.keys()].reverse());
      if (x.dims === null || order === null) return UNKNOWN;
      const source = (place: readonly number[]): number[] => order.map((_, axis) => place[order.indexOf(axis)]);
      return rearrange(
        x,
        order.map((axis) => x.dims?.[axis] ?? Number.NaN),
        source,
      );
    },
    Concat: (_, given) => {
      const lists = given.map((fact) => (fact?.dims?.length === 1 ? fact.values : null));
      const values = lists.every((list) => list !== null) ? lists.flat() : null;
      return values === null ? UNKNOWN : { dims: [values.length], values, type: given[0]?.type ?? 0 };
    },
    Unsqueeze: (node, [x = UNKNOWN, second]) => {
      const axes = getAxes(
        node,
        second,
        (x.dims?.length ?? 0) + (second?.values ?? getIntegerList(node, 'axes', [])).length,
      );
      if (x.dims === null || axes === null) return { ...x, dims: null };
      const dims = [...x.dims];
      for (const axis of [...axes].sort((a, b) => a - b)) dims.splice(axis, 0, 1);
      return { ...x, dims };
    },
    Squeeze: (node, [x = UNKNOWN, second]) => {
      const axes = getAxes(node, second, x.dims?.length ?? 0);
      if (x.dims === null || axes === null) return { ...x, dims: null };
      const goes = (size: number, i: number): boolean => (axes.length === 0 ? size === 1 : axes.includes(i));
      const isSure = axes.length > 0 || !x.dims.some(Number.isNaN);
      return { ...x, dims: isSure ? x.dims.filter((size, i) => !goes(size, i)) : null };
    },
    Reshape: (node, [x = UNKNOWN, shape = UNKNOWN]) => {
      const keepsZero = getIntegerAttribute(node, 'allowzero', 0) === 1;
      const sizes = shape.values?.map((size, i) => (size === 0 && !keepsZero ? (x.dims?.[i] ?? Number.NaN) : size));
      if (sizes === undefined) return { ...x, dims: null };
      const others = countElements(sizes.filter((size) => size !== -1));
      const rest = x.dims === null ? (x.values?.length ?? Number.NaN) : countElements(x.dims);
      return { ...x, dims: sizes.map((size) => (size === -1 ? rest / others : size)) };
    },
    Where: (_, given) => {
      const dims = broadcastKnown(given);
      const [condition, a, b] = given;
      if (condition?.values == null || a?.values == null || b?.values == null || !isList(dims))
        return { ...UNKNOWN, dims };
      const values = spread(dims, [condition.values, a.values, b.values]).map(([isTrue, x, y]) =>
        Number.isFinite(isTrue) ? (isTrue === 0 ? y : x) : Object.is(x, y) ? x : isTrue,
      );
      return { dims, values, type: a.type };
    },
    ReduceProd: (node, [x = UNKNOWN, axes]) => {
      const isWhole = (x.type === INT64 || x.type === INT32) && axes === undefined && x.dims?.length === 1;
      if (!isWhole || x.values === null) return UNKNOWN;
      const dims = getIntegerAttribute(node, 'keepdims', 1) === 0 ? [] : [1];
      const product = countElements(x.values);
      return { dims, values: [Math.abs(product) < 2 ** 31 ? product : Math.abs(product) * Infinity], type: x.type };
    },
    Add: calculate((a, b) => a + b),
    Sub: calculate((a, b) => a - b),
    Mul: calculate((a, b) => a * b),
    Div: calculate((a, b) => (b === 0 ? Number.POSITIVE_INFINITY : a / b)),
    Floor: transform(Math.floor),
    Ceil: transform(Math.ceil),
    Abs: transform(Math.abs),
    Neg: transform((a) => -a),
    Max: calculate(Math.max),
    Min: calculate(Math.min),
    Equal: calculate((a, b) => Number(a === b), BOOL),
    Greater: calculate((a, b) => Number(a > b), BOOL),
    Less: calculate((a, b) => Number(a < b), BOOL),
    ...Object.fromEntries(
      ['Pow', 'Mod', 'Sum', 'Mean', 'PRelu', 'BitShift', 'And', 'Or', 'Xor', 'GreaterOrEqual', 'LessOrEqual'].map(
        (name) => [name, spreadShapes],
      ),
    ),
  }),
);

function repeat(dims: readonly number[], values: readonly number[] | null, type: number): Known {
  const count = countElements(dims);
  const isSmall = count <= MOST_VALUES && values?.length === 1;
  return { dims, values: isSmall ? new Array<number>(count).fill(values[0]) : null, type };
}

function cast(x: Known, type: number): Known {
  const { dims, values } = x;
  if (values === null) return { dims, values, type };
  if (type === BOOL)
    return { dims, values: values.map((value) => (Number.isFinite(value) ? Number(value !== 0) : value)), type };
  if (type === FLOAT) return { dims, values: values.map(Math.fround), type };
  const whole = values.map(Math.trunc);
  const fits = type === INT64 || (type === INT32 && !whole.some((value) => Math.abs(value) >= 2 ** 31));
  return { dims, values: fits ? whole : null, type };
}

/** The value of a node `Constant` is one of its attributes. */
function readConstant(attributes: readonly AttributeMessage[]): Known {
  const [value] = attributes;
  if (value === undefined || attributes.length > 1) return UNKNOWN;
  switch (value.name) {
    case 'value':
      return value.t ? describeWeight(value.t) : UNKNOWN;
    case 'value_int':
      return { dims: [], values: [Number(value.i ?? 0)], type: INT64 };
    case 'value_ints':
      return { dims: [value.ints?.length ?? 0], values: (value.ints ?? []).map(Number), type: INT64 };
    case 'value_float':
      return { dims: [], values: [value.f ?? 0], type: FLOAT };
    case 'value_floats':
      return { dims: [value.floats?.length ?? 0], values: value.floats ?? [], type: FLOAT };
    default:
      return UNKNOWN;
  }
}

function readValues(tensor: TensorMessage, type: number): number[] | null {
  const isRaw = Object.hasOwn(tensor, 'rawData');
  const bytes = concatBytes(listData(isRaw ? { rawData: tensor.rawData ?? new Uint8Array(0) } : tensor));
  const view = new DataView(bytes.buffer);
  const readAll = (size: number, read: (at: number) => number): number[] =>
    Array.from({ length: Math.floor(bytes.length / size) }, (_, i) => read(size * i));
  if (type === FLOAT) return readAll(4, (at) => view.getFloat32(at, true));
  if (!isRaw) return type === INT64 || type === INT32 || type === BOOL ? readPackedIntegers(bytes) : null;
  if (type === INT64) return readAll(8, (at) => Number(view.getBigInt64(at, true)));
  if (type === INT32) return readAll(4, (at) => view.getInt32(at, true));
  return type === BOOL ? readAll(1, (at) => view.getUint8(at)) : null;
}
