"""Finds the opponent's replies: rows whose next row is the position after the move that was played.

The writer of shards keeps a game's rows in their order, so the reply is the next row, or it is not in the shards. Game and ply
alone do not tell: of self-play records the ply is the record's number, and the records leave out fast searches and may repeat
positions. So the boards must fit too: the mover made one move, and the opponent's men stand where they stood.
"""

from __future__ import annotations

import numpy as np

_MEN = 6  # kinds; planes 0..5 are the mover's men, 6..11 the opponent's


def find_replies(masks: np.ndarray, game: np.ndarray, ply: np.ndarray) -> np.ndarray:
    """masks uint8 [rows, planes·8], game and ply [rows] → bool [rows]: whether the next row holds the reply; never for the last."""
    is_known = np.zeros(len(masks), bool)
    rows = np.flatnonzero((game[1:] == game[:-1]) & (ply[1:].astype(np.int64) - ply[:-1] == 1))
    boards = masks[:, : 2 * _MEN * 8].copy().view("<u8")
    now, later = boards[rows], boards[rows + 1].byteswap()  # the reply's board, seen from the present mover's side
    own, theirs = now[:, :_MEN], now[:, _MEN:]
    moved, waiting = later[:, _MEN:], later[:, :_MEN]
    gained, lost = _count(moved & ~own), _count(own & ~moved)
    is_one_move = (gained == lost) & (gained >= 1) & (gained <= 2)  # castling moves two men
    is_answered = (_count(waiting & ~theirs) == 0) & (_count(theirs & ~waiting) <= 1)
    is_known[rows] = is_one_move & is_answered
    return is_known


def _count(men: np.ndarray) -> np.ndarray:
    return np.bitwise_count(men).sum(axis=1)
