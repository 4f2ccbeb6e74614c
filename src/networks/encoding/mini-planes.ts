/**
 * `mini-19`: the planes of the Mini Leela guide, one position without history. The guide shows the board from White's
 * side. Here, as in every encoding, the mover's side is at the bottom and its pieces come first; plane 12 says who
 * moves.
 *
 * | planes | content |
 * |---|---|
 * | 0..5, 6..11 | own P N B R Q K, theirs |
 * | 12 | ones if White is to move |
 * | 13..16 | castling rights: own king side, own queen side, theirs |
 * | 17 | en-passant square |
 * | 18 | rule 50 in plies / 100 |
 */
import { WHITE } from '../../chess/rules/index.js';
import type { InputEncoding } from './encoding.js';
import { PIECE_PLANES, setFullMask, setSquare, writeCastlingPlanes, writePieceMasks } from './planes.js';

const PLANES = 19;
const TURN_PLANE = PIECE_PLANES;
const CASTLING_PLANE = 13;
const EN_PASSANT_PLANE = 17;
const RULE50_PLANE = 18;

export const miniEncoding: InputEncoding = {
  name: 'mini-19',
  planes: PLANES,
  valuePlanes: [RULE50_PLANE],
  writePacked(position, _historyFill, masks, maskOffset, values, valueOffset) {
    masks.fill(0, maskOffset, maskOffset + 2 * PLANES);
    values.fill(1, valueOffset, valueOffset + PLANES);
    const mover = position.sideToMove;
    writePieceMasks(position.masks, mover, masks, maskOffset);
    if (mover === WHITE) setFullMask(masks, maskOffset + 2 * TURN_PLANE);
    writeCastlingPlanes(position, masks, maskOffset + 2 * CASTLING_PLANE);
    const square = position.enPassantSquare;
    if (square >= 0) setSquare(masks, maskOffset + 2 * EN_PASSANT_PLANE, mover === WHITE ? square : square ^ 56);
    setFullMask(masks, maskOffset + 2 * RULE50_PLANE);
    values[valueOffset + RULE50_PLANE] = position.rule50 / 100;
    return 0;
  },
};
