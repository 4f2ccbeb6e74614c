/**
 * Walks protobuf's wire format without allocating, before anything is decoded. A few bytes of a hostile file can stand
 * for an object or a list entry each, so a file of megabytes could decode to gigabytes; and a file that is cut off
 * should be called that.
 */
import protobuf from 'protobufjs/light.js';

/** @returns undefined when the structure holds, else what is wrong with it, as the end of a sentence. */
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
      // A packed list of numbers may hold one a byte.
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
