/**
 * Steps of queen and knight as [files to the right, ranks ahead]. AlphaZero's and lc0's convolutional policies number
 * their planes in this order.
 */

/** Clockwise from straight ahead; the king's steps too. */
export const QUEEN_DIRECTIONS = [
  [0, 1],
  [1, 1],
  [1, 0],
  [1, -1],
  [0, -1],
  [-1, -1],
  [-1, 0],
  [-1, 1],
] as const;
/** Clockwise from two ahead, one right. */
export const KNIGHT_JUMPS = [
  [1, 2],
  [2, 1],
  [2, -1],
  [1, -2],
  [-1, -2],
  [-2, -1],
  [-2, 1],
  [-1, 2],
] as const;
