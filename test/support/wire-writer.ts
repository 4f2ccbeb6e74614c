/** The few protobuf encodings the tests need to write network files of their own, without the library under test. */
export class WireWriter {
  private readonly parts: Uint8Array[] = [];

  varint(field: number, value: number): this {
    this.parts.push(formatVarint(field * 8), formatVarint(value));
    return this;
  }

  fixed32(field: number, value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setUint32(0, value, true);
    this.parts.push(formatVarint(field * 8 + 5), bytes);
    return this;
  }

  float(field: number, value: number): this {
    const bytes = new Uint8Array(4);
    new DataView(bytes.buffer).setFloat32(0, value, true);
    this.parts.push(formatVarint(field * 8 + 5), bytes);
    return this;
  }

  bytes(field: number, value: Uint8Array): this {
    this.parts.push(formatVarint(field * 8 + 2), formatVarint(value.length), value);
    return this;
  }

  string(field: number, value: string): this {
    return this.bytes(field, new TextEncoder().encode(value));
  }

  finish(): Uint8Array {
    return new Uint8Array(Buffer.concat(this.parts));
  }
}

function formatVarint(value: number): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  bytes.push(rest);
  return Uint8Array.from(bytes);
}
