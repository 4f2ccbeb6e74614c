/**
 * What `unmakeMove` needs and repetition looks at: one row a ply, the state before the ply's move. Columns instead of
 * objects, so that a move allocates nothing; they double when a game outgrows them.
 *
 *   moves      the move made
 *   keyLow/High  key of the position before it
 *   states     bits 0..3 captured piece code, 4..7 castling rights, 8..14 en passant square + 1, 15..30 rule50
 */
const FIRST_CAPACITY = 256;

export class History {
  moves = new Uint16Array(FIRST_CAPACITY);
  keyLow = new Int32Array(FIRST_CAPACITY);
  keyHigh = new Int32Array(FIRST_CAPACITY);
  states = new Int32Array(FIRST_CAPACITY);
  capacity = FIRST_CAPACITY;

  /** Makes room for at least `rows` rows and keeps what is there. */
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
