/**
 * Runs the same work several times at the same time. Promise.all throws the first error at once, and its caller would then
 * close what the others still use. Here the others are told to end, and the error is thrown when all have ended.
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
