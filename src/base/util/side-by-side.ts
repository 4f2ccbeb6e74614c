/**
 * Runs several copies of the same work concurrently. Promise.all would reject at the first error, and the caller would then
 * close resources that the other copies still use. Here the others are told to end, and the error is thrown after all have ended.
 */

/**
 * @param work gets its number, from 0
 * @param end called once, at the first error; all other work must then settle soon, with or without an error
 */
export async function runSideBySide(
  count: number,
  work: (index: number) => Promise<void>,
  end: () => void,
): Promise<void> {
  const errors: unknown[] = [];
  const runOne = async (index: number): Promise<void> => {
    try {
      await work(index);
    } catch (error) {
      if (errors.push(error) === 1) end();
    }
  };
  await Promise.all(Array.from({ length: count }, (_, index) => runOne(index)));
  if (errors.length > 0) throw errors[0];
}

/** A promise and the functions that settle it, as Promise.withResolvers of later Nodes. */
export interface Deferred<Value> {
  readonly promise: Promise<Value>;
  resolve(value: Value): void;
  reject(error: unknown): void;
}

export function createDeferred<Value = void>(): Deferred<Value> {
  let resolve: Deferred<Value>['resolve'] = () => undefined;
  let reject: Deferred<Value>['reject'] = () => undefined;
  const promise = new Promise<Value>((...settle) => {
    [resolve, reject] = settle;
  });
  return { promise, resolve, reject };
}
