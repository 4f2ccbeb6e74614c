/**
 * Protobuf messages from plain tables of field numbers, and a scan of untrusted bytes. A schema reads like the table it was
 * taken from, and the program needs no .proto file. protobufjs reads and writes the wire format; its own message types would
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

const utf8 = new TextDecoder();

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
      fields.map(({ name, type }) => [name, type instanceof MessageType ? null : SCALARS[type][1]]),
    );
  }

  /** Lists are always there; bytes are views of the given ones. @throws on bytes that are cut short */
  decode(bytes: Uint8Array, keepsUnknown: boolean): object {
    const reader = protobuf.Reader.create(bytes);
    return this.decodeFrom(reader, reader.len, keepsUnknown, null);
  }

  /** @param message fields of the schema; unknown ones that `decode` kept are written too */
  encode(message: object): Uint8Array {
    const writer = protobuf.Writer.create();
    this.encodeTo(writer, message as Message);
    return writer.finish();
  }

  /** @param earlier what the same field held before: messages that come twice are one */
  private decodeFrom(reader: protobuf.Reader, end: number, keepsUnknown: boolean, earlier: Message | null): Message {
    const message = earlier ?? this.createEmpty();
    while (reader.pos < end) {
      const start = reader.pos;
      const tag = reader.uint32();
      const field = this.fieldsById.get(tag >>> 3);
      if (field === undefined || !fits(field, tag & 7)) {
        reader.skipType(tag & 7);
        if (!keepsUnknown) continue;
        message[UNKNOWN] ??= [];
        message[UNKNOWN].push((reader.buf as Uint8Array).slice(start, reader.pos));
      } else if (!field.isRepeated)
        message[field.name] = this.readValue(reader, field.type, keepsUnknown, message[field.name]);
      else {
        const list = message[field.name] as unknown[];
        if ((tag & 7) === getWireType(field.type)) list.push(this.readValue(reader, field.type, keepsUnknown));
        else
          for (const listEnd = reader.uint32() + reader.pos; reader.pos < listEnd; ) {
            list.push(this.readValue(reader, field.type, keepsUnknown));
          }
      }
    }
    return message;
  }

  private createEmpty(): Message {
    const message = Object.create(this.defaults) as Message;
    for (const { name, isRepeated } of this.fields) if (isRepeated) message[name] = [];
    return message;
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

  private readValue(
    reader: protobuf.Reader,
    type: Field['type'],
    keepsUnknown: boolean,
    earlier: unknown = null,
  ): unknown {
    // Decodes a copy, because browsers refuse to decode shared memory.
    if (type === 'string') return utf8.decode(reader.bytes().slice());
    if (!(type instanceof MessageType)) return reader[type]();
    const length = reader.uint32();
    const end = reader.pos + length;
    if (end > reader.len) throw new RangeError('a message reaches beyond the end');
    return type.decodeFrom(reader, end, keepsUnknown, earlier as Message | null);
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

/**
 * Walks protobuf's wire format without allocating, before anything is decoded. In a hostile file a few bytes can stand for an
 * object or a list entry, so a file of megabytes could decode to gigabytes. The scan also recognises files that are cut short.
 * @returns undefined if the structure is sound, else what is wrong with it, as the end of a sentence
 */
export function scanStructure(bytes: Uint8Array, type: MessageType, maxFields: number): string | undefined {
  const reader = protobuf.Reader.create(bytes);
  let fields = 0;

  const scan = (message: MessageType, end: number): string | undefined => {
    while (reader.pos < end) {
      const tag = reader.uint32();
      const field = message.fieldsById.get(tag >>> 3);
      if (++fields > maxFields) return 'it holds more parts than any network has';
      if ((tag & 7) !== LENGTH_DELIMITED) {
        reader.skipType(tag & 7);
        continue;
      }
      const length = reader.uint32();
      const fieldEnd = reader.pos + length;
      if (fieldEnd > end) return 'the file is cut off: a field reaches beyond the end of what holds it';
      if (field?.type instanceof MessageType) {
        const problem = scan(field.type, fieldEnd);
        if (problem !== undefined) return problem;
        continue;
      }
      // A packed list of numbers may hold one number a byte.
      if (field?.isRepeated === true && field.type !== 'string' && field.type !== 'bytes') fields += length;
      reader.pos = fieldEnd;
    }
    return reader.pos === end ? undefined : 'its protobuf structure is damaged';
  };

  try {
    return scan(type, bytes.length);
  } catch {
    return 'the file is cut off or damaged: its protobuf structure ends in the middle of a field';
  }
}
