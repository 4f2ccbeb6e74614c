"""The endless stream of training minibatches, shuffled across files, resumable to the minibatch.

Record batches are distributed over the loader processes of all ranks. If there are too few to give each process a minibatch, each
gets a range of the positions. Each process shuffles its list for every pass, loads `shuffle_batches` record batches at a time,
permutes their positions and cuts them into minibatches. Everything follows from (seed, pass, group), so a resumed run skips whole
groups without reading them and continues with the next minibatch. A process holds one group in memory: 20,000 positions
of lc0-112 are about 20 MB.
"""

import atexit
import math
import multiprocessing
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import numpy as np
from torch.utils.data import DataLoader, IterableDataset, get_worker_info

from ..base.errors import TrainError
from ..config.training_config import DataConfig
from .batch import Batch, BatchMaker
from .shards import Columns, Piece, concat_columns, count_rows, list_pieces, read_columns, select_rows

_MOST_LEFT_OUT = 0.8  # largest share of a group's decided positions that is left out


class ShardStream(IterableDataset[Batch]):
    def __init__(
        self, files: list[Path], maker: BatchMaker, config: DataConfig, seed: int, rank: int = 0, ranks: int = 1, skip: int = 0
    ) -> None:
        """`skip`: minibatches of this rank that were consumed before. Raises TrainError."""
        super().__init__()
        self._pieces = list_pieces(files)
        self._maker, self._config, self._seed, self._rank, self._ranks, self.skip = maker, config, seed, rank, ranks, skip
        self._batch_size, self._group = config.batch_size, config.shuffle_batches
        self._deal(max(1, config.workers))  # before a loader process finds too little data

    @property
    def positions(self) -> int:
        return count_rows(self._pieces)

    @property
    def pass_positions(self) -> int:
        """Positions that a pass takes; the rest of `positions` is left out by skip_decided."""
        return self._keep(self.positions)

    def __iter__(self) -> Iterator[Batch]:
        info = get_worker_info()
        workers = info.num_workers if info is not None else 1
        # The loader reads from its processes in turn, starting with process 0. After a resume the order is rotated.
        worker = ((info.id if info is not None else 0) + self.skip) % workers
        skip = (self.skip - worker + workers - 1) // workers
        stream = self._rank * workers + worker
        mine = self._deal(workers)[stream]
        for turn in count():
            order = np.random.default_rng((self._seed, stream, turn)).permutation(len(mine))
            groups = {s: [mine[i] for i in order[s : s + self._group]] for s in range(0, len(order), self._group)}
            if all(self._count_minibatches(chosen) == 0 for chosen in groups.values()):
                raise TrainError(f"no {self._group} record batches (data.shuffle_batches) hold a minibatch of {self._batch_size} positions")
            for start, chosen in groups.items():
                minibatches = self._count_minibatches(chosen)
                if skip >= minibatches:
                    skip -= minibatches
                    continue
                yield from self._minibatches(chosen, np.random.default_rng((self._seed, stream, turn, start)), skip)
                skip = 0

    def _deal(self, workers: int) -> list[list[Piece]]:
        """What each loader process of all ranks reads."""
        streams = self._ranks * workers
        dealt = [self._pieces[stream::streams] for stream in range(streams)]
        if min(map(self._count_minibatches, dealt)) == 0:
            dealt = [_cut(self._pieces, stream, streams) for stream in range(streams)]
        if min(map(self._count_minibatches, dealt)) == 0:
            asked = f"{streams} loader processes and minibatches of {self._batch_size}"
            raise TrainError(f"too little data: {self.positions} positions for {asked}")
        return dealt

    def _minibatches(self, chosen: list[Piece], random: np.random.Generator, skip: int) -> Iterator[Batch]:
        columns = load_group(chosen, self._maker.with_replies)
        order, weight = self._choose(columns, random)
        mirror_seed = int(random.integers(2**31))
        for number in range(skip, self._count_minibatches(chosen)):
            rows = order[number * self._batch_size : (number + 1) * self._batch_size]
            yield self._maker.make(columns, rows, np.random.default_rng((mirror_seed, number)), weight)

    def _choose(self, columns: Columns, random: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """Returns row numbers in random order, at least as many as a pass reads, and the weight of each row in the value loss.

        If decided positions are left out, the remaining ones get a higher weight, so that they count for all of them; otherwise the
        network would learn too small a W − L for positions that may be decided. Short mates and mistakes are repeated with a lower
        weight; since the length of a pass is fixed, as many random rows at its end are then not read.
        """
        order = random.permutation(columns.rows)
        weight = np.ones(columns.rows, np.float32)
        is_left_out = np.zeros(columns.rows, bool)
        copies = self._count_copies(columns)
        left_out = columns.rows - self._keep(columns.rows)
        if left_out > 0:
            is_decided = self._maker.find_decided(columns) & (copies == 0)
            decided = np.flatnonzero(is_decided)
            # If few rows are decided, keep some of them and drop random other rows: a handful must not count for hundreds.
            left_out = min(left_out, int(_MOST_LEFT_OUT * len(decided)))
            weight[is_decided] = len(decided) / max(1, len(decided) - left_out)
            is_left_out[random.choice(decided, left_out, replace=False)] = True
        chosen = order[~is_left_out[order]]
        is_repeated = copies > 1
        if is_repeated.any():
            weight[is_repeated] = 1 / copies[is_repeated]
            rows = np.flatnonzero(is_repeated)
            chosen = random.permutation(np.concatenate([chosen, np.repeat(rows, copies[rows] - 1)]))
        return chosen, weight

    def _count_copies(self, columns: Columns) -> np.ndarray:
        """[rows]: how often each row is to be shown; 0: once, and it may be left out as decided."""
        config = self._config
        mates = config.short_mate_copies * self._maker.find_short_mates(columns)
        mistakes = self._maker.find_mistakes(columns, config.mistake_policy_kl, config.mistake_value_error)
        return np.maximum(mates, config.mistake_copies * mistakes)

    def _keep(self, rows: int) -> int:
        return math.ceil(rows * (1 - self._config.skip_decided))

    def _count_minibatches(self, chosen: list[Piece]) -> int:
        return self._keep(count_rows(chosen)) // self._batch_size


def load_group(chosen: list[Piece], with_replies: bool = False) -> Columns:
    parts = []
    for path, batch, start, stop in chosen:
        columns = read_columns(path, batch, with_replies)
        parts.append(columns if (start, stop) == (0, columns.rows) else select_rows(columns, np.arange(start, stop)))
    return concat_columns(parts)


def _cut(pieces: list[Piece], stream: int, streams: int) -> list[Piece]:
    """The stream's range, if all rows in order are cut into equal ranges."""
    total = count_rows(pieces)
    first, end = total * stream // streams, total * (stream + 1) // streams
    cut: list[Piece] = []
    before = 0
    for piece in pieces:
        start, stop = max(first - before, 0), min(end - before, piece.stop)
        if start < stop:
            cut.append(piece._replace(start=start, stop=stop))
        before += piece.stop
    return cut


def create_loader(stream: ShardStream, workers: int, pin: bool) -> DataLoader[Batch]:
    return DataLoader(
        stream,
        batch_size=None,
        num_workers=workers,
        pin_memory=pin,
        prefetch_factor=4 if workers > 0 else None,
        worker_init_fn=_leave_signals_to_the_trainer,
    )


@atexit.register
def _kill_children() -> None:
    """After an exception multiprocessing asks its children to end and waits; loader processes ignore that request."""
    for child in multiprocessing.active_children():
        child.kill()


def _leave_signals_to_the_trainer(_worker: int) -> None:
    """Ctrl-C and a service manager's stop reach the whole process group. Loaders ignore them: the trainer ends first, then its loaders."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.SIG_IGN)


def read_sequentially(files: list[Path], maker: BatchMaker, batch_size: int, limit: int) -> Iterator[Batch]:
    """Held-out positions in file order. If `limit` is smaller than their number, they are taken evenly from all record batches."""
    rows = read_rows(files, batch_size, limit, maker.with_replies)
    return (maker.make(columns, np.arange(columns.rows)) for columns in rows)


def read_rows(files: list[Path], batch_size: int, limit: int, with_replies: bool = False) -> Iterator[Columns]:
    """The positions of `read_sequentially` as columns; every minibatch but the last is full."""
    pieces = list_pieces(files)
    share = min(1.0, limit / max(1, count_rows(pieces)))
    parts: list[Columns] = []
    missing = batch_size
    for path, i, _, rows in pieces:
        taken = np.linspace(0, rows - 1, min(rows, max(1, round(rows * share)))).astype(np.int64)
        columns = read_columns(path, i, with_replies)
        while len(taken) > 0:
            parts.append(select_rows(columns, taken[:missing]))
            taken = taken[missing:]
            missing -= parts[-1].rows
            if missing == 0:
                yield concat_columns(parts)
                parts, missing = [], batch_size
    if parts:
        yield concat_columns(parts)
