#!/usr/bin/env python3
"""Training curves of several runs in one picture: `compare_runs.py runs/a runs/b --out compare.png` (or .svg).

A run is a folder of train.py (`history.jsonl`) or of loop.py (`generations/`, whose trainings are joined one after the other).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from sardonyx_train.history import HistoryError, join_history
from sardonyx_train.plots import X_AXES, plot_runs


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draw the training curves of several runs in one picture.")
    parser.add_argument("runs", nargs="+", type=Path, help="folders of runs; NAME=FOLDER gives one another name")
    parser.add_argument("--out", type=Path, required=True, help="picture to write, .png or .svg")
    parser.add_argument("--x", choices=X_AXES, default="step", help="horizontal axis (default step)")
    options = parser.parse_args(arguments)
    try:
        if options.out.suffix.lower() not in (".png", ".svg"):
            raise HistoryError(f"--out needs a name that ends in .png or .svg, not {options.out}")
        runs = [_read(str(given)) for given in options.runs]
        twice = [name for name, _ in runs if sum(other == name for other, _ in runs) > 1]
        if twice:
            raise HistoryError(f"two runs have the name {twice[0]}: name them by NAME=FOLDER")
        plot_runs(dict(runs), options.x, options.out)
    except (HistoryError, OSError) as error:
        print(f"compare_runs: {error}", file=sys.stderr)
        return 1
    for name, rows in runs:
        best = min((row["policy"] for row in rows if row["kind"] == "validation" and "policy" in row), default=None)
        held_out = "" if best is None else f", best policy loss on held-out positions {best:.3f}"
        print(f"{name}: {max(row['step'] for row in rows):,} steps{held_out}")
    return 0


def _read(given: str) -> tuple[str, list[dict]]:
    name, separator, folder = given.rpartition("=")
    path = Path(folder)
    return (name if separator else path.name), join_history(path)


if __name__ == "__main__":
    sys.exit(main())
