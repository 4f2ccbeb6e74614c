/**
 * A model as one list of nodes: calls of its functions are replaced by the functions' nodes, and the nodes of branches stand before
 * the node that chooses between them. So what looks for dangers, or asks ONNX Runtime for shapes, needs to look at no other place.
 * Tensors of the main graph keep their names. Never run: it computes all branches.
 */
import type {
  AttributeMessage,
  FunctionMessage,
  GraphMessage,
  NodeMessage,
  ReadModel,
  SparseTensorMessage,
  TensorMessage,
} from './onnx-messages.js';

/** Why a model is refused: a sentence without its subject. */
export class Refusal extends Error {}

export interface FlatNode extends NodeMessage {
  readonly input: string[];
  readonly output: string[];
  readonly opType: string;
  readonly attribute: AttributeMessage[];
  /** For each branch, the names of its outputs in the flat graph. */
  readonly branches: readonly (readonly string[])[];
}

export interface FlatGraph {
  /** No node stands before those that make its inputs. */
  readonly nodes: readonly FlatNode[];
  readonly initializer: readonly TensorMessage[];
  readonly sparseInitializer: readonly SparseTensorMessage[];
}

/** Inputs, outputs and attributes of all nodes, and four for each node. The largest real networks have a tenth of it. */
const MOST_PARTS = 300_000;
/** Branches in branches, calls in calls. */
const DEEPEST = 16;

/** @throws Refusal */
export function flattenModel({ functions = [], graph }: ReadModel): FlatGraph {
  return new Flattening(functions).flatten(graph);
}

/** Names within one graph or function → names in the flat graph. */
class Scope {
  private readonly names = new Map<string, string>();

  constructor(private readonly outer: Scope | null) {}

  define(name: string, flat: string): void {
    if (this.names.has(name)) throw new Refusal(`has two tensors of the name ${name}`);
    this.names.set(name, flat);
  }

  has(name: string): boolean {
    return this.names.has(name);
  }

  /** '' for an input that is left out. A name that nothing defines becomes one that no tensor has. */
  find(name: string): string {
    return name === '' ? '' : (this.names.get(name) ?? this.outer?.find(name) ?? `\0${name}`);
  }
}

/** Attributes of a call, for the nodes of the function that refer to them. */
type CallAttributes = ReadonlyMap<string, AttributeMessage>;

interface Place {
  readonly scope: Scope;
  readonly depth: number;
  readonly attributes: CallAttributes;
  /** Outputs of a function → what its caller calls them. */
  readonly outputs: ReadonlyMap<string, string>;
  readonly isMain: boolean;
}

const NO_ATTRIBUTES: CallAttributes = new Map();
const NO_OUTPUTS: Place['outputs'] = new Map();

class Flattening {
  private readonly functions = new Map<string, FunctionMessage>();
  private readonly nodes: FlatNode[] = [];
  private readonly initializer: TensorMessage[] = [];
  private readonly sparseInitializer: SparseTensorMessage[] = [];
  private readonly names = new Set<string>();
  private parts = 0;

  constructor(functions: readonly FunctionMessage[]) {
    for (const { name = '', domain, overload, ...body } of functions) {
      const key = formatFunctionKey(name, domain, overload);
      if (this.functions.has(key)) throw new Refusal(`has two functions of the name ${key}`);
      this.functions.set(key, body);
    }
  }

  flatten(graph: GraphMessage): FlatGraph {
    const place = { scope: new Scope(null), depth: 0, attributes: NO_ATTRIBUTES, outputs: NO_OUTPUTS, isMain: true };
    this.addGraph(graph, place);
    return { ...this, nodes: sortNodes(this.nodes) };
  }

  private addGraph(graph: GraphMessage, place: Place): void {
    const weights = new Set<string>();
    const define = (name: string): string => {
      weights.add(name);
      return this.define(name, place);
    };
    for (const tensor of graph.initializer ?? []) this.initializer.push({ ...tensor, name: define(tensor.name ?? '') });
    for (const sparse of graph.sparseInitializer ?? []) {
      const values = { ...sparse.values, name: define(sparse.values?.name ?? '') };
      this.sparseInitializer.push({ ...sparse, values });
    }
    // Old models list their weights as inputs too.
    for (const { name = '' } of graph.input ?? []) if (!weights.has(name)) this.define(name, place);
    this.addNodes(graph.node ?? [], place);
  }

  private addNodes(nodes: readonly NodeMessage[], place: Place): void {
    for (const { output = [] } of nodes) for (const name of output) if (name !== '') this.define(name, place);
    for (const node of nodes) this.addNode(node, place);
  }

