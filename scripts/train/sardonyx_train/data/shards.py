"""Reads Arrow shards: finds files, checks their metadata, and turns record batches into numpy columns.

Shards are memory-mapped, so an uncompressed record batch costs no copy until it is shuffled.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import pyarrow as pa

from ..base.errors import TrainError

SHARDS_VERSION = "1"
_COLUMNS = {"masks", "values", "legal", "policy_index", "policy_weight", "policy_cp", "result", "cp", "q", "d", "plies_left", "game", "ply"}


@dataclass(frozen=True)
class ShardFormat:
    """The properties that all shards of a run must share."""

    input: str
    policy: str
    planes: int
    value_planes: tuple[int, ...]


@dataclass(frozen=True)
class Ragged:
    """A column of lists: row i is flat[offsets[i]:offsets[i + 1]]."""

    flat: np.ndarray
    offsets: np.ndarray  # int64, rows + 1

    def take(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(flat values of these rows one after the other, length of each row)."""
        starts = self.offsets[rows]
        lengths = self.offsets[rows + 1] - starts
        ends = np.cumsum(lengths)
        total = int(ends[-1]) if len(ends) else 0
        index = np.arange(total) + np.repeat(starts - (ends - lengths), lengths)
        return self.flat[index], lengths

    def shift(self) -> Self:
        """Row i + 1 becomes row i, and the last row is empty. Copies no values."""
        first = self.offsets[:2][-1]
        offsets = np.concatenate([self.offsets[1:], self.offsets[-1:]])
        return Ragged(self.flat[first : offsets[-1]], offsets - first)


@dataclass(frozen=True)
class Replies:
    """Legal moves and policy target of the next position in the game, in the view of its mover, the opponent."""

    is_known: np.ndarray  # bool; the other columns hold the reply only where this is true
    legal: Ragged
    policy_index: Ragged
    policy_weight: Ragged
    policy_cp: Ragged


@dataclass(frozen=True)
class Columns:
    """Positions as columns; optional numbers are float32 with NaN for null."""

    masks: np.ndarray  # uint8 [rows, planes·8]: byte r of a plane is rank r, bit f is file f
    values: np.ndarray  # float32 [rows, value planes]
    legal: Ragged  # uint16
    policy_index: Ragged  # uint16
    policy_weight: Ragged  # float32; NaN where scores are given instead
    policy_cp: Ragged  # float32 centipawns; NaN where weights are given
    result: np.ndarray  # −1, 0, +1 for the mover
    cp: np.ndarray  # centipawns for the mover
    q: np.ndarray  # W − L for the mover
    d: np.ndarray  # draw probability
    plies_left: np.ndarray
    policy_kl: np.ndarray  # of the label from a network's first impression, in nats; NaN in shards of earlier programs
    value_error: np.ndarray  # |W − L| between the two
    replies: Replies | None = None  # None: not asked for

    @property
    def rows(self) -> int:
        return len(self.masks)


def find_shards(places: list[str]) -> list[Path]:
    """All *.arrow files in the given folders and files, sorted. Raises TrainError if there are none."""
    files: list[Path] = []
    for place in places:
        path = Path(place)
        if path.is_dir():
            files.extend(sorted(path.rglob("*.arrow")))
        elif path.is_file():
            files.append(path)
        else:
            raise TrainError(f"{place}: no such file or folder")
    if not files:
        raise TrainError(f"no *.arrow files in {', '.join(places) or 'the empty list of folders'}")
    return files


def read_format(path: Path) -> ShardFormat:
    schema = open_shard(path).schema
    metadata = {k.decode(): v.decode() for k, v in (schema.metadata or {}).items()}
    version = metadata.get("sardonyx.shards_version")
    if version != SHARDS_VERSION:
        raise TrainError(f"{path}: shards version {version}, this program reads {SHARDS_VERSION}")
    if lacking := _COLUMNS - set(schema.names):
        raise TrainError(f"{path}: not a whole shard, the column {min(lacking)} is missing")
    try:
        listed = metadata["sardonyx.value_planes"]
        form = ShardFormat(
            metadata["sardonyx.input"],
            metadata["sardonyx.policy"],
            int(metadata["sardonyx.planes"]),
            tuple(int(p) for p in listed.split(",") if p.strip() != ""),
        )
    except (KeyError, ValueError) as error:
        raise TrainError(f"{path}: metadata is missing or malformed ({error})") from None
    masks, values = schema.field("masks").type, schema.field("values").type
    if getattr(masks, "byte_width", 0) != 8 * form.planes or getattr(values, "list_size", -1) != len(form.value_planes):
        raise TrainError(
            f"{path}: {form.planes} planes, {len(form.value_planes)} of them with values, do not fit its columns {masks} and {values}"
        )
    return form


def read_common_format(files: list[Path]) -> ShardFormat:
    first = read_format(files[0])
    for path in files[1:]:
        if read_format(path) != first:
            raise TrainError(f"{path}: encoding differs from {files[0]}")
    return first


def read_wanted_format(files: list[Path], encoding: str, policy: str) -> ShardFormat:
    """The files' common format; raises TrainError unless it is the network's."""
    form = read_common_format(files)
    if (form.input, form.policy) != (encoding, policy):
        raise TrainError(f"the shards hold {form.input} / {form.policy}, the network wants {encoding} / {policy}")
    return form


def require_rows(files: list[Path]) -> None:
    if count_rows(list_pieces(files)) == 0:
        raise TrainError(f"{files[0].parent} holds no positions")


class Piece(NamedTuple):
    """Rows of one record batch, from `start` up to but not including `stop`."""

    path: Path
    batch: int
    start: int
    stop: int


