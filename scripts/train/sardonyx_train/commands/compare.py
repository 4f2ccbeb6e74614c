"""The command `compare`: draws the training curves of several runs in one picture."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from ..base.errors import TrainError
from ..training.metrics_log import join_metrics
from ..training.plots import plot_runs


def compare(options: Namespace) -> int:
    """A run is a folder of `train` (`history.jsonl`) or of `loop` (`generations/`, whose trainings are joined one after the other)."""
    runs: dict[str, list[dict[str, Any]]] = {}
    for given in options.runs:
        name, separator, folder = given.rpartition("=")
        name = name if separator else Path(folder).name
        if name in runs:
            raise TrainError(f"two runs have the name {name}: name them by NAME=FOLDER")
        runs[name] = join_metrics(Path(folder))
    plot_runs(runs, options.x, options.out)
    for name, rows in runs.items():
        best = min((row["policy"] for row in rows if row["kind"] == "validation" and "policy" in row), default=None)
        held_out = "" if best is None else f", best policy loss on held-out positions {best:.3f}"
        print(f"{name}: {max(row['step'] for row in rows):,} steps{held_out}")
    return 0
