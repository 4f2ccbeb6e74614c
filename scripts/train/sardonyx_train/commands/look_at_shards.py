"""The commands `inspect`, which says what shards hold, and `bench-loader`, which measures how fast they are read."""

import json
import time
from argparse import Namespace
from itertools import islice
from pathlib import Path

import numpy as np

from ..config.training_config import DataConfig, TargetConfig
from ..data.batch import BatchMaker
from ..data.shards import count_rows, find_shards, list_pieces, read_common_format, require_rows
from ..data.stream import ShardStream, create_loader, load_group

_PIECE_PLANES = 12  # the first of every encoding: the board as the mover sees it


def inspect(options: Namespace) -> int:
    found = describe(find_shards(options.shards), options.batches)
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:32}{f'{value:,}' if isinstance(value, int) else value}")
    return 0


def describe(files: list[Path], batches: int) -> dict[str, int | float | str]:
    """Shares are between 0 and 1; results are from the mover's view."""
    form = read_common_format(files)
    require_rows(files)
    listed = list_pieces(files)
    chosen = [listed[i] for i in sorted({round(i) for i in np.linspace(0, len(listed) - 1, batches)})]
    columns = load_group(chosen)
    rows = np.arange(columns.rows)
    policy = BatchMaker(form, TargetConfig(), mirror=False).make(columns, rows).policy_probability.numpy().astype(np.float64)
    entropy = -(policy * np.log(np.maximum(policy, 1e-12))).sum(1)
    has_policy = policy.sum(1) > 0
    known = ~np.isnan(columns.result)
    unique = len(np.unique(columns.masks.reshape(columns.rows, -1)[:, : 8 * _PIECE_PLANES], axis=0))

    def share(selected: np.ndarray) -> float:
        return round(float(selected.mean()), 4)

    return {
        "files": len(files),
        "positions": count_rows(listed),
        "encoding": form.input,
        "policy map": form.policy,
        "positions looked at": columns.rows,
        "different boards, share": round(unique / max(1, columns.rows), 4),
        "result known": share(known),
        "won, of those known": share(columns.result[known] > 0) if known.any() else 0.0,
        "drawn, of those known": share(columns.result[known] == 0) if known.any() else 0.0,
        "with a score (cp)": share(~np.isnan(columns.cp)),
        "with a search value (q)": share(~np.isnan(columns.q)),
        "with a policy target": share(has_policy),
        "moves in the target, mean": round(float((policy > 0).sum(1)[has_policy].mean()), 2) if has_policy.any() else 0.0,
        "target entropy, nats, mean": round(float(entropy[has_policy].mean()), 3) if has_policy.any() else 0.0,
        "legal moves, mean": round(float(columns.legal.take(rows)[1].mean()), 1),
    }


def bench(options: Namespace) -> int:
    """Packed minibatches per second, without a network."""
    files = find_shards(options.shards) * options.copies
    maker = BatchMaker(read_common_format(files), TargetConfig(), mirror=False, with_replies=options.replies)
    config = DataConfig(batch_size=options.batch_size, workers=options.workers, shuffle_batches=options.shuffle_batches)
    stream = ShardStream(files, maker, config, seed=1)
    batches = iter(create_loader(stream, options.workers, pin=False))
    next(batches)
    started = time.perf_counter()
    count = sum(batch.size for batch in islice(batches, max(1, options.positions // options.batch_size)))
    seconds = time.perf_counter() - started
    print(json.dumps({"positions": count, "seconds": round(seconds, 3), "positionsPerSecond": round(count / seconds)}))
    return 0
