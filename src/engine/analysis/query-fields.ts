/** The fields of a query and their types. A mistake is thrown as a `QueryProblem`; whoever answers the query catches it. */
import * as v from 'valibot';

/** A mistake in a query; its message is one sentence. */
export class QueryProblem extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

const MOST_VISITS = 1_000_000_000;
const MOST_SECONDS = 1_000_000;
const HIGHEST_PRIORITY = 1_000_000_000;
const MOST_TURNS = 1_000_000;
export const MOST_MOVES = 218;

// The message of a type ends the sentence "FIELD must be …".

const text = v.optional(v.string('a string'));
const flag = v.optional(v.boolean('true or false'));
const list = v.optional(v.array(v.unknown(), 'a list'));
const texts = v.optional(v.array(v.string('a list of strings'), 'a list of strings'));
const seconds = v.optional(
  v.custom<number>(
    (value) => typeof value === 'number' && value > 0 && value <= MOST_SECONDS,
    `a number above 0 and at most ${MOST_SECONDS}`,
  ),
);
const whole = (min: number, max: number) => v.optional(createWhole(min, max, describeRange(min, max)));
const wholes = (min: number, max: number) => {
  const rule = `a list, each item ${describeRange(min, max)}`;
  return v.optional(v.array(createWhole(min, max, rule), rule));
};

function createWhole(min: number, max: number, rule: string) {
  return v.custom<number>((value) => Number.isInteger(value) && Number(value) >= min && Number(value) <= max, rule);
}

export function describeRange(min: number, max: number): string {
  return `a whole number from ${min} to ${max}`;
}

export const querySchema = v.object({
  id: text,
  initialFen: text,
  /** What everybody calls it. */
  fen: text,
  startpos: flag,
  moves: texts,
  analyzeTurns: wholes(0, MOST_TURNS),
  priority: whole(-HIGHEST_PRIORITY, HIGHEST_PRIORITY),
  priorities: wholes(-HIGHEST_PRIORITY, HIGHEST_PRIORITY),
  overrideSettings: v.optional(v.custom<Record<string, unknown>>(isObject, 'an object')),
  maxVisits: whole(1, MOST_VISITS),
  maxTime: seconds,
  reportDuringSearchEvery: seconds,
  firstReportDuringSearchAfter: seconds,
  chess960: flag,
  multiPv: whole(1, MOST_MOVES),
  includePolicy: flag,
  includePVVisits: flag,
  allowMoves: list,
  avoidMoves: list,
  model: text,
});
export type QueryFields = v.InferOutput<typeof querySchema>;

export const terminationSchema = v.object({ terminateId: text, turnNumbers: wholes(0, MOST_TURNS) });

/** @throws QueryProblem for the first field of another type */
export function readFields<Schema extends typeof querySchema | typeof terminationSchema>(
  schema: Schema,
  object: Readonly<Record<string, unknown>>,
): v.InferOutput<Schema> {
  const read = v.safeParse(schema, object, { abortEarly: true });
  if (read.success) return read.output;
  const [{ path, message }] = read.issues;
  const field = String(path?.[0].key);
  throw new QueryProblem(field, `${field} must be ${message}`);
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
