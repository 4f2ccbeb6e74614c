/**
 * The moves of a game and the state before each: what `unmakeMove` restores and what repetition tests compare. One row
 * a ply, kept in columns so that making a move allocates nothing. The columns double when a game outgrows them.
 *
 *   moves         the move
 *   keyLow, keyHigh  key of the position before the move
 *   states        state before the move: bits 0..3 captured piece code, 4..7 castling rights, 8..14 en passant
 *                 square + 1, 15..30 rule50
 */
const FIRST_CAPACITY = 256;

export class History {
  moves = new Uint16Array(FIRST_CAPACITY);
  keyLow = new Int32Array(FIRST_CAPACITY);
  keyHigh = new Int32Array(FIRST_CAPACITY);
  states = new Int32Array(FIRST_CAPACITY);
  capacity = FIRST_CAPACITY;

  /** Makes room for at least `rows` rows and keeps the present ones. */
  grow(rows: number): void {
    while (this.capacity < rows) this.capacity *= 2;
    const moves = new Uint16Array(this.capacity);
    const keyLow = new Int32Array(this.capacity);
    const keyHigh = new Int32Array(this.capacity);
    const states = new Int32Array(this.capacity);
    moves.set(this.moves);
    keyLow.set(this.keyLow);
    keyHigh.set(this.keyHigh);
    states.set(this.states);
    this.moves = moves;
    this.keyLow = keyLow;
    this.keyHigh = keyHigh;
    this.states = states;
  }

  /** Copies the first `rows` rows of `other`. */
  copyFrom(other: History, rows: number): void {
    if (this.capacity < rows) this.grow(rows);
    for (let row = 0; row < rows; row++) {
      this.moves[row] = other.moves[row];
      this.keyLow[row] = other.keyLow[row];
      this.keyHigh[row] = other.keyHigh[row];
      this.states[row] = other.states[row];
    }
  }
}
