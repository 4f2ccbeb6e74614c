/**
 * Networks of strangers: the tiny one with a few nodes more, whose result is added to its WDL, so that ONNX Runtime computes them. The hostile ones would
 * take gigabytes, or never end; the sound ones do what exporters do. Made from messages, so that each can be wrong in any place.
 */
import protobuf from 'protobufjs/minimal.js';
import { concatBytes } from '#sardonyx/base/util/index.js';
import {
  type AttributeMessage,
  decodeModel,
  encodeModel,
  type GraphMessage,
  graphType,
  type ModelMessage,
  type NodeMessage,
  type TensorMessage,
  tensorType,
} from '#sardonyx/networks/nn/index.js';
import type { FunctionMessage } from '#sardonyx/networks/nn/model/onnx-messages.js';
import { createRandomNetwork, TINY } from './random-network.js';
import { WireWriter } from './wire-writer.js';

export interface StrangeNetwork {
  readonly name: string;
  readonly bytes: Uint8Array;
}

export interface HostileNetwork extends StrangeNetwork {
  /** What the refusal says. */
  readonly sentence: RegExp;
}

interface Parts {
  readonly nodes?: readonly NodeMessage[];
  readonly weights?: readonly TensorMessage[];
  readonly functions?: readonly FunctionMessage[];
  readonly graph?: GraphMessage;
}

const FLOAT = 1;
const INT64 = 7;
const INT = { type: 2 };
const INTS = { type: 7 };
const OPSET = { domain: '', version: 17 };
const [ARG_FLOATS, INPUT, WDL] = ['floats', '/input/planes', '/output/wdl'];
/** 3.6 GB as single precision. */
const HUGE = [30_000, 30_000];

function node(
  opType: string,
  input: string[],
  output: string,
  attribute: AttributeMessage[] = [],
  more: NodeMessage = {},
): NodeMessage {
  return { opType, input, output: [output], attribute, ...more };
}

function integers(name: string, values: readonly number[], dims = [values.length]): TensorMessage {
  return { name, dims, dataType: INT64, rawData: new Uint8Array(BigInt64Array.from(values, BigInt).buffer) };
}

function floats(name: string, dims: number[], value = 0): TensorMessage {
  const values = new Float32Array(dims.reduce((product, size) => product * size, 1)).fill(value);
  return { name, dims, dataType: FLOAT, rawData: new Uint8Array(values.buffer) };
}

const whole = (name: string, i: number): AttributeMessage => ({ name, i, ...INT });
const wholes = (name: string, ints: readonly number[]): AttributeMessage => ({ name, ints: [...ints], ...INTS });
const constant = (output: string, values: readonly number[]): NodeMessage =>
  node('Constant', [], output, [wholes('value_ints', values)]);
const tensor = (name: string, t: TensorMessage): AttributeMessage => ({ name, t, type: 4 });
const graph = (name: string, g: GraphMessage): AttributeMessage => ({ name, g, type: 5 });
const reference = (name: string, refAttrName: string, type = INTS.type): AttributeMessage => ({
  name,
  refAttrName,
  type,
});
const fill = (shape: string): NodeMessage => node('ConstantOfShape', [shape], ARG_FLOATS);

/** A function of one input and one output, `x` and `y`. */
function define(name: string, nodes: readonly NodeMessage[], more: FunctionMessage = {}): FunctionMessage {
  return {
    name,
    domain: 'a',
    input: ['x'],
    output: ['y'],
    node: [...nodes],
    opsetImport: [OPSET, { domain: 'a', version: 1 }, { domain: 'b', version: 1 }],
    ...more,
  };
}

function branch(
  nodes: readonly NodeMessage[],
  output: string,
  more: GraphMessage = {},
  elemType = FLOAT,
): GraphMessage {
  const type = { tensorType: { elemType } };
  return { name: 'branch', node: [...nodes], output: [{ name: output, type }], ...more };
}

const loopBody: GraphMessage = {
  name: 'body',
  node: [node('Identity', ['going'], 'goes'), node('Cast', ['round'], 'each', [whole('to', FLOAT)])],
  input: [
    { name: 'round', type: { tensorType: { elemType: INT64, shape: { dim: [] } } } },
    { name: 'going', type: { tensorType: { elemType: 9, shape: { dim: [] } } } },
  ],
  output: [
    { name: 'goes', type: { tensorType: { elemType: 9, shape: { dim: [] } } } },
    { name: 'each', type: { tensorType: { elemType: FLOAT, shape: { dim: [] } } } },
  ],
};
const loop = node('Loop', ['rounds', ''], 'never', [graph('body', loopBody)]);
const rounds = integers('rounds', [2 ** 53], []);
/** Whether the first plane's number is below 0, which nobody knows before it runs. */
const condition = [
  node('ReduceSum', [INPUT], 'sum', [whole('keepdims', 0)]),
  node('Less', ['sum', 'nought'], 'condition'),
];

