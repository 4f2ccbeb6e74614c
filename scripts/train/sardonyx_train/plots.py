"""PNG plots beside a run: policy loss, value loss, accuracy, learning rate; win rate of gates with its gate line."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

from .errors import MetricsError
from .metrics_log import join_metrics, read_metrics


def plot_history(folder: Path) -> Path | None:
    """Draws `history.jsonl` into `training.png`; None if there is nothing to draw yet."""
    rows = read_metrics(folder / "history.jsonl")
    if not rows:
        return None
    figure, axes = create_figure(2, 2)
    panels = (("policy", "policy loss"), ("value", "value loss"), ("accuracy", "policy top-1"), ("learning_rate", "learning rate"))
    for axis, (name, title) in zip(axes.flat, panels):
        for kind, style in (("train", {"lw": 0.8, "alpha": 0.6}), ("validation", {"marker": "o", "ms": 3})):
            points = [(row["step"], row[name]) for row in rows if row["kind"] == kind and name in row]
            if points:
                axis.plot(*zip(*points), label=kind, **style)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel("step", fontsize=8)
        axis.tick_params(labelsize=7)
        axis.grid(alpha=0.3)
        if name == "policy":
            axis.legend(fontsize=7)
    return write_figure(figure, folder / "training.png")


def plot_runs(runs: dict[str, list[dict[str, Any]]], x: str, path: Path) -> Path:
    """Runs by name, each with the rows of its history. Losses on held-out positions; of training steps, thin, where those are missing."""
    panels = (("policy", "policy loss"), ("value", "value loss"), ("accuracy", "policy top-1"), ("learning_rate", "learning rate"))
    figure, axes = create_figure(2, 2)
    for axis, (name, title) in zip(axes.flat, panels):
        for number, (run, rows) in enumerate(runs.items()):
            steps = {row["step"]: row for row in rows if row["kind"] == "train"}
            for kind, style in (("train", {"lw": 0.6, "alpha": 0.45}), ("validation", {"marker": "o", "ms": 3, "lw": 1.2})):
                points = [(_place(row, steps, x), row[name]) for row in rows if row["kind"] == kind and name in row]
                points = [(place, height) for place, height in points if place is not None]
                if points:
                    axis.plot(*zip(*points), color=f"C{number % 10}", **style)
            axis.plot([], [], color=f"C{number % 10}", label=run)
        axis.set_title(title, fontsize=9)
        axis.set_xlabel(x, fontsize=8)
        axis.tick_params(labelsize=7)
        axis.grid(alpha=0.3)
    axes.flat[0].legend(fontsize=7)
    return write_figure(figure, path)


def _place(row: dict[str, Any], steps: dict[int, dict[str, Any]], x: str) -> float | None:
    """Where a row stands on the axis; a row of held-out positions has the place of the training step that it follows."""
    if x in row:
        return row[x]
    return steps.get(row["step"], {}).get(x)


def plot_win_rate(rates: list[float], gate: float, path: Path) -> Path:
    """`rates[i]`: score of candidate i against the best network before it, 0..1; the gate is a horizontal line."""
    figure, axes = create_figure(1, 1)
    axis = axes.flat[0]
    colours = ["tab:green" if rate >= gate else "tab:red" for rate in rates]
    axis.scatter(range(1, len(rates) + 1), rates, c=colours, s=14)
    axis.plot(range(1, len(rates) + 1), rates, lw=0.7, alpha=0.6)
    axis.axhline(gate, color="tab:blue", lw=1, label=f"gate {gate:.2f}")
    axis.set_ylim(0, 1)
    axis.set_xlabel("candidate")
    axis.set_ylabel("win rate")
    axis.legend(fontsize=8)
    return write_figure(figure, path)


def create_figure(rows: int, columns: int) -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(3.6 * columns, 2.6 * rows), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    return figure, figure.subplots(rows, columns, squeeze=False)


def write_figure(figure: Any, path: Path) -> Path:
    figure.savefig(path)
    return path


def compare(options: Namespace) -> int:
    """A run is a folder of `train` (`history.jsonl`) or of `loop` (`generations/`, whose trainings are joined one after the other)."""
    if options.out.suffix.lower() not in (".png", ".svg"):
        raise MetricsError(f"--out needs a name that ends in .png or .svg, not {options.out}")
    runs: dict[str, list[dict[str, Any]]] = {}
    for given in options.runs:
        name, separator, folder = given.rpartition("=")
        name = name if separator else Path(folder).name
        if name in runs:
            raise MetricsError(f"two runs have the name {name}: name them by NAME=FOLDER")
        runs[name] = join_metrics(Path(folder))
    plot_runs(runs, options.x, options.out)
    for name, rows in runs.items():
        best = min((row["policy"] for row in rows if row["kind"] == "validation" and "policy" in row), default=None)
        held_out = "" if best is None else f", best policy loss on held-out positions {best:.3f}"
        print(f"{name}: {max(row['step'] for row in rows):,} steps{held_out}")
    return 0
