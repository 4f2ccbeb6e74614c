#!/usr/bin/env python3
"""Shows what shards hold: `inspect_shards.py runs/shards/train` prints results, targets and repeated positions."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
from sardonyx_train.config import TargetConfig
from sardonyx_train.data.batch import BatchMaker
from sardonyx_train.data.shards import ShardError, find_shards, read_common_format, read_info
from sardonyx_train.data.stream import Piece, count_rows, load_group


_PIECE_PLANES = 12  # the first of every encoding: the board as the mover sees it


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Describe Arrow shards: number of positions, results and targets.")
    parser.add_argument("shards", nargs="+", help="folders or files")
    parser.add_argument("--batches", type=int, default=5, help="record batches to read, taken evenly (default 5)")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        found = describe(find_shards(options.shards), max(1, options.batches))
    except (ShardError, ValueError) as error:
        print(f"inspect_shards: {error}", file=sys.stderr)
        return 1
    if options.json:
        print(json.dumps(found))
    else:
        for name, value in found.items():
            print(f"{name:32}{f'{value:,}' if isinstance(value, int) else value}")
    return 0


def describe(files: list[Path], batches: int) -> dict[str, int | float | str]:
    """Shares are between 0 and 1; results are from the mover's view."""
    form = read_common_format(files)
    listed = [Piece(path, i, 0, rows) for path in files for i, rows in enumerate(read_info(path).rows)]
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


if __name__ == "__main__":
    sys.exit(main())
