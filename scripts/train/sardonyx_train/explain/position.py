"""A position as tensors. `sardonyx encode … --json` computes it, because this package knows no chess rules."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

_SECONDS = 60


class ExplainError(Exception):
    """A position or network cannot be explained; the text says why."""


@dataclass(frozen=True)
class EncodedPosition:
    """Planes are in the encoding's view (player to move below); `squares` maps its squares to those of the board, a1 = 0."""

    fen: str
    is_black_to_move: bool
    planes: np.ndarray  # float32 [planes, 64]
    is_whole: np.ndarray  # bool [planes]: the plane has the same value on all squares
    board: str  # FEN letters by the board's square, '.' is empty
    squares: np.ndarray  # int64 [64]
    moves: tuple[str, ...]  # legal
    indices: np.ndarray  # int64, policy index of each

    def to_board(self, values: np.ndarray) -> np.ndarray:
        """[64], indexed by the encoding's squares → [8, 8], indexed by rank and file of the board."""
        turned = np.zeros(64, values.dtype)
        turned[self.squares] = values
        return turned.reshape(8, 8)


def encode_position(engine: Sequence[str], fen: str, moves: str, encoding: str, policy: str) -> EncodedPosition:
    command = [*engine, "encode", fen, "--moves", moves, "--encoding", encoding, "--policy", policy, "--json"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise ExplainError(f"the engine does not answer: {error}") from None
    if done.returncode != 0:
        raise ExplainError(done.stderr.strip() or f"the engine ended with exit status {done.returncode}")
    position = parse_position(json.loads(done.stdout))
    if len(position.moves) == 0:
        raise ExplainError("the game is over in this position")
    return position


def parse_position(raw: dict) -> EncodedPosition:
    masks = np.array([int(mask, 16) for mask in raw["masks"]], dtype=np.uint64)
    bits = (masks[:, None] >> np.arange(64, dtype=np.uint64)) & np.uint64(1)
    values = np.array(raw["values"], dtype=np.float32)
    return EncodedPosition(
        fen=raw["fen"],
        is_black_to_move=raw["sideToMove"] == "black",
        planes=bits.astype(np.float32) * values[:, None],
        is_whole=np.asarray(bits.all(axis=1)),
        board=raw["board"],
        squares=np.array(raw["squares"], dtype=np.int64),
        moves=tuple(entry["move"] for entry in raw["legal"]),
        indices=np.array([entry["index"] for entry in raw["legal"]], dtype=np.int64),
    )
