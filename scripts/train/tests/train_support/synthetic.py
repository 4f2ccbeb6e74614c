"""Small made-up shards in the engine's schema, and short runs of the trainer on them.

A shard has one piece on an otherwise empty board, which moves to where plane 1 says. No chess in it, yet there is something to learn:
legal moves are eight queen or knight moves of the piece, the target is the first of them whose to-square is marked. `write_games`
writes real positions of random games instead.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
from sardonyx_train.config.encodings import POLICY_SIZES, get_input_encoding, lc0_moves
from sardonyx_train.config.training_config import parse_config

import chess

_VALUE_PLANES = {"lc0-112": (109,), "mini-19": (18,), "neuralmate-68": tuple(range(48, 68))}


def schema(encoding: str, policy: str) -> pa.Schema:
    planes, values = get_input_encoding(encoding).planes, _VALUE_PLANES[encoding]
    return pa.schema(
        [
            ("masks", pa.binary(8 * planes)),
            ("values", pa.list_(pa.float32(), len(values))),
            ("legal", pa.list_(pa.uint16())),
            ("policy_index", pa.list_(pa.uint16())),
            ("policy_weight", pa.list_(pa.float32())),
            ("policy_cp", pa.list_(pa.int16())),
            ("result", pa.int8()),
            ("cp", pa.int16()),
            ("q", pa.float32()),
            ("d", pa.float32()),
            ("plies_left", pa.float32()),
            ("game", pa.uint32()),
            ("ply", pa.uint16()),
        ],
        metadata={
            "sardonyx.input": encoding,
            "sardonyx.policy": policy,
            "sardonyx.planes": str(planes),
            "sardonyx.value_planes": ",".join(map(str, values)),
            "sardonyx.shards_version": "1",
        },
    )


def write_shard(path: Path, seed: int, batches: int, rows: int, encoding: str = "lc0-112", policy: str = "lc0-1858") -> None:
    form = schema(encoding, policy)
    random = np.random.default_rng(seed)
    with pa.ipc.new_file(str(path), form) as writer:
        for number in range(batches):
            made = [_position(random, form, policy, seed, number * rows + i) for i in range(rows)]
            columns = [pa.array(list(c), field.type) for c, field in zip(zip(*made), form)]
            writer.write_batch(pa.record_batch(columns, schema=form))


def write_games(path: Path, games: list[tuple[int, list[tuple[int, int]]]]) -> None:
    """One record batch of random games without castling; each game is its seed and the rows to write: (ply in the game, `ply` column)."""
    form = schema("lc0-112", "lc0-1858")
    made = []
    for seed, rows in games:
        boards = _play(seed, 1 + max(at for at, _ in rows))
        made += [_game_row(boards[at], seed, ply) for at, ply in rows]
    with pa.ipc.new_file(str(path), form) as writer:
        columns = [pa.array(list(c), field.type) for c, field in zip(zip(*made), form)]
        writer.write_batch(pa.record_batch(columns, schema=form))


def _play(seed: int, positions: int) -> list[chess.Board]:
    random = np.random.default_rng(seed)
    boards = [chess.Board(chess.STARTING_BOARD_FEN + " w - - 0 1")]
    while len(boards) < positions:
        board = boards[-1].copy(stack=False)
        moves = list(board.legal_moves)
        board.push(moves[int(random.integers(len(moves)))])
        boards.append(board)
    return boards


def write_men(board: chess.Board) -> np.ndarray:
    """The masks of the twelve planes of men, uint64, seen from the mover's side."""
    seen = board if board.turn == chess.WHITE else board.mirror()
    sides = (chess.WHITE, chess.BLACK)
    return np.array([seen.pieces_mask(piece, side) for side in sides for piece in chess.PIECE_TYPES], "<u8")


def _game_row(board: chess.Board, game: int, ply: int) -> tuple:
    seen = board if board.turn == chess.WHITE else board.mirror()
    masks = np.concatenate([write_men(board), np.zeros(100, "<u8")])
    places = {move: index for index, move in enumerate(lc0_moves())}
    letters = {chess.QUEEN: "q", chess.ROOK: "r", chess.BISHOP: "b"}
    legal = [places[m.from_square, m.to_square, letters.get(m.promotion, "")] for m in seen.legal_moves]
    return (masks.tobytes(), [0.0], legal, legal[:2], [0.75, 0.25][: len(legal)], None, 0, 0, None, None, None, game, ply)


def _position(random: np.random.Generator, form: pa.Schema, policy: str, game: int, ply: int) -> tuple:
    masks = np.zeros(form.field("masks").type.byte_width // 8, "<u8")
    square = int(random.integers(64))
    moves = [(i, m) for i, m in enumerate(lc0_moves()) if m[0] == square and m[2] == ""]
    chosen = [moves[i] for i in sorted(random.permutation(len(moves))[:8])]
    best_to = chosen[0][1][1]
    masks[0] = 1 << square
    masks[1] = 1 << best_to
    if "112" in str(form.metadata[b"sardonyx.input"]):
        masks[109] = masks[111] = 2**64 - 1
        masks[104] = (2**64 - 1) * int(random.random() < 0.3)
    # The order is lc0's; other policies number the same moves differently, which is all that matters here.
    legal = [_policy_index(policy, index, move) for index, move in chosen]
    values = [float(random.integers(100))] + [0.5] * (form.field("values").type.list_size - 1)
    cp = int(random.integers(-300, 300))
    if ply % 3 == 0:  # self-play: visit shares, no scores
        weights, scores, q, d = [0.75, 0.25], None, cp / 400, 0.2
    else:
        weights, scores, q, d = None, [cp, cp - 120], None, None
    result = None if ply % 7 == 0 else int(np.sign(cp))
    plies_left = None if ply % 5 == 0 else float(random.integers(1, 120))
    score = None if scores is None else cp
    return (masks.tobytes(), values, legal, legal[:2], weights, scores, result, score, q, d, plies_left, game, ply % 500)


def _policy_index(policy: str, lc0_index: int, move: tuple[int, int, str]) -> int:
    if policy == "lc0-1858":
        return lc0_index
    if policy == "from-to-4096":
        return move[0] * 64 + move[1]
    return (lc0_index * 7) % POLICY_SIZES[policy]


def configure(shards, out, **sections):
    """The configuration of a tiny network and a short run on these shards; `sections` override keys."""
    base = {
        "data": {"train": [str(shards)], "batch_size": 32, "workers": 0},
        "model": {"filters": 8, "blocks": 1, "heads": 2},
        "schedule": {"max_steps": 6, "warmup_steps": 2},
        "run": {"out": str(out), "precision": "fp32", "tensorboard": False, "log_steps": 1, "device": "cpu"},
    }
    for name, keys in sections.items():
        base[name] = {**base.get(name, {}), **keys}
    return parse_config(base)


def run_training(config, resume=None):
    """The trainer after its run, and the last figures on held-out positions."""
    # Imported here, because the scripted engine of the loop makes shards in processes that do without torch.
    from sardonyx_train.training.distributed import join
    from sardonyx_train.training.trainer import Trainer

    trainer = Trainer(config, join(config.run.device), resume)
    return trainer, trainer.run()