/** The tiny network with nodes that make the tensor `floats`. */
function createModel({ nodes = [], weights = [], functions = [], graph: more = {} }: Parts): ModelMessage {
  const model = decodeModel(createRandomNetwork(TINY));
  const inner = (model?.graph?.node ?? []).map((tiny) => ({
    ...tiny,
    output: (tiny.output ?? []).map((name) => (name === WDL ? 'inner' : name)),
  }));
  const domains = [...new Set(functions.map(({ domain = '' }) => domain))].filter((domain) => domain !== '');
  return {
    ...model,
    irVersion: 9,
    opsetImport: [OPSET, ...domains.map((domain) => ({ domain, version: 1 }))],
    functions: [...functions],
    graph: {
      ...model?.graph,
      ...more,
      initializer: [...(model?.graph?.initializer ?? []), floats('nought', []), ...weights],
      node: [
        ...nodes,
        ...inner,
        node('ReduceMin', [ARG_FLOATS], 'least', [whole('keepdims', 0)]),
        node('Mul', ['least', 'nought'], 'nothing'),
        node('Add', ['inner', 'nothing'], WDL),
      ],
    },
  };
}

const create = (parts: Parts): Uint8Array => encodeModel(createModel(parts));
/** In protobuf, what is appended to a message is merged into it, or replaces it. */
const append = (bytes: Uint8Array, field: number, part: Uint8Array): Uint8Array =>
  concatBytes([bytes, new WireWriter().bytes(field, part).finish()]);
const call = (opType: string, more: NodeMessage = {}, input: string[] = [INPUT]): NodeMessage =>
  node(opType, input, ARG_FLOATS, [], { domain: 'a', ...more });
const identity = define('Evil', [node('Identity', ['x'], 'y')]);
const evil = define('Evil', [
  node('Constant', [], 'rounds', [whole('value_int', 2 ** 53)]),
  loop,
  node('Identity', ['x'], 'y'),
]);
const external: TensorMessage = {
  name: 'far',
  dims: [4],
  dataType: FLOAT,
  dataLocation: 1,
  externalData: [{ key: 'location', value: 'secret.bin' }],
};

/** What hides the shape `huge` behind an operator: from the name of the shape to that of what ConstantOfShape reads, `size`. */
const DISGUISES: readonly (readonly [string, readonly NodeMessage[], (readonly TensorMessage[])?])[] = [
  ['Identity', [node('Identity', ['huge'], 'size')]],
  ['Cast, twice', [node('Cast', ['huge'], 'c', [whole('to', 6)]), node('Cast', ['c'], 'size', [whole('to', INT64)])]],
  ['Concat', [node('Concat', ['huge', 'one'], 'size', [whole('axis', 0)])], [integers('one', [1])]],
  ['Reshape', [node('Reshape', ['huge', 'flat'], 'size')], [integers('flat', [-1])]],
  ['Gather', [node('Gather', ['huge', 'order'], 'size')], [integers('order', [1, 0])]],
  ['Transpose', [node('Transpose', ['huge'], 'size')]],
  [
    'Mod, of which only shapes are known',
    [node('Mod', ['huge', 'million'], 'size')],
    [integers('million', [1_000_000])],
  ],
  ['Abs', [node('Abs', ['huge'], 'size')]],
  ['an order of nodes that is not theirs', [node('Identity', ['late'], 'size'), node('Identity', ['huge'], 'late')]],
  [
    'Add to the sizes of the input',
    [
      node('Shape', [INPUT], 'shape'),
      node('Gather', ['shape', 'planes'], 'width'),
      node('Mul', ['huge', 'width'], 'size'),
    ],
    [integers('planes', [1])],
  ],
  [
    'a size of the input beside it',
    [
      node('Shape', [INPUT], 'shape'),
      node('Gather', ['shape', 'first'], 'batch'),
      node('Concat', ['batch', 'huge'], 'size', [whole('axis', 0)]),
    ],
    [integers('first', [0])],
  ],
  [
    'a size of an activation beside it',
    [
      node('Shape', ['t49'], 'shape'),
      node('Gather', ['shape', 'first'], 'batch'),
      node('Concat', ['batch', 'huge'], 'size', [whole('axis', 0)]),
    ],
    [integers('first', [0])],
  ],
  [
    'floats, times a size of an activation',
    [
      node('Shape', ['t49'], 'shape'),
      node('Gather', ['shape', 'planes'], 'width'),
      node('Cast', ['width'], 'w', [whole('to', FLOAT)]),
      node('Mul', ['w', 'scale'], 'scaled'),
      node('Floor', ['scaled'], 'floor'),
      node('Cast', ['floor'], 'size', [whole('to', INT64)]),
    ],
    [integers('planes', [1]), floats('scale', [1], 1e9)],
  ],
  [
    'the sum of a large weight',
    [node('ReduceSum', ['many'], 'sum', [whole('keepdims', 1)]), node('Cast', ['sum'], 'size', [whole('to', INT64)])],
    [floats('many', [1000], 900_000)],
  ],
  [
    'numbers that overflow',
    [
      node('Mul', ['large', 'large'], 'square'),
      node('Sub', ['square', 'square'], 'none'),
      node('Add', ['none', 'huge'], 'size'),
    ],
    [integers('large', [2 ** 52])],
  ],
  [
    'the choice between two branches',
    [
      ...condition,
      node('If', ['condition'], 'size', [
        graph('then_branch', branch([node('Identity', ['huge'], 'yes')], 'yes', {}, INT64)),
        graph('else_branch', branch([constant('no', [1, 1])], 'no', {}, INT64)),
      ]),
    ],
  ],
  [
    'a branch in a branch',
    [
      ...condition,
      node('If', ['condition'], 'size', [
        graph(
          'then_branch',
          branch(
            [
              node('If', ['condition'], 'yes', [
                graph('then_branch', branch([node('Identity', ['huge'], 'deep')], 'deep', {}, INT64)),
                graph('else_branch', branch([node('Identity', ['huge'], 'deep')], 'deep', {}, INT64)),
              ]),
            ],
            'yes',
            {},
            INT64,
          ),
        ),
        graph('else_branch', branch([node('Identity', ['huge'], 'no')], 'no', {}, INT64)),
      ]),
    ],
  ],
  [
    'the position',
    [
      node('ReduceMax', [INPUT], 'most', [whole('keepdims', 0)]),
      node('Cast', ['most'], 'number', [whole('to', INT64)]),
      node('Add', ['number', 'huge'], 'size'),
    ],
  ],
];

