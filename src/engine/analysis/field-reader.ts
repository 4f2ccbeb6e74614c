/**
 * Reads the fields of a JSON object and checks their types. It keeps the first mistake and then returns undefined for every
 * field, so that a parser needs no branches. `unknownFields` are those that the parser did not read.
 */
export interface Problem {
  readonly field: string;
  /** One sentence. */
  readonly text: string;
}

export class FieldReader {
  private firstProblem: Problem | null = null;
  private readonly known = new Set<string>();

  constructor(private readonly object: Readonly<Record<string, unknown>>) {}

  get problem(): Problem | null {
    return this.firstProblem;
  }

  get unknownFields(): string[] {
    return Object.keys(this.object).filter((field) => !this.known.has(field));
  }

  fail(field: string, text: string): void {
    this.firstProblem ??= { field, text };
  }

  readString(field: string): string | undefined {
    return this.read(field, 'a string', (value) => (typeof value === 'string' ? value : undefined));
  }

  readBoolean(field: string): boolean | undefined {
    return this.read(field, 'true or false', (value) => (typeof value === 'boolean' ? value : undefined));
  }

  readWhole(field: string, min: number, max: number): number | undefined {
    return this.read(field, describeRange(min, max), (value) => (isWhole(value, min, max) ? value : undefined));
  }

  /** A number above 0. */
  readPositive(field: string, max: number): number | undefined {
    return this.read(field, `a number above 0 and at most ${max}`, (value) =>
      typeof value === 'number' && value > 0 && value <= max ? value : undefined,
    );
  }

  readStrings(field: string): string[] | undefined {
    return this.read(field, 'a list of strings', (value) =>
      Array.isArray(value) && value.every((item) => typeof item === 'string') ? value : undefined,
    );
  }

  readList(field: string): unknown[] | undefined {
    return this.read(field, 'a list', (value) => (Array.isArray(value) ? value : undefined));
  }

  readWholes(field: string, min: number, max: number): number[] | undefined {
    return this.read(field, `a list, each item ${describeRange(min, max)}`, (value) =>
      Array.isArray(value) && value.every((item) => isWhole(item, min, max)) ? value : undefined,
    );
  }

  readObject(field: string): Record<string, unknown> | undefined {
    return this.read(field, 'an object', (value) => (isObject(value) ? value : undefined));
  }

  private read<Value>(field: string, rule: string, accept: (value: unknown) => Value | undefined): Value | undefined {
    this.known.add(field);
    const value = this.object[field];
    if (value === undefined || this.firstProblem !== null) return undefined;
    const accepted = accept(value);
    if (accepted === undefined) this.fail(field, `${field} must be ${rule}`);
    return accepted;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isWhole(value: unknown, min: number, max: number): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= min && value <= max;
}

function describeRange(min: number, max: number): string {
  return `a whole number from ${min} to ${max}`;
}
