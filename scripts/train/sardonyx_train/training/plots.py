"""Plots beside a run: policy loss, value loss, accuracy, learning rate; of one run, or of several in one picture."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ..base.errors import TrainError
from ..base.files import replacing
from .metrics_log import read_history

Points = list[tuple[float, float]]

_PANELS = (("policy", "policy loss"), ("value", "value loss"), ("accuracy", "policy top-1"), ("learning_rate", "learning rate"))
_STYLES = {"train": {"lw": 0.7, "alpha": 0.5}, "validation": {"marker": "o", "ms": 3, "lw": 1.2}}


def plot_history(folder: Path) -> Path | None:
    """Draws `history.jsonl` into `training.png`; None if there is nothing to draw yet."""
    rows = read_history(folder)
    return plot_runs({folder.name: rows}, "step", folder / "training.png") if rows else None


def plot_runs(runs: dict[str, list[dict[str, Any]]], x: str, path: Path) -> Path:
    """Runs by name, each with the rows of its history: losses on held-out positions as dots, those of training steps as thin lines."""
    with draw(path, 2, 2) as axes:
        for axis, (name, title) in zip(axes, _PANELS):
            for number, (run, rows) in enumerate(runs.items()):
                steps = {row["step"]: row for row in rows if row["kind"] == "train"}
                places = [(row, row.get(x, steps.get(row["step"], {}).get(x))) for row in rows if name in row]
                points = {kind: [(at, row[name]) for row, at in places if row["kind"] == kind and at is not None] for kind in _STYLES}
                draw_curves(axis, points, f"C{number % 10}")
                axis.plot([], [], color=f"C{number % 10}", label=run)
            label_axis(axis, x, title)
        axes[0].legend(fontsize=7)
    return path


@contextmanager
def draw(path: Path, rows: int = 1, columns: int = 1) -> Iterator[list[Any]]:
    """Gives the panels of a figure, and replaces the file when the block ends, so that a viewer never reads half a picture."""
    if path.suffix.lower() not in (".png", ".svg"):
        raise TrainError(f"the name of a picture ends in .png or .svg, not {path}")
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 3.4) if rows == columns == 1 else (3.6 * columns, 2.6 * rows), dpi=100, layout="constrained")
    FigureCanvasAgg(figure)
    yield list(figure.subplots(rows, columns, squeeze=False).flat)
    with replacing(path) as part:
        figure.savefig(part, format=path.suffix[1:])


def draw_curves(axis: Any, points: dict[str, Points], colour: str) -> None:
    """`points`: of training steps and on held-out positions, by the kind of their rows."""
    for kind, style in _STYLES.items():
        if points[kind]:
            axis.plot(*zip(*points[kind]), color=colour, **style)


def label_axis(axis: Any, x: str, y: str) -> None:
    axis.set_xlabel(x, fontsize=8)
    axis.set_ylabel(y, fontsize=8)
    axis.tick_params(labelsize=7)
    axis.grid(alpha=0.3)