const UNKNOWN_OR_LARGE = /, by ConstantOfShape$/;

function listDisguised(): HostileNetwork[] {
  return DISGUISES.map(([name, nodes, weights = []]) => ({
    name: `a size behind ${name}`,
    bytes: create({ nodes: [...nodes, fill('size')], weights: [integers('huge', HUGE), ...weights] }),
    sentence: UNKNOWN_OR_LARGE,
  }));
}

function listFunctions(): HostileNetwork[] {
  const cases: readonly (readonly [string, Parts, RegExp])[] = [
    [
      'a loop in a function of another domain',
      { functions: [evil, { ...identity, domain: 'b' }], nodes: [call('Evil')] },
      /operator Loop/,
    ],
    [
      'a loop in an overload',
      { functions: [identity, { ...evil, overload: 'o' }], nodes: [call('Evil', { overload: 'o' })] },
      /operator Loop/,
    ],
    [
      'a loop in a function that nothing calls',
      { functions: [evil], nodes: [node('Identity', [INPUT], ARG_FLOATS)] },
      /operator Loop/,
    ],
    [
      'two functions of one name',
      { functions: [identity, identity], nodes: [call('Evil')] },
      /two functions of the name a:Evil/,
    ],
    [
      'two functions whose domain and name read alike',
      {
        functions: [
          { ...identity, domain: 'a:b' },
          { ...identity, name: 'b:Evil' },
        ],
        nodes: [call('Evil', { domain: 'a:b' })],
      },
      /two functions of the name a:b:Evil/,
    ],
    [
      'a function that calls itself',
      { functions: [define('Again', [node('Again', ['x'], 'y', [], { domain: 'a' })])], nodes: [call('Again')] },
      /nests its functions too deep/,
    ],
    [
      'functions that call each other ever more often',
      {
        functions: Array.from({ length: 15 }, (_, i) =>
          define(
            `F${i}`,
            Array.from({ length: 9 }, (_, k) =>
              node(
                i === 14 ? 'Identity' : `F${i + 1}`,
                [k === 0 ? 'x' : `y${k - 1}`],
                k === 8 ? 'y' : `y${k}`,
                [],
                i === 14 ? {} : { domain: 'a' },
              ),
            ),
          ),
        ),
        nodes: [call('F0')],
      },
      /more nodes than any known network/,
    ],
    [
      'a size in a function',
      {
        functions: [
          define('Fill', [
            constant('huge', HUGE),
            node('Identity', ['huge'], 'size'),
            node('ConstantOfShape', ['size'], 'y'),
          ]),
        ],
        nodes: [call('Fill')],
      },
      UNKNOWN_OR_LARGE,
    ],
    [
      'a size for a function',
      {
        functions: [define('Fill', [node('ConstantOfShape', ['x'], 'y')])],
        weights: [integers('huge', HUGE)],
        nodes: [call('Fill', {}, ['huge'])],
      },
      UNKNOWN_OR_LARGE,
    ],
    [
      'a size from a function',
      {
        functions: [define('Size', [node('Identity', ['x'], 'y')])],
        weights: [integers('huge', HUGE)],
        nodes: [node('Size', ['huge'], 'size', [], { domain: 'a' }), fill('size')],
      },
      UNKNOWN_OR_LARGE,
    ],
    [
      'a size in a function of a function',
      {
        functions: [
          define('Inner', [node('ConstantOfShape', ['x'], 'y')]),
          define('Outer', [node('Identity', ['x'], 's'), node('Inner', ['s'], 'y', [], { domain: 'a' })]),
        ],
        weights: [integers('huge', HUGE)],
        nodes: [call('Outer', {}, ['huge'])],
      },
      UNKNOWN_OR_LARGE,
    ],
    [
      'a size as an attribute of a call',
      {
        functions: [
          define(
            'Fill',
            [node('Constant', [], 'size', [reference('value_ints', 'shape')]), node('ConstantOfShape', ['size'], 'y')],
            { attribute: ['shape'] },
          ),
        ],
        nodes: [call('Fill', { attribute: [wholes('shape', HUGE)] })],
      },
      UNKNOWN_OR_LARGE,
    ],
    [
      'a size as the default of an attribute',
      {
        functions: [
          define('Noise', [node('RandomNormal', [], 'y', [reference('shape', 's')])], {
            attributeProto: [wholes('s', HUGE)],
          }),
        ],
        nodes: [call('Noise')],
      },
      /by RandomNormal/,
    ],
    [
      'a size in a branch of a function',
      {
        functions: [
          define(
            'Fill',
            [
              ...condition.map((step) => ({
                ...step,
                input: step.input?.map((name) => (name === INPUT ? 'x' : name === 'nought' ? 'least' : name)) ?? [],
              })),
              node('If', ['condition'], 'y', [
                graph(
                  'then_branch',
                  branch(
                    [constant('s', HUGE), node('Abs', ['s'], 'size'), node('ConstantOfShape', ['size'], 'yes')],
                    'yes',
                  ),
                ),
                graph('else_branch', branch([node('Identity', ['x'], 'no')], 'no')),
              ]),
            ].flatMap((step, i) =>
              i === 0 ? [node('ReduceMin', ['x'], 'least', [whole('keepdims', 0)]), step] : [step],
            ),
          ),
        ],
        nodes: [call('Fill')],
      },
      UNKNOWN_OR_LARGE,
    ],
    [
      'an operator of its own by the name of another',
      { functions: [define('Expand', [node('Identity', ['x'], 'y')])], nodes: [call('Expand')] },
      /defines an operator Expand/,
    ],
  ];
  return cases.map(([name, parts, sentence]) => ({ name, bytes: create(parts), sentence }));
}

