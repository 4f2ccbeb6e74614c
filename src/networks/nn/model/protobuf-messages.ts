/**
 * Protobuf messages from plain tables of field numbers: the one reader of untrusted protobuf bytes. A schema reads like the table it
 * was taken from, and the program needs no .proto file. protobufjs reads and writes the wire format; its own message types would
 * generate code as the program runs, which the content security policy of a page forbids.
 */
import protobuf, { type Long } from 'protobufjs/minimal.js';

/** Field number and type: a protobuf scalar or the name of another message, with `repeated ` before it for lists. */
export type FieldSpec = readonly [id: number, type: string];
export type MessageSpec = Readonly<Record<string, FieldSpec>>;

const VARINT = 0;
const LENGTH_DELIMITED = 2;
const FIXED32 = 5;
/** The scalars that our schemas use: wire type, and the value of an absent field. */
const SCALARS = {
  int32: [VARINT, 0],
  int64: [VARINT, 0],
  uint32: [VARINT, 0],
  fixed32: [FIXED32, 0],
  float: [FIXED32, 0],
  bytes: [LENGTH_DELIMITED, new Uint8Array(0)],
  string: [LENGTH_DELIMITED, ''],
} as const;
type Scalar = keyof typeof SCALARS;

interface ScalarTypes extends Record<Exclude<Scalar, 'int64' | 'bytes' | 'string'>, number> {
  int64: number | Long;
  bytes: Uint8Array;
  string: string;
}
type TypeOf<Schema, Spec> = Spec extends `repeated ${infer Item}`
  ? TypeOf<Schema, Item>[]
  : Spec extends Scalar
    ? ScalarTypes[Spec]
    : MessageOf<Schema, Spec>;
/** A message of a schema, by its name there; every field may be absent. */
export type MessageOf<Schema, Name> = Name extends keyof Schema
  ? {
      -readonly [Field in keyof Schema[Name]]?: TypeOf<
        Schema,
        Schema[Name][Field] extends FieldSpec ? Schema[Name][Field][1] : never
      >;
    }
  : never;

interface Field {
  readonly name: string;
  readonly id: number;
  readonly isRepeated: boolean;
  readonly type: Scalar | MessageType;
}

/** The value of an absent list. */
const NO_ITEMS: readonly never[] = Object.freeze([]);

/** Parts of a message that its schema does not know, as they were read. */
const UNKNOWN = Symbol('unknown fields');
type Message = Record<string, unknown> & { [UNKNOWN]?: Uint8Array[] };

export class MessageType {
  /** Sorted by number. */
  fields: readonly Field[] = [];
  fieldsById: ReadonlyMap<number, Field> = new Map();
  /** Prototype of decoded messages: the values of absent fields. */
  private defaults: object = {};

  /** Types refer to each other, so that fields come when all types exist. */
  setFields(fields: readonly Field[]): void {
    this.fields = [...fields].sort((a, b) => a.id - b.id);
    this.fieldsById = new Map(fields.map((field) => [field.id, field]));
    this.defaults = Object.fromEntries(
      fields.map(({ name, type, isRepeated }) => [
        name,
        isRepeated ? NO_ITEMS : type instanceof MessageType ? null : SCALARS[type][1],
      ]),
    );
  }

  /**
   * Absent lists read as empty ones; bytes are views of the given ones. In a hostile file a few bytes can stand for an object or a list entry,
   * so a file of megabytes could become gigabytes: more parts than `mostParts` are refused.
   * @throws DamagedMessage when the bytes are cut short, damaged, or could mean several things
   */
  decode(bytes: Uint8Array, mostParts: number, keepsUnknown: boolean): object {
    try {
      return new Decoder(bytes, mostParts, keepsUnknown).readMessage(this, bytes.length);
    } catch (error) {
      if (error instanceof DamagedMessage) throw error;
      throw new DamagedMessage('the file is cut off or damaged: its protobuf structure ends in the middle of a field');
    }
  }

  /** @param message fields of the schema; unknown ones that `decode` kept are written too */
  encode(message: object): Uint8Array {
    const writer = protobuf.Writer.create();
    this.encodeTo(writer, message as Message);
    return writer.finish();
  }

  createEmpty(): Message {
    return Object.create(this.defaults) as Message;
  }

  private encodeTo(writer: protobuf.Writer, message: Message): void {
    for (const { name, id, isRepeated, type } of this.fields) {
      const value = Object.hasOwn(message, name) ? message[name] : null;
      if (value === null || value === undefined) continue;
      const tag = (id << 3) | getWireType(type);
      for (const item of isRepeated ? (value as unknown[]) : [value]) {
        writer.uint32(tag);
        if (type instanceof MessageType) {
          writer.fork();
          type.encodeTo(writer, item as Message);
          writer.ldelim();
        } else (writer[type] as (value: unknown) => protobuf.Writer).call(writer, item);
      }
    }
    for (const part of message[UNKNOWN] ?? []) writer.raw(part);
  }
}