  private addNode(node: NodeMessage, place: Place): void {
    const { scope } = place;
    const { opType = '', domain = '', overload = '' } = node;
    const input = (node.input ?? []).map((name) => scope.find(name));
    const output = (node.output ?? []).map((name) => scope.find(name));
    const given = (node.attribute ?? []).flatMap((attribute) => resolveAttribute(attribute, place.attributes));
    this.parts += 4 + input.length + output.length + given.length;
    if (this.parts > MOST_PARTS) throw new Refusal('has more nodes than any known network');
    const body = this.functions.get(formatFunctionKey(opType, domain, overload));
    if (body !== undefined) {
      this.addCall(body, { input, output, attribute: given }, place.depth);
      return;
    }
    const branches: string[][] = [];
    const addBranch = (graph: GraphMessage): GraphMessage => {
      const [outputs, link] = this.addBranch(graph, place);
      branches.push(outputs);
      return link;
    };
    const attribute = given.map((each) => {
      if (!each.g && !each.graphs?.length) return each;
      const { g, graphs = [], ...rest } = each;
      return { ...rest, ...(g ? { g: addBranch(g) } : {}), graphs: graphs.map(addBranch) };
    });
    this.nodes.push({ input, output, opType, domain, overload, attribute, branches });
  }

  private addCall(body: FunctionMessage, call: Pick<FlatNode, 'input' | 'output' | 'attribute'>, depth: number): void {
    if (depth >= DEEPEST) throw new Refusal('nests its functions too deep');
    if (call.attribute.some(({ g, graphs = [] }) => g || graphs.length > 0))
      throw new Refusal('gives a graph to a function, which is not supported');
    const scope = new Scope(null);
    (body.input ?? []).forEach((name, i) => {
      scope.define(name, call.input[i] ?? '');
    });
    const defaults = body.attributeProto ?? [];
    const attributes = new Map([...defaults, ...call.attribute].map((attribute) => [attribute.name ?? '', attribute]));
    const outputs = new Map<string, string>();
    const aliases: [inner: string, outer: string][] = [];
    (body.output ?? []).forEach((name, i) => {
      const outer = call.output[i] ?? '';
      if (outer === '') return;
      if (scope.has(name) || outputs.has(name)) aliases.push([name, outer]);
      else outputs.set(name, outer);
    });
    this.addNodes(body.node ?? [], { scope, depth: depth + 1, attributes, outputs, isMain: false });
    for (const [inner, outer] of aliases) this.nodes.push(createAlias(scope.find(inner), outer));
  }

  /** @returns the names of its outputs in the flat graph, and a graph that only hands them on */
  private addBranch(graph: GraphMessage, { scope: outer, depth, attributes }: Place): [string[], GraphMessage] {
    if (depth >= DEEPEST) throw new Refusal('nests its graphs too deep');
    const scope = new Scope(outer);
    this.addGraph(graph, { scope, depth: depth + 1, attributes, outputs: NO_OUTPUTS, isMain: false });
    const outputs = (graph.output ?? []).map(({ name = '' }) => scope.find(name));
    const links = outputs.map((output) => createAlias(output, this.createName('branch')));
    const output = (graph.output ?? []).map((info, i) => ({ ...info, name: links[i].output[0] }));
    return [outputs, { name: 'branch', node: links, output }];
  }

  private define(name: string, { scope, outputs, isMain }: Place): string {
    const flat = outputs.get(name) ?? (isMain ? name : this.createName(name));
    scope.define(name, flat);
    this.names.add(flat);
    return flat;
  }

  private createName(name: string): string {
    const created = `${name} #${this.names.size}`;
    if (this.names.has(created)) throw new Refusal(`has two tensors of the name ${created}`);
    this.names.add(created);
    return created;
  }
}

/** As ONNX Runtime writes it, because it looks functions up by this text. */
export function formatFunctionKey(name: string, domain = '', overload = ''): string {
  return `${domain === 'ai.onnx' ? '' : domain}:${name}${overload === '' ? '' : `:${overload}`}`;
}

function resolveAttribute(attribute: AttributeMessage, given: CallAttributes): AttributeMessage[] {
  const { name = '', refAttrName = '' } = attribute;
  if (refAttrName === '') return [attribute];
  const referred = given.get(refAttrName);
  return referred === undefined ? [] : [{ ...referred, name }];
}

function createAlias(input: string, output: string): FlatNode {
  return { input: [input], output: [output], opType: 'Identity', attribute: [], branches: [] };
}

/** ONNX Runtime takes nodes in any order. */
function sortNodes(nodes: readonly FlatNode[]): FlatNode[] {
  const makers = new Map<string, FlatNode>();
  for (const node of nodes) for (const name of node.output) if (name !== '') makers.set(name, node);
  const users = new Map<FlatNode, FlatNode[]>();
  const missing = new Map<FlatNode, number>();
  for (const node of nodes) {
    const before = new Set([...node.input, ...node.branches.flat()].flatMap((name) => makers.get(name) ?? []));
    missing.set(node, before.size);
    for (const maker of before) {
      const known = users.get(maker);
      if (known === undefined) users.set(maker, [node]);
      else known.push(node);
    }
  }
  const sorted = nodes.filter((node) => missing.get(node) === 0);
  for (const node of sorted) {
    for (const user of users.get(node) ?? []) {
      const left = (missing.get(user) ?? 0) - 1;
      missing.set(user, left);
      if (left === 0) sorted.push(user);
    }
  }
  if (sorted.length < nodes.length) throw new Refusal('has nodes that need their own results');
  return sorted;
}
