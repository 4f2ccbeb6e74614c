/**
 * Columns in Arrow's memory layout: a number column is an array of values, a list column is one flat array and the rows'
 * offsets into it; nullable columns have a validity bit for each row. They are filled directly, because Arrow's builders take
 * longer than encoding a position. They are cleared and reused, so that a long run allocates almost nothing.
 */
import {
  type Data,
  type Field,
  type Float32,
  type Int8,
  type Int16,
  makeData,
  type Uint16,
  type Uint32,
} from 'apache-arrow';

type Numbers = Int8Array | Int16Array | Uint16Array | Uint32Array | Float32Array;
export type NumberType = Int8 | Int16 | Uint16 | Uint32 | Float32;

/** One bit a row; rows are appended in order. */
class Validity {
  readonly bits: Uint8Array;
  nullCount = 0;
  private rows = 0;

  constructor(capacityRows: number) {
    this.bits = new Uint8Array((capacityRows + 7) >> 3);
  }

  push(isValid: boolean): void {
    if (isValid) this.bits[this.rows >> 3] |= 1 << (this.rows & 7);
    else this.nullCount++;
    this.rows++;
  }

  clear(): void {
    this.bits.fill(0);
    this.nullCount = 0;
    this.rows = 0;
  }
}

function numbersToData(field: Field, length: number, data: Numbers, validity?: Validity): Data {
  return makeData({
    type: field.type as Float32,
    length,
    nullCount: validity?.nullCount ?? 0,
    nullBitmap: validity?.bits ?? null,
    data: data as Float32Array,
  });
}

export class NumberColumn {
  private readonly values: Numbers;
  private readonly validity: Validity | undefined;
  private rows = 0;

  constructor(
    private readonly field: Field<NumberType>,
    capacityRows: number,
  ) {
    this.values = new field.type.ArrayType(capacityRows);
    this.validity = field.nullable ? new Validity(capacityRows) : undefined;
  }

  push(value: number | null): void {
    this.values[this.rows++] = value ?? 0;
    this.validity?.push(value !== null);
  }

  toData(): Data {
    return numbersToData(this.field, this.rows, this.values, this.validity);
  }

  clear(): void {
    this.rows = 0;
    this.validity?.clear();
  }
}

export class ListColumn {
  private readonly offsets: Int32Array;
  private readonly validity: Validity | undefined;
  private readonly item: Field<NumberType>;
  private values: Numbers;
  private length = 0;
  private rows = 0;

  constructor(
    private readonly field: Field,
    capacityRows: number,
  ) {
    this.item = field.type.children[0];
    this.offsets = new Int32Array(capacityRows + 1);
    this.values = new this.item.type.ArrayType(capacityRows * 4);
    this.validity = field.nullable ? new Validity(capacityRows) : undefined;
  }

  push(value: number): void {
    if (this.length === this.values.length) {
      const grown = new this.item.type.ArrayType(this.length * 2);
      grown.set(this.values);
      this.values = grown;
    }
    this.values[this.length++] = value;
  }

  /** Index of the value in the row being filled, or -1. */
  findInRow(value: number): number {
    const start = this.offsets[this.rows];
    for (let i = start; i < this.length; i++) if (this.values[i] === value) return i - start;
    return -1;
  }

  addAt(indexInRow: number, amount: number): void {
    this.values[this.offsets[this.rows] + indexInRow] += amount;
  }

  /** Ends the row: it consists of all values pushed since the last row. A null row has none. */
  endRow(isValid: boolean): void {
    this.offsets[++this.rows] = this.length;
    this.validity?.push(isValid);
  }

  toData(): Data {
    return makeData({
      type: this.field.type,
      length: this.rows,
      nullCount: this.validity?.nullCount ?? 0,
      nullBitmap: this.validity?.bits ?? null,
      valueOffsets: this.offsets,
      child: numbersToData(this.item, this.length, this.values),
    });
  }

  clear(): void {
    this.length = 0;
    this.rows = 0;
    this.validity?.clear();
  }
}
