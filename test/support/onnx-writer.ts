/** Writes small ONNX models, for tests: just the protobuf fields that a network of ours uses (onnx.proto). */
import protobuf from 'protobufjs/minimal.js';

export type Dimension = number | string;

export interface Attributes {
  readonly [name: string]: number | readonly number[] | { readonly float: number } | { readonly graph: Uint8Array };
}

export const FLOAT32 = 1;
export const FLOAT16 = 10;
const INT8 = 3;
const INT64 = 7;

export class OnnxWriter {
  private readonly nodes: Uint8Array[] = [];
  private readonly weights: Uint8Array[] = [];
  private readonly inputs: Uint8Array[] = [];
  private readonly outputs: Uint8Array[] = [];
  private names = 0;

  input(name: string, shape: readonly Dimension[], elementType = FLOAT32): string {
    this.inputs.push(encodeValueInfo(name, shape, elementType));
    return name;
  }

  output(name: string, shape: readonly Dimension[], elementType = FLOAT32): void {
    this.outputs.push(encodeValueInfo(name, shape, elementType));
  }

  floats(shape: readonly number[], values: Float32Array): string {
    return this.weight(FLOAT32, shape, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }

  bytes(shape: readonly number[], values: Int8Array): string {
    return this.weight(INT8, shape, new Uint8Array(values.buffer, values.byteOffset, values.byteLength));
  }

  integers(shape: readonly number[], values: readonly number[]): string {
    const words = new Int32Array(values.length * 2);
    values.forEach((value, i) => {
      words[2 * i] = value;
      words[2 * i + 1] = value < 0 ? -1 : 0;
    });
    return this.weight(INT64, shape, new Uint8Array(words.buffer));
  }

  /** Adds a node with one output. @returns the output's name */
  node(operator: string, inputs: readonly string[], attributes: Attributes = {}, output = this.nextName()): string {
    const writer = protobuf.Writer.create();
    for (const name of inputs) writer.uint32(tag(1)).string(name);
    writer.uint32(tag(2)).string(output);
    writer.uint32(tag(4)).string(operator);
    for (const [name, value] of Object.entries(attributes)) writer.uint32(tag(5)).bytes(encodeAttribute(name, value));
    this.nodes.push(writer.finish());
    return output;
  }

  /** A tensor whose values are in another file. */
  external(shape: readonly number[], location: string): string {
    return this.weight(FLOAT32, shape, new Uint8Array(0), location);
  }

  finishGraph(): Uint8Array {
    const graph = protobuf.Writer.create();
    for (const node of this.nodes) graph.uint32(tag(1)).bytes(node);
    graph.uint32(tag(2)).string('network');
    for (const weight of this.weights) graph.uint32(tag(5)).bytes(weight);
    for (const input of this.inputs) graph.uint32(tag(11)).bytes(input);
    for (const output of this.outputs) graph.uint32(tag(12)).bytes(output);
    return graph.finish();
  }

  finish(metadata: Readonly<Record<string, string>>): Uint8Array {
    const model = protobuf.Writer.create();
    model.uint32(tag(1, 0)).uint32(8);
    model.uint32(tag(2)).string('sardonyx-test');
    model.uint32(tag(7)).bytes(this.finishGraph());
    model
      .uint32(tag(8))
      .bytes(protobuf.Writer.create().uint32(tag(1)).string('').uint32(tag(2, 0)).uint32(17).finish());
    for (const [key, value] of Object.entries(metadata)) {
      model
        .uint32(tag(14))
        .bytes(protobuf.Writer.create().uint32(tag(1)).string(key).uint32(tag(2)).string(value).finish());
    }
    return model.finish();
  }

  private weight(elementType: number, shape: readonly number[], bytes: Uint8Array, location = ''): string {
    const name = this.nextName();
    const writer = protobuf.Writer.create();
    for (const size of shape) writer.uint32(tag(1, 0)).int64(size);
    writer.uint32(tag(2, 0)).int32(elementType);
    writer.uint32(tag(8)).string(name);
    if (location === '') writer.uint32(tag(9)).bytes(bytes);
    else {
      const entry = protobuf.Writer.create().uint32(tag(1)).string('location').uint32(tag(2)).string(location);
      writer.uint32(tag(13)).bytes(entry.finish()).uint32(tag(14, 0)).int32(1);
    }
    this.weights.push(writer.finish());
    return name;
  }

  private nextName(): string {
    return `t${this.names++}`;
  }
}

function tag(field: number, wireType = 2): number {
  return (field << 3) | wireType;
}

function encodeAttribute(name: string, value: Attributes[string]): Uint8Array {
  const FLOAT = 1;
  const INT = 2;
  const GRAPH = 5;
  const INTS = 7;
  const writer = protobuf.Writer.create().uint32(tag(1)).string(name);
  if (typeof value === 'number') writer.uint32(tag(3, 0)).int64(value).uint32(tag(20, 0)).int32(INT);
  else if ('graph' in value) writer.uint32(tag(6)).bytes(value.graph).uint32(tag(20, 0)).int32(GRAPH);
  else if ('float' in value) writer.uint32(tag(2, 5)).float(value.float).uint32(tag(20, 0)).int32(FLOAT);
  else {
    for (const item of value) writer.uint32(tag(8, 0)).int64(item);
    writer.uint32(tag(20, 0)).int32(INTS);
  }
  return writer.finish();
}

function encodeValueInfo(name: string, shape: readonly Dimension[], elementType: number): Uint8Array {
  const dimensions = protobuf.Writer.create();
  for (const size of shape) {
    const dimension = protobuf.Writer.create();
    if (typeof size === 'number') dimension.uint32(tag(1, 0)).int64(size);
    else dimension.uint32(tag(2)).string(size);
    dimensions.uint32(tag(1)).bytes(dimension.finish());
  }
  const tensor = protobuf.Writer.create();
  tensor.uint32(tag(1, 0)).int32(elementType).uint32(tag(2)).bytes(dimensions.finish());
  const type = protobuf.Writer.create().uint32(tag(1)).bytes(tensor.finish());
  return protobuf.Writer.create().uint32(tag(1)).string(name).uint32(tag(2)).bytes(type.finish()).finish();
}