/** Why bytes are no message of a schema, as the end of a sentence. */
export class DamagedMessage extends Error {}

/** As in other readers of protobuf; the deepest real messages have a dozen levels. */
const DEEPEST_MESSAGE = 100;

class Decoder {
  private readonly reader: protobuf.Reader;
  private readonly isShared: boolean;
  private parts = 0;
  private depth = 0;

  constructor(
    bytes: Uint8Array,
    private readonly mostParts: number,
    private readonly keepsUnknown: boolean,
  ) {
    this.reader = protobuf.Reader.create(bytes);
    this.isShared = !(bytes.buffer instanceof ArrayBuffer);
  }

  readMessage(type: MessageType, end: number): Message {
    if (++this.depth > DEEPEST_MESSAGE) throw new DamagedMessage('its parts are nested too deep');
    const { reader } = this;
    const message = type.createEmpty();
    while (reader.pos < end) {
      const start = reader.pos;
      const tag = reader.uint32();
      this.countParts(1);
      const wireType = tag & 7;
      const valueEnd = wireType === LENGTH_DELIMITED ? reader.uint32() + reader.pos : reader.pos;
      if (valueEnd > end)
        throw new DamagedMessage('the file is cut off: a field reaches beyond the end of what holds it');
      const field = type.fieldsById.get(tag >>> 3);
      if (field !== undefined && fits(field, wireType)) this.readField(message, field, wireType, valueEnd);
      else {
        if (wireType === LENGTH_DELIMITED) reader.pos = valueEnd;
        else reader.skipType(wireType);
        if (!this.keepsUnknown) continue;
        message[UNKNOWN] ??= [];
        message[UNKNOWN].push((reader.buf as Uint8Array).slice(start, reader.pos));
      }
    }
    if (reader.pos !== end) throw new DamagedMessage('its protobuf structure is damaged');
    this.depth--;
    return message;
  }

  private readField(message: Message, { name, type, isRepeated }: Field, wireType: number, end: number): void {
    if (!isRepeated) {
      // Readers differ: some merge the two messages, others take the last one.
      if (type instanceof MessageType && Object.hasOwn(message, name))
        throw new DamagedMessage(`it has two values for ${name}, where one may be`);
      message[name] = this.readValue(type, end);
      return;
    }
    if (message[name] === NO_ITEMS) message[name] = [];
    const list = message[name] as unknown[];
    if (wireType === getWireType(type)) list.push(this.readValue(type, end));
    else {
      // A packed list of numbers may hold one number a byte.
      this.countParts(end - this.reader.pos);
      while (this.reader.pos < end) list.push(this.readValue(type, end));
    }
  }

  private readValue(type: Field['type'], end: number): unknown {
    if (type instanceof MessageType) return this.readMessage(type, end);
    const { reader } = this;
    if (type !== 'string' && type !== 'bytes') return reader[type]();
    const { buf, pos } = reader;
    reader.pos = end;
    if (type === 'bytes') return (buf as Uint8Array).subarray(pos, end);
    // Browsers refuse to decode shared memory.
    return this.isShared
      ? protobuf.util.utf8.read((buf as Uint8Array).slice(pos, end), 0, end - pos)
      : protobuf.util.utf8.read(buf as Uint8Array, pos, end);
  }

  private countParts(count: number): void {
    this.parts += count;
    if (this.parts > this.mostParts) throw new DamagedMessage('it holds more parts than any network has');
  }
}

function getWireType(type: Field['type']): number {
  return type instanceof MessageType ? LENGTH_DELIMITED : SCALARS[type][0];
}

/** Lists of numbers come one by one or packed. */
function fits({ type, isRepeated }: Field, wireType: number): boolean {
  return wireType === getWireType(type) || (isRepeated && wireType === LENGTH_DELIMITED);
}

export function createMessageTypes<Name extends string>(
  messages: Readonly<Record<Name, MessageSpec>>,
): Readonly<Record<Name, MessageType>> {
  const names = Object.keys(messages) as Name[];
  const types = Object.fromEntries(names.map((name) => [name, new MessageType()])) as Record<Name, MessageType>;
  for (const name of names) {
    types[name].setFields(
      Object.entries(messages[name]).map(([fieldName, [id, spec]]) => {
        const isRepeated = spec.startsWith('repeated ');
        const typeName = isRepeated ? spec.slice('repeated '.length) : spec;
        return { name: fieldName, id, isRepeated, type: types[typeName as Name] ?? (typeName as Scalar) };
      }),
    );
  }
  return types;
}

/** The numbers of a packed list that a schema reads as bytes. @throws RangeError when the last one is cut off */
export function readPackedIntegers(bytes: Uint8Array): number[] {
  const reader = protobuf.Reader.create(bytes);
  const numbers: number[] = [];
  while (reader.pos < reader.len) numbers.push(Number(reader.int64()));
  return numbers;
}