/** Field 1 of a graph, without content, a million times. */
const EMPTY_NODES = new Uint8Array(2_000_000).map((_, i) => (i % 2 === 0 ? 10 : 0));

/** The bytes with a field added to the first message that the path leads to. */
function addField(bytes: Uint8Array, [field = 0, ...path]: readonly number[], part: Uint8Array): Uint8Array {
  if (path.length === 0) return append(bytes, field, part);
  const reader = protobuf.Reader.create(bytes);
  for (let start = 0; reader.pos < reader.len; start = reader.pos) {
    const tag = reader.uint32();
    if (tag !== field * 8 + 2) {
      reader.skipType(tag & 7);
      continue;
    }
    const inner = new WireWriter().bytes(field, addField(reader.bytes(), path, part)).finish();
    return concatBytes([bytes.subarray(0, start), inner, bytes.subarray(reader.pos)]);
  }
  throw new Error(`no field ${field}`);
}

/** Messages that stand twice where one may stand, and weights in other files. */
function listDoubles(): HostileNetwork[] {
  const sound = create({ nodes: [node('Identity', [INPUT], ARG_FLOATS)] });
  const far = tensorType.encode(external);
  const more = graphType.encode({ initializer: [external], node: [loop] });
  const set = node('Constant', [], ARG_FLOATS, [tensor('value', floats('v', [1]))]);
  const choice = node('If', ['condition'], ARG_FLOATS, [
    graph('then_branch', branch([node('Identity', [INPUT], 'yes')], 'yes')),
    graph('else_branch', branch([node('Identity', [INPUT], 'no')], 'no')),
  ]);
  const sparse = { values: floats('v', [1]), indices: integers('i', [0]), dims: [4] };
  const fixed = define('Set', [{ ...set, output: ['y'] }]);
  const elsewhere = /keeps its weights in another file/;
  return [
    ['two graphs', append(sound, 7, more), /two values for graph/],
    [
      'two graphs, the first with weights elsewhere',
      append(
        encodeModel({ ...createModel({}), graph: { initializer: [external] } }),
        7,
        graphType.encode(createModel({ nodes: [node('Identity', ['far'], ARG_FLOATS)] }).graph ?? {}),
      ),
      /two values for graph/,
    ],
    ['two tensors in an attribute', addField(create({ nodes: [set] }), [7, 1, 5, 5], far), /two values for t/],
    [
      'two graphs in an attribute',
      addField(create({ nodes: [choice, ...condition] }), [7, 1, 5, 6], more),
      /two values for g/,
    ],
    [
      'two tensors in an attribute in a function',
      addField(create({ functions: [fixed], nodes: [call('Set')] }), [25, 7, 5, 5], far),
      /two values for t/,
    ],
    [
      'two tensors in a sparse one',
      addField(create({ nodes: [set], graph: { sparseInitializer: [sparse] } }), [7, 15, 1], far),
      /two values for values/,
    ],
    ['two types of an input', addField(sound, [7, 11, 2], new Uint8Array(0)), /two values for type/],
    ['two shapes of an input', addField(sound, [7, 11, 2, 1, 2], new Uint8Array(0)), /two values for shape/],
    [
      'weights in another file',
      create({ weights: [external], nodes: [node('Identity', ['far'], ARG_FLOATS)] }),
      elsewhere,
    ],
    [
      'weights elsewhere without saying so',
      create({
        weights: [{ ...floats('f', [1]), externalData: external.externalData ?? [] }],
        nodes: [node('Identity', ['f'], ARG_FLOATS)],
      }),
      elsewhere,
    ],
    [
      'a constant in another file',
      create({ nodes: [node('Constant', [], ARG_FLOATS, [tensor('value', external)])] }),
      elsewhere,
    ],
    [
      'a sparse tensor in another file',
      create({ nodes: [set], graph: { sparseInitializer: [{ ...sparse, values: external }] } }),
      elsewhere,
    ],
    [
      'a constant of a function in another file',
      create({
        functions: [define('Set', [node('Constant', [], 'y', [tensor('value', external)])])],
        nodes: [call('Set')],
      }),
      elsewhere,
    ],
    [
      'weights of a branch in another file',
      create({
        nodes: [
          ...condition,
          node('If', ['condition'], ARG_FLOATS, [
            graph('then_branch', branch([node('Identity', ['far'], 'yes')], 'yes', { initializer: [external] })),
            graph('else_branch', branch([node('Identity', [INPUT], 'no')], 'no')),
          ]),
        ],
      }),
      elsewhere,
    ],
    [
      "the mark of ONNX Runtime's own format",
      concatBytes([
        new WireWriter().string(2, '\0\0ORTM').finish(),
        encodeModel({ ...createModel({ nodes: [set] }), producerName: '' }),
      ]),
      /in ONNX Runtime's own format/,
    ],
    [
      'a million empty nodes',
      concatBytes([new WireWriter().varint(1, 8).finish(), new WireWriter().bytes(7, EMPTY_NODES).finish()]),
      /more parts than any network has/,
    ],
    ['ten thousand graphs in each other', nestGraphs(sound, 10_000), /nested too deep/],
  ].map(([name, bytes, sentence]) => ({ name, bytes, sentence }) as HostileNetwork);
}

