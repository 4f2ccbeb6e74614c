/**
 * The same work several times at once. Promise.all would throw the first error at once, and its caller would close what
 * the others still use; here the others are told to end, and the error is thrown when all have ended.
 */

/**
 * @param work gets its number, from 0
 * @param end called once, at the first error; whoever still works must settle soon after it, in whatever way
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
