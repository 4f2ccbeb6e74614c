/**
 * Protobuf message types from plain tables of field numbers, so that a schema reads like the table it was taken from
 * and needs neither a .proto file beside the program nor generated code.
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