function nestGraphs(model: Uint8Array, depth: number): Uint8Array {
  let inner = graphType.encode(branch([node('Identity', [INPUT], 'yes')], 'yes'));
  for (let i = 0; i < depth && inner.length < 1e6; i++) {
    const attribute = new WireWriter().string(1, 'then_branch').bytes(6, inner).varint(20, 5).finish();
    inner = new WireWriter().bytes(1, new WireWriter().string(4, 'If').bytes(5, attribute).finish()).finish();
  }
  const attribute = new WireWriter().string(1, 'then_branch').bytes(6, inner).varint(20, 5).finish();
  return addField(model, [7, 1], new WireWriter().string(4, 'If').bytes(5, attribute).finish());
}

/** Every operator whose size an input tells, with a size that is hidden, and those with large sizes of other kinds. */
function listOperators(): HostileNetwork[] {
  const hidden = (opType: string, input: string[], attribute: AttributeMessage[] = []): Parts => ({
    nodes: [node('Abs', ['huge'], 'size'), node(opType, input, ARG_FLOATS, attribute)],
    weights: [
      integers('huge', HUGE),
      integers('zero', [0], []),
      integers('one', [1], []),
      floats('f', [1, 1]),
      integers('many', [900_000_000], []),
    ],
  });
  const cases: readonly (readonly [string, Parts, RegExp])[] = [
    ...(
      [
        ['Expand', ['f', 'size']],
        ['Tile', ['f', 'size']],
        ['Resize', ['f', '', '', 'size'], [{ name: 'mode', s: new TextEncoder().encode('nearest'), type: 3 }]],
        ['ConstantOfShape', ['size']],
        ['OneHot', ['zero', 'size', 'f']],
        ['CenterCropPad', ['f', 'size']],
      ] as [string, string[], AttributeMessage[]?][]
    ).map(([opType, input, attribute]): [string, Parts, RegExp] => [
      `a hidden size of ${opType}`,
      hidden(opType, input, attribute),
      new RegExp(`by ${opType}$`),
    ]),
    [
      'a range that is hidden',
      {
        nodes: [node('Abs', ['many'], 'end'), node('Range', ['zero', 'end', 'one'], ARG_FLOATS)],
        weights: hidden('', []).weights ?? [],
      },
      /by Range$/,
    ],
    [
      'a range of tiny steps',
      {
        nodes: [node('Range', ['a', 'b', 'c'], ARG_FLOATS)],
        weights: [floats('a', []), floats('b', [], 1), floats('c', [], 1e-9)],
      },
      /by Range$/,
    ],
    [
      'a border that is hidden',
      {
        nodes: [node('Abs', ['wide'], 'size'), node('Pad', ['f', 'size'], ARG_FLOATS)],
        weights: [floats('f', [1]), integers('wide', [0, 900_000_000])],
      },
      /by Pad$/,
    ],
    [
      'a window of any length',
      {
        nodes: [node('Abs', ['many'], 'size'), node('HannWindow', ['size'], ARG_FLOATS)],
        weights: hidden('', []).weights ?? [],
      },
      /by HannWindow$/,
    ],
    [
      'a loop',
      { nodes: [loop, node('Identity', [INPUT], ARG_FLOATS)], weights: [rounds] },
      /operator Loop, which may run for ever/,
    ],
    ['a scan', { nodes: [node('Scan', [INPUT], ARG_FLOATS, [graph('body', loopBody)])] }, /operator Scan/],
    [
      'a loop in a branch of a branch',
      {
        weights: [rounds],
        nodes: [
          ...condition,
          node('If', ['condition'], ARG_FLOATS, [
            graph(
              'then_branch',
              branch(
                [
                  node('If', ['condition'], 'yes', [
                    graph('then_branch', branch([loop], 'never')),
                    graph('else_branch', branch([loop], 'never')),
                  ]),
                ],
                'yes',
              ),
            ),
            graph('else_branch', branch([node('Identity', [INPUT], 'no')], 'no')),
          ]),
        ],
      },
      /operator Loop/,
    ],
    [
      'a tensor without its values',
      { nodes: [node('Identity', ['few'], ARG_FLOATS)], weights: [{ ...floats('few', [1]), dims: HUGE }] },
      /claims more values than it has/,
    ],
    ['a constant of any size', { nodes: [fill('huge')], weights: [integers('huge', HUGE)] }, UNKNOWN_OR_LARGE],
    [
      'repeats',
      {
        nodes: [node('Tile', ['f', 'many'], ARG_FLOATS)],
        weights: [floats('f', [1]), integers('many', [900_000_000])],
      },
      /by Tile$/,
    ],
    [
      'a wide border',
      {
        nodes: [node('Conv', [INPUT, 'w'], ARG_FLOATS, [wholes('pads', [0, 900_000_000, 0, 0])])],
        weights: [floats('w', [1, 112, 1, 1])],
      },
      /by Conv$/,
    ],
    ['random numbers', { nodes: [node('RandomNormal', [], ARG_FLOATS, [wholes('shape', HUGE)])] }, /by RandomNormal$/],
    [
      'an outer product of its weights',
      {
        nodes: [node('MatMul', ['tall', 'wide'], ARG_FLOATS)],
        weights: [floats('tall', [30_000, 1]), floats('wide', [1, 30_000])],
      },
      /by MatMul$/,
    ],
    [
      'a sum of weights across each other',
      {
        nodes: [node('Add', ['tall', 'wide'], ARG_FLOATS)],
        weights: [floats('tall', [30_000, 1]), floats('wide', [1, 30_000])],
      },
      /by Add$/,
    ],
    [
      'a lookup of one row again and again',
      {
        nodes: [node('Gather', ['wide', 'rows'], ARG_FLOATS)],
        weights: [floats('wide', [1, 30_000]), integers('rows', new Array<number>(30_000).fill(0))],
      },
      /by Gather$/,
    ],
    [
      'two tensors of one name',
      { nodes: [fill('huge')], weights: [integers('huge', HUGE), integers('huge', [1])] },
      /two tensors of the name huge/,
    ],
    [
      'nodes that need their own results',
      { nodes: [node('Identity', ['b'], ARG_FLOATS), node('Identity', ['c'], 'b'), node('Identity', ['b'], 'c')] },
      /need their own results/,
    ],
  ];
  return cases.map(([name, parts, sentence]) => ({ name, bytes: create(parts), sentence }));
}

