/**
 * Protobuf messages without generated code: message types from plain tables of field numbers, and a scan of untrusted bytes.
 * A schema reads like the table it was taken from, and the program needs no .proto file.
 */
import protobuf from 'protobufjs/light.js';

/** Field number and type: a protobuf scalar or the name of another message, with `repeated ` before it for lists. */
export type FieldSpec = readonly [id: number, type: string];
export type MessageSpec = Readonly<Record<string, FieldSpec>>;

export function createMessageTypes<Name extends string>(
  messages: Readonly<Record<Name, MessageSpec>>,
): Readonly<Record<Name, protobuf.Type>> {
  const root = new protobuf.Root();
  const types = {} as Record<Name, protobuf.Type>;
  for (const name of Object.keys(messages) as Name[]) {
    const type = new protobuf.Type(name);
    for (const [fieldName, [id, spec]] of Object.entries(messages[name])) {
      const isRepeated = spec.startsWith('repeated ');
      const fieldType = isRepeated ? spec.slice('repeated '.length) : spec;
      type.add(new protobuf.Field(fieldName, id, fieldType, isRepeated ? 'repeated' : 'optional'));
    }
    root.add(type);
    types[name] = type;
  }
  root.resolveAll();
  return types;
}

/**
 * Walks protobuf's wire format without allocating, before anything is decoded. In a hostile file a few bytes can stand for an
 * object or a list entry, so a file of megabytes could decode to gigabytes. The scan also recognises files that are cut short.
 * @returns undefined if the structure is sound, else what is wrong with it, as the end of a sentence
 */
export function scanStructure(bytes: Uint8Array, type: protobuf.Type, maxFields: number): string | undefined {
  const reader = protobuf.Reader.create(bytes);
  let fields = 0;

  const scan = (message: protobuf.Type, end: number): string | undefined => {
    while (reader.pos < end) {
      const tag = reader.uint32();
      const field = message.fieldsById[tag >>> 3] as protobuf.Field | undefined;
      if (++fields > maxFields) return 'it holds more parts than any network has';
      if ((tag & 7) !== LENGTH_DELIMITED) {
        reader.skipType(tag & 7);
        continue;
      }
      const length = reader.uint32();
      const fieldEnd = reader.pos + length;
      if (fieldEnd > end) return 'the file is cut off: a field reaches beyond the end of what holds it';
      if (field?.resolvedType instanceof protobuf.Type) {
        const problem = scan(field.resolvedType, fieldEnd);
        if (problem !== undefined) return problem;
        continue;
      }
      // A packed list of numbers may hold one number a byte.
      if (field?.repeated === true && field.type !== 'string' && field.type !== 'bytes') fields += length;
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

const LENGTH_DELIMITED = 2;
