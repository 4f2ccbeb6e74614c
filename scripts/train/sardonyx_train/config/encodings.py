"""Facts about each input and policy encoding: sizes, plane scales, index maps.

The engine (TypeScript) computes the encodings. This file holds only the tables that heads, mirroring and export need, derived
from the rules of the encodings. Squares are a1 = 0 … h8 = 63, always from the mover's view.
"""

from dataclasses import dataclass, field
from functools import cache

import numpy as np


@dataclass(frozen=True)
class InputEncoding:
    """`scales`: factors of planes whose raw values leave [0, 1]. `castling`: planes that forbid mirroring; None if unknown.
    `history`: first planes of the older boards, newest first, then the first plane after them; empty without history.
    `is_turned`: boards may be mirrored or rotated, one position otherwise than the next. Planes 0..5 of all encodings hold the
    mover's P N B R Q K, planes 6..11 the opponent's.
    """

    planes: int
    scales: dict[int, float] = field(default_factory=dict)
    castling: tuple[int, ...] | None = None
    history: tuple[int, ...] = ()
    is_turned: bool = False


_LC0_HISTORY = tuple(range(13, 105, 13))
_CLASSICAL_SCALES = {109: 1 / 99}

INPUT_ENCODINGS: dict[str, InputEncoding] = {
    "lc0-112": InputEncoding(112, _CLASSICAL_SCALES, (104, 105, 106, 107), _LC0_HISTORY),
    "history-216": InputEncoding(216, {213: 1 / 99}, (208, 209, 210, 211), tuple(range(13, 209, 13))),
    "mini-19": InputEncoding(19, {}, (13, 14, 15, 16)),
    "neuralmate-68": InputEncoding(68, {}, (50, 51, 52, 53), (12, 24, 36, 48)),
    "attacks-50": InputEncoding(50, {}, (40, 41, 42, 43)),
}

# lc0's other 112-plane formats have lc0's enum names; from "hectoplies" on they hold the rule-50 count divided by 100.
_LC0_FORMATS = "INPUT_112_WITH_"
_TURNED_FORMATS = f"{_LC0_FORMATS}CANONICALIZATION"
_RAW_RULE50_FORMATS = (f"{_LC0_FORMATS}CASTLING_PLANE", _TURNED_FORMATS)


def get_input_encoding(name: str) -> InputEncoding:
    """Raises ValueError for an unknown name."""
    if name in INPUT_ENCODINGS:
        return INPUT_ENCODINGS[name]
    if name.startswith(_LC0_FORMATS):
        scales = _CLASSICAL_SCALES if name in _RAW_RULE50_FORMATS else {}
        return InputEncoding(112, scales, history=_LC0_HISTORY, is_turned=name.startswith(_TURNED_FORMATS))
    raise ValueError(f"unknown input encoding '{name}', known: {', '.join(INPUT_ENCODINGS)}, {_LC0_FORMATS}…")


POLICY_SIZES: dict[str, int] = {"lc0-1858": 1858, "from-to-4096": 4096, "alphazero-4672": 4672}

# Queen directions N, NE, E, SE, S, SW, W, NW and knight jumps, as (file, rank) steps, in lc0's plane order.
_DIRECTIONS = ((0, 1), (1, 1), (1, 0), (1, -1), (0, -1), (-1, -1), (-1, 0), (-1, 1))
JUMPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
PROMOTION_PIECES = "qrb"


@cache
def lc0_moves() -> tuple[tuple[int, int, str], ...]:
    """The 1858 moves in lc0's order: (from, to, promotion), promotion one of '', 'q', 'r', 'b'."""
    moves: list[tuple[int, int, str]] = []
    for source in range(64):
        for target in range(64):
            file_step = abs(source % 8 - target % 8)
            rank_step = abs(source // 8 - target // 8)
            straight = (file_step == 0) != (rank_step == 0) or (file_step == rank_step and file_step > 0)
            if straight or {file_step, rank_step} == {1, 2}:
                moves.append((source, target, ""))
    for file in range(8):
        for target_file in range(max(0, file - 1), min(7, file + 1) + 1):
            moves.extend((48 + file, 56 + target_file, piece) for piece in PROMOTION_PIECES)
    return tuple(moves)


def attention_gather(policy: str) -> np.ndarray | None:
    """For each policy index, its place in the attention head's flat output: [64·64 from-to, then 8·24 promotions].

    Promotions are at 4096 + 24·file + 3·target file + (q 0, r 1, b 2). None: the 4096 from-to logits are the policy.
    """
    if policy == "from-to-4096":
        return None
    if policy != "lc0-1858":
        raise ValueError(f"policy '{policy}' has no attention head; use convolution or dense")
    return np.array(
        [
            source * 64 + target if piece == "" else 4096 + 24 * (source % 8) + 3 * (target % 8) + PROMOTION_PIECES.index(piece)
            for source, target, piece in lc0_moves()
        ],
        dtype=np.int64,
    )


def convolution_gather(policy: str) -> tuple[int, np.ndarray]:
    """(planes, gather): planes of the head's last convolution and, for each policy index, its place in [planes·64]."""
    if policy == "lc0-1858":
        return 80, np.array([_lc0_plane(*move) * 64 + move[0] for move in lc0_moves()], dtype=np.int64)
    planes = POLICY_SIZES[policy] // 64
    source, kind = np.divmod(np.arange(64 * planes), planes)
    return planes, kind * 64 + source


def _lc0_plane(source: int, target: int, piece: str) -> int:
    step = (target % 8 - source % 8, target // 8 - source // 8)
    if piece != "":
        return 64 + (step[0] + 1) * 3 + "rbq".index(piece)
    if step in JUMPS:
        return 56 + JUMPS.index(step)
    distance = max(abs(step[0]), abs(step[1]))
    return _DIRECTIONS.index((step[0] // distance, step[1] // distance)) * 7 + distance - 1


def mirror_policy(policy: str) -> np.ndarray:
    """For each policy index the index of the move with files a..h reversed."""
    if policy == "lc0-1858":
        position = {move: i for i, move in enumerate(lc0_moves())}
        return np.array([position[(s ^ 7, t ^ 7, p)] for s, t, p in lc0_moves()], dtype=np.int64)
    if policy == "from-to-4096":
        index = np.arange(4096)
        return ((index >> 6) ^ 7) * 64 + ((index & 63) ^ 7)
    # alphazero-4672 has 73 kinds of move: 8 directions of 7 distances, 8 jumps, and promotions to 3 pieces by 3 steps of the file.
    source, kind = np.divmod(np.arange(4672), 73)
    line, jump, promotion = (8 - kind // 7) % 8 * 7 + kind % 7, 56 + 63 - kind, kind + 2 * (1 - (kind - 64) % 3)
    return (source ^ 7) * 73 + np.select([kind < 56, kind < 64], [line, jump], promotion)