/** What makes a column of 60,000 numbers whose shape the runtime does not tell: 14 GB with a row of them. */
const OPEN_COLUMNS: readonly (readonly [string, readonly NodeMessage[]])[] = [
  ['NonZero', [node('NonZero', ['many'], 'found'), node('Cast', ['found'], 'row', [whole('to', FLOAT)])]],
  ['a position', [...asWhole(INPUT), node('Slice', ['many', 'zero', 'sizes'], 'row')]],
  ['CumSum', [node('CumSum', ['steps', 'axis'], 'shape'), node('Reshape', ['many', 'shape'], 'row')]],
  [
    'TopK',
    [
      node('CumSum', ['sizes', 'axis'], 'k'),
      node('TopK', ['many', 'k'], 'top', [], { output: ['top', 'places'] }),
      node('Reshape', ['top', 'wide'], 'row'),
    ],
  ],
  [
    'sequences',
    [
      node('SplitToSequence', ['many', 'sizes'], 'parts'),
      node('SequenceAt', ['parts', 'axis'], 'part'),
      node('Reshape', ['part', 'wide'], 'row'),
    ],
  ],
];

/** `zero`, of the position's numbers. */
function asWhole(name: string): NodeMessage[] {
  return [
    node('ReduceMax', [name], 'largest'),
    node('Reshape', ['largest', 'flat'], 'one'),
    node('Mul', ['one', 'nought'], 'none'),
    node('Cast', ['none'], 'zero', [whole('to', INT64)]),
  ];
}

