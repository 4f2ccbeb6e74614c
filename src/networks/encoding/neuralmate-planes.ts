/**
 * `neuralmate-68`: the planes of NeuralMate2: four positions, the state of the game, attack maps and eight semantic
 * planes. All values lie in [0, 1], and the mover's side is at the bottom. NeuralMate2's document only names the
 * semantic planes; how we read the names stands below.
 *
 * | planes | content |
 * |---|---|
 * | 12·k + 0..11, k = 0..3 (newest first) | own P N B R Q K, theirs |
 * | 48 | ones if White is to move |
 * | 49 | move number, min(n, 200) / 200 |
 * | 50..53 | castling rights: own king side, own queen side, theirs |
 * | 54 | rule 50 in plies / 100 |
 * | 55 | en-passant square |
 * | 56, 57 | ones if the position occurred before once, twice |
 * | 58, 59 | squares attacked by the mover, by the opponent |
 * | 60..67 | semantic planes |
 */
import { type Move, type Position, WHITE } from '../../chess/rules/index.js';
import { type HistoryFill, type InputEncoding, isStartPosition } from './encoding.js';
import { PIECE_PLANES, setFullMask, setSquare, writeCastlingPlanes, writePieceMasks } from './planes.js';
import { writeSemanticPlanes } from './semantic-planes.js';

const PLANES = 68;
const HISTORY = 4;
const TURN_PLANE = 48;
const MOVE_NUMBER_PLANE = 49;
const CASTLING_PLANE = 50;
const RULE50_PLANE = 54;
const EN_PASSANT_PLANE = 55;
const REPETITION_PLANE = 56;
const ATTACKS_PLANE = 58;

const walkedMoves = new Uint16Array(HISTORY);

/** Writes planes 0 to 47. */
function writeHistory(position: Position, historyFill: HistoryFill, masks: Uint32Array, maskOffset: number): void {
  const viewer = position.sideToMove;
  const slotWords = 2 * PIECE_PLANES;
  let walked = 0;
  let slot = 0;
  for (;;) {
    writePieceMasks(position.masks, viewer, masks, maskOffset + slot * slotWords);
    slot++;
    if (slot === HISTORY || position.historyLength === 0) break;
    walkedMoves[walked++] = position.lastMove();
    position.unmakeMove();
  }
  if (historyFill === 'always' || (historyFill === 'fen_only' && !isStartPosition(position))) {
    for (; slot < HISTORY; slot++) {
      const start = maskOffset + slot * slotWords;
      masks.copyWithin(start, start - slotWords, start);
    }
  }
  while (walked > 0) position.makeMove(walkedMoves[--walked] as Move);
}

export const neuralmateEncoding: InputEncoding = {
  name: 'neuralmate-68',
  planes: PLANES,
  valuePlanes: [MOVE_NUMBER_PLANE, RULE50_PLANE],
  writePacked(position, historyFill, masks, maskOffset, values, valueOffset) {
    masks.fill(0, maskOffset, maskOffset + 2 * PLANES);
    values.fill(1, valueOffset, valueOffset + PLANES);
    const plane = (index: number): number => maskOffset + 2 * index;
    const mover = position.sideToMove;
    writeHistory(position, historyFill, masks, maskOffset);
    if (mover === WHITE) setFullMask(masks, plane(TURN_PLANE));
    setFullMask(masks, plane(MOVE_NUMBER_PLANE));
    values[valueOffset + MOVE_NUMBER_PLANE] = Math.min((position.gamePly >> 1) + 1, 200) / 200;
    writeCastlingPlanes(position, masks, plane(CASTLING_PLANE));
    setFullMask(masks, plane(RULE50_PLANE));
    values[valueOffset + RULE50_PLANE] = Math.min(position.rule50, 100) / 100;
    const square = position.enPassantSquare;
    if (square >= 0) setSquare(masks, plane(EN_PASSANT_PLANE), mover === WHITE ? square : square ^ 56);
    const repetitions = position.repetitions();
    for (let i = 0; i < Math.min(repetitions, 2); i++) setFullMask(masks, plane(REPETITION_PLANE + i));
    writeSemanticPlanes(position, masks, plane(ATTACKS_PLANE));
    return 0;
  },
};