def list_pieces(files: Iterable[Path]) -> list[Piece]:
    """All record batches, as wholes."""
    return [Piece(path, i, 0, read_batch(path, i).num_rows) for path in files for i in range(open_shard(path).num_record_batches)]


def count_rows(pieces: Iterable[Piece]) -> int:
    return sum(piece.stop - piece.start for piece in pieces)


def open_shard(path: Path) -> pa.RecordBatchFileReader:
    try:
        return pa.ipc.open_file(pa.memory_map(str(path)))
    except (OSError, pa.ArrowInvalid) as error:
        raise TrainError(f"{path}: not a readable Arrow file ({error})") from None


def read_batch(path: Path, index: int, is_checked: bool = False) -> pa.RecordBatch:
    """`is_checked`: all values are looked at, because a wrong offset ends the process where it is used."""
    try:
        batch = open_shard(path).get_batch(index)
        if is_checked:
            batch.validate(full=True)
        return batch
    except (OSError, pa.ArrowInvalid) as error:
        raise TrainError(f"{path}: its record batch {index} is damaged ({error})") from None


def read_columns(path: Path, index: int, with_replies: bool = False) -> Columns:
    batch = read_batch(path, index, is_checked=True)
    rows = batch.num_rows
    masks = _bytes(batch.column("masks"))
    targets = _ragged(batch.column("policy_index"))
    moves = {
        "legal": _ragged(batch.column("legal")),
        "policy_index": targets,
        "policy_weight": _ragged_or_nan(batch.column("policy_weight"), targets),
        "policy_cp": _ragged_or_nan(batch.column("policy_cp"), targets),
    }
    unknown = np.full(rows, np.nan, np.float32)  # in shards of earlier programs
    replies = None
    if with_replies:
        is_known = find_replies(masks, *(batch.column(name).to_numpy() for name in ("game", "ply")))
        replies = Replies(is_known, **{name: column.shift() for name, column in moves.items()})
    return Columns(
        masks=masks,
        values=_numbers(batch.column("values").flatten()).reshape(rows, batch.column("values").type.list_size),
        replies=replies,
        **moves,
        **{name: _numbers(batch.column(name)) for name in ("result", "cp", "q", "d", "plies_left")},
        **{name: _numbers(batch.column(name)) if name in batch.schema.names else unknown for name in ("policy_kl", "value_error")},
    )


def select_rows(columns: Columns, rows: np.ndarray) -> Columns:
    """A copy of these rows, in their order."""

    def selected(column: Any) -> Any:
        if column is None:
            return None
        if isinstance(column, (Columns, Replies)):
            return type(column)(*map(selected, vars(column).values()))
        if not isinstance(column, Ragged):
            return column[rows]
        flat, lengths = column.take(rows)
        return Ragged(flat, np.concatenate([[0], np.cumsum(lengths)]))

    return selected(columns)


def concat_columns(parts: list[Columns]) -> Columns:
    def joined(columns: Sequence[Any]) -> Any:
        if columns[0] is None:
            return None
        if isinstance(columns[0], (Columns, Replies)):
            return type(columns[0])(*map(joined, zip(*(vars(part).values() for part in columns))))
        if not isinstance(columns[0], Ragged):
            return np.concatenate(columns)
        shifts = np.cumsum([0] + [len(c.flat) for c in columns])
        offsets = [c.offsets[1:] + shift for c, shift in zip(columns, shifts)]
        return Ragged(np.concatenate([c.flat for c in columns]), np.concatenate([[0], *offsets]))

    return joined(parts)


def _bytes(array: pa.FixedSizeBinaryArray) -> np.ndarray:
    """Of a whole record batch: uint8 [rows, width], no copy."""
    width = array.type.byte_width
    return np.frombuffer(array.buffers()[1], np.uint8, len(array) * width).reshape(-1, width)


def _ragged(array: pa.ListArray) -> Ragged:
    """Of uint16."""
    flat = array.values.to_numpy(zero_copy_only=False)
    return Ragged(flat.astype(np.uint16, copy=False), array.offsets.to_numpy().astype(np.int64))


def _ragged_or_nan(array: pa.ListArray, like: Ragged) -> Ragged:
    """A nullable list column laid out on `like`'s offsets, NaN in rows that are null."""
    offsets = like.offsets
    own = _numbers(array.flatten())  # null lists contribute nothing
    inside = np.repeat(np.asarray(array.is_valid()), np.diff(offsets))
    if int(inside.sum()) != len(own):
        raise TrainError("a list of policy weights or scores is not as long as its list of moves")
    flat = np.full(len(like.flat), np.nan, np.float32)
    flat[offsets[0] : offsets[-1]][inside] = own
    return Ragged(flat, offsets)


def _numbers(array: pa.Array) -> np.ndarray:
    if array.null_count == 0:
        return array.to_numpy(zero_copy_only=False).astype(np.float32, copy=False)
    return array.cast(pa.float32()).to_numpy(zero_copy_only=False)  # nulls become NaN


_MEN = 6  # kinds; planes 0..5 are the mover's men, 6..11 the opponent's


def find_replies(masks: np.ndarray, game: np.ndarray, ply: np.ndarray) -> np.ndarray:
    """masks uint8 [rows, planes·8], game and ply [rows] → bool [rows]: whether the next row is the position after the played move.

    The writer of shards keeps a game's rows in their order, so the reply is the next row, or it is not in the shards. Game and ply alone
    do not tell: of self-play records the ply is the record's number, and the records leave out fast searches and may repeat positions.
    So the boards must fit too: the mover made one move, and the opponent's men stand where they stood.
    """
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