function listOpen(): HostileNetwork[] {
  const weights = [
    floats('many', [60_000], 1),
    ...[integers('steps', [1, 59_999]), integers('sizes', [60_000]), integers('axis', [0], [])],
    ...[integers('wide', [1, -1]), integers('flat', [-1])],
  ];
  const large = /makes a (?:larger tensor than any known network|tensor whose size is not known before it runs), by/;
  const doubled = Array.from({ length: 40 }, (_, i) => [
    node('SequenceConstruct', [`x${i}`, `x${i}`], `pair${i}`),
    node('ConcatFromSequence', [`pair${i}`], i === 39 ? ARG_FLOATS : `x${i + 1}`, [whole('axis', 0)]),
  ]).flat();
  const text: TensorMessage = { name: 'text', dims: [1], dataType: 8, stringData: [new TextEncoder().encode('chess')] };
  const isText = node('Equal', ['text', 'text'], 'same');
  const number = node('Cast', ['same'], ARG_FLOATS, [whole('to', FLOAT)]);
  const cases: readonly (readonly [string, Parts, RegExp])[] = [
    ...OPEN_COLUMNS.map(([name, nodes]): [string, Parts, RegExp] => [
      `a product of open sizes, by ${name}`,
      {
        nodes: [...nodes, node('Transpose', ['row'], 'column'), node('MatMul', ['column', 'row'], ARG_FLOATS)],
        weights,
      },
      large,
    ]),
    [
      'a shape that the file claims',
      {
        nodes: [
          ...OPEN_COLUMNS[0][1],
          node('Transpose', ['row'], 'column'),
          node('Add', ['column', 'row'], ARG_FLOATS),
        ],
        weights,
        graph: {
          valueInfo: ['row', 'column'].map((name) => ({
            name,
            type: { tensorType: { elemType: FLOAT, shape: { dim: [{ dimValue: 1 }, { dimValue: 1 }] } } },
          })),
        },
      },
      large,
    ],
    ['sequences that double', { nodes: doubled, weights: [floats('x0', [1])] }, large],
    [
      'a shape of five thousand dimensions',
      {
        nodes: [node('Reshape', ['many', 'deep'], ARG_FLOATS)],
        weights: [...weights, integers('deep', [...new Array(5000).fill(1), -1])],
      },
      /more dimensions than any known network/,
    ],
    ['text', { nodes: [isText, number], weights: [text] }, /a tensor of text/],
    [
      'text of the position',
      { nodes: [node('Cast', [INPUT], 'text', [whole('to', 8)]), isText, number] },
      /a tensor of text/,
    ],
  ];
  return cases.map(([name, parts, sentence]) => ({ name, bytes: create(parts), sentence }));
}

