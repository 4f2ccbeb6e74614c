/**
 * Finds layer norms that a graph spells out as single operators (mean, difference, squares, their mean, root, quotient) and keeps
 * them in single precision when the graph becomes half. In half precision squares overflow from 256 on and small ones vanish; the
 * operator LayerNormalization computes in single precision inside. RMS norms, without the first mean, are found too.
 */

import { type GraphMessage, type NodeMessage, type TensorMessage, TensorType } from '../../nn/index.js';
import { GraphIndex } from '../onnx-model.js';
import { createNode } from './graph-edit.js';

/** The nodes from the first mean to the quotient, without scale and shift. */
export function findNorms(graph: GraphMessage): Set<NodeMessage> {
  const index = new GraphIndex(graph);
  const getMaker = (name: string | undefined, ...types: string[]): NodeMessage | undefined => {
    const maker = index.findMaker(name ?? '');
    return maker !== undefined && types.includes(maker.opType ?? '') ? maker : undefined;
  };
  const isConstant = (name: string): boolean => (index.findMaker(name)?.opType ?? 'Constant') === 'Constant';
  const found = new Set<NodeMessage>();
  for (const root of graph.node ?? []) {
    if (root.opType !== 'Sqrt' && root.opType !== 'Pow') continue;
    const sum = getMaker(root.input?.[0], 'Add');
    const mean = [root, ...(sum ? [sum] : [])]
      .flatMap(({ input }) => input ?? [])
      .map((name) => getMaker(name, 'ReduceMean'))
      .find((node) => node !== undefined);
    const square = getMaker(mean?.input?.[0], 'Mul', 'Pow');
    if (mean === undefined || square === undefined) continue;
    if (square.opType === 'Mul' && square.input?.[0] !== square.input?.[1]) continue;
    const difference = getMaker(square.input?.[0], 'Sub');
    const centre = difference?.input?.map((name) => getMaker(name, 'ReduceMean')).find((node) => node !== undefined);
    const isCentred = centre !== undefined && difference?.input?.includes(centre.input?.[0] ?? '');
    const deviation = root.output?.[0] ?? '';
    const isOneOver = ({ opType, input }: NodeMessage): boolean =>
      opType === 'Reciprocal' || (opType === 'Div' && input?.[1] === deviation && isConstant(input[0]));
    const inverses = index.listUsers(deviation).filter(isOneOver);
    const quotients = [root, ...inverses]
      .flatMap(({ output }) => index.listUsers(output?.[0] ?? ''))
      .filter(({ opType }) => opType === 'Div' || opType === 'Mul');
    const parts = [centre, difference].filter((node) => node !== undefined);
    for (const node of [...(isCentred ? parts : []), square, mean, root, ...inverses, ...quotients]) found.add(node);
    if (sum !== undefined) found.add(sum);
  }
  return found;
}

/** Weights and constants of the norms, which must stay single. If other nodes use them too, the norms get copies. */
export function separateConstants(graph: GraphMessage, norms: ReadonlySet<NodeMessage>): Set<TensorMessage> {
  const index = new GraphIndex(graph);
  const kept = new Set<TensorMessage>();
  const copies = new Map<string, string>();
  for (const node of norms) {
    for (const [i, name] of (node.input ?? []).entries()) {
      const tensor = index.findConstant(name);
      if (tensor?.dataType !== TensorType.FLOAT) continue;
      if (index.listUsers(name).every((user) => norms.has(user))) {
        kept.add(tensor);
        continue;
      }
      let copy = copies.get(name);
      if (copy === undefined) {
        copy = findFreeName(graph, `${name}/single`);
        copies.set(name, copy);
        const single = { ...tensor, name: copy };
        graph.initializer = [...(graph.initializer ?? []), single];
        kept.add(single);
      }
      node.input = (node.input ?? []).with(i, copy);
    }
  }
  return kept;
}

/** Adds casts to single precision before these nodes and to half behind them. All other nodes already compute in half. */
export function insertCasts(graph: GraphMessage, norms: ReadonlySet<NodeMessage>): void {
  const index = new GraphIndex(graph);
  const createCast = (input: string, output: string, to: number): NodeMessage =>
    createNode(graph, output, [input], { opType: 'Cast', attributes: { to } });
  const nodes: NodeMessage[] = [];
  const wide = new Map<string, string>();
  const narrow = new Map<string, string>();
  for (const { output = [] } of norms) {
    for (const name of output) {
      if (index.listUsers(name).some((user) => !norms.has(user))) narrow.set(name, findFreeName(graph, `${name}/half`));
    }
  }
  for (const node of graph.node ?? []) {
    if (!norms.has(node)) {
      node.input = (node.input ?? []).map((name) => narrow.get(name) ?? name);
      nodes.push(node);
      continue;
    }
    node.input = (node.input ?? []).map((name, i) => {
      const maker = index.findMaker(name);
      const isAxes = i > 0 && node.opType === 'ReduceMean';
      const isWide = maker !== undefined && norms.has(maker);
      if (isAxes || isWide || maker?.opType === 'Constant' || index.findConstant(name)) return name;
      const known = wide.get(name);
      if (known !== undefined) return known;
      const single = findFreeName(graph, `${name}/single`);
      wide.set(name, single);
      nodes.push(createCast(name, single, TensorType.FLOAT));
      return single;
    });
    nodes.push(node);
    for (const name of node.output ?? []) {
      const half = narrow.get(name);
      if (half !== undefined) nodes.push(createCast(name, half, TensorType.FLOAT16));
    }
  }
  graph.node = nodes;
}

/** A name for a new tensor. */
function findFreeName(graph: GraphMessage, wish: string): string {
  const isTaken = (name: string): boolean =>
    (graph.node ?? []).some((node) => node.output?.includes(name)) ||
    (graph.initializer ?? []).some((tensor) => tensor.name === name);
  let name = wish;
  while (isTaken(name)) name += "'";
  return name;
}