export function listHostileNetworks(): HostileNetwork[] {
  return [...listOperators(), ...listOpen(), ...listFunctions(), ...listDisguised(), ...listDoubles()];
}

/** What exporters write: sizes of activations, functions, branches, weights listed as inputs. */
export function listSoundNetworks(): StrangeNetwork[] {
  const batchOf = (name: string): NodeMessage[] => [
    node('Shape', [name], 'shape'),
    node('Gather', ['shape', 'first'], 'b'),
    node('Unsqueeze', ['b', 'axis'], 'batch'),
  ];
  const numbers = [integers('first', [0], []), integers('axis', [0]), integers('c', [112]), integers('minus', [-1])];
  const expand: NodeMessage[] = [
    ...batchOf('t5'),
    node('Concat', ['batch', 'c', 'minus'], 'wanted', [whole('axis', 0)]),
    node('Shape', ['wanted'], 'rank'),
    node('ConstantOfShape', ['rank'], 'ones', [tensor('value', integers('v', [1]))]),
    node('Mul', ['ones', 'minus'], 'minuses'),
    node('Equal', ['wanted', 'minuses'], 'open'),
    node('Where', ['open', 'ones', 'wanted'], 'full'),
    node('Expand', ['row', 'full'], ARG_FLOATS),
  ];
  const scaled = define(
    'Scaled',
    [node('Constant', [], 'f', [reference('value_float', 'factor', 1)]), node('Mul', ['x', 'f'], 'y')],
    { attribute: ['factor'] },
  );
  const cases: readonly (readonly [string, Parts])[] = [
    ['torch.expand', { nodes: expand, weights: [...numbers, floats('row', [1, 1, 64])] }],
    [
      'a range over the batch',
      {
        nodes: [
          ...batchOf('t49'),
          node('Range', ['first', 'b', 'step'], 'all'),
          node('Cast', ['all'], ARG_FLOATS, [whole('to', FLOAT)]),
        ],
        weights: [...numbers, integers('step', [1], [])],
      },
    ],
    [
      'zeros as large as an activation',
      {
        nodes: [
          node('Shape', ['t49'], 'shape'),
          node('Slice', ['shape', 'axis', 'ends'], 'some'),
          node('ConstantOfShape', ['some'], ARG_FLOATS),
        ],
        weights: [...numbers, integers('ends', [2])],
      },
    ],
    [
      "the number of a weight's rows",
      {
        nodes: [node('Shape', ['w'], 's'), node('Concat', ['s', 'c'], 'size', [whole('axis', 0)]), fill('size')],
        weights: [...numbers, floats('w', [3])],
      },
    ],
    [
      'a Resize by constants',
      {
        nodes: [node('Resize', [INPUT, '', 'scales'], ARG_FLOATS)],
        weights: [{ ...floats('scales', [4]), rawData: new Uint8Array(Float32Array.of(1, 1, 2, 2).buffer) }],
      },
    ],
    [
      'a function with an attribute',
      { functions: [scaled], nodes: [call('Scaled', { attribute: [{ name: 'factor', f: 2, type: 1 }] })] },
    ],
    [
      'a function with a branch in a function',
      {
        functions: [
          define('Outer', [node('Inner', ['x'], 'y', [], { domain: 'b' })]),
          define(
            'Inner',
            [
              node('ReduceSum', ['x'], 'sum', [whole('keepdims', 0)]),
              node('Sub', ['sum', 'sum'], 'nought'),
              node('Less', ['sum', 'nought'], 'condition'),
              node('If', ['condition'], 'y', [
                graph('then_branch', branch([node('Neg', ['x'], 'yes')], 'yes')),
                graph('else_branch', branch([node('Identity', ['x'], 'no')], 'no')),
              ]),
            ],
            { domain: 'b' },
          ),
        ],
        nodes: [call('Outer')],
      },
    ],
    [
      'a branch with shapes of its own',
      {
        nodes: [
          ...condition,
          node('If', ['condition'], ARG_FLOATS, [
            graph('then_branch', branch([node('ReduceMax', [INPUT], 'yes', [whole('keepdims', 0)])], 'yes')),
            graph('else_branch', branch([node('Identity', [INPUT], 'no')], 'no')),
          ]),
        ],
      },
    ],
  ];
  return cases.map(([name, parts]) => ({ name, bytes: create(parts) }));
}
