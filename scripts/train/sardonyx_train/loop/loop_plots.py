"""PNG plots of a loop: losses over all generations, scores of the gate matches, and Elo."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..files import PART, publish
from ..loop_config import GateSection
from ..metrics_log import read_metrics
from ..plots import plot_win_rate
from .folders import Folders
from .gate import estimate_elo
from .state import LoopState


def plot_loop(folders: Folders, state: LoopState, gate: GateSection) -> None:
    folders.plots.mkdir(exist_ok=True)
    losses = {name: _collect(folders, state, name) for name in ("policy", "value")}
    for name, points in losses.items():
        if any(points.values()):
            _write(folders.plots / f"{name}-loss.png", lambda path: _plot_losses(points, f"{name} loss", path))
    rates = [row.gate.score for row in state.generations if row.gate is not None]
    if rates:
        line = 0.5 if gate.rule == "sprt" else gate.threshold
        _write(folders.plots / "win-rate.png", lambda path: plot_win_rate(rates, line, path))
    if state.generations:
        _write(folders.plots / "elo.png", lambda path: _plot_elo(state, path))


def _collect(folders: Folders, state: LoopState, name: str) -> dict[str, list[tuple[float, float]]]:
    """Points (generation, loss). The steps of a training are spread over its generation; held-out losses are at its end."""
    points: dict[str, list[tuple[float, float]]] = {"train": [], "validation": []}
    for row in state.generations:
        rows = [r for r in read_metrics(folders.training(row.number) / "history.jsonl") if name in r]
        last = max((r["step"] for r in rows), default=1)
        by_step = {(r["kind"], r["step"]): r[name] for r in rows}  # a killed training may have written a row twice
        for (kind, step), loss in by_step.items():
            points[kind].append((row.number - 1 + step / last, loss))
    return points


def _plot_losses(points: dict[str, list[tuple[float, float]]], title: str, path: Path) -> None:
    figure, axis = _create_figure()
    for kind, style in (("train", {"lw": 0.8, "alpha": 0.6}), ("validation", {"marker": "o", "ms": 3, "lw": 1})):
        if points[kind]:
            axis.plot(*zip(*points[kind]), label="held out" if kind == "validation" else kind, **style)
    axis.set_ylabel(title)
    axis.legend(fontsize=8)
    figure.savefig(path, format="png")


def _plot_elo(state: LoopState, path: Path) -> None:
    figure, axis = _create_figure()
    summed = [(row.number, row.elo) for row in state.generations if row.elo is not None]
    axis.step(*zip((0, 0.0), *summed), where="post", label="sum of gates", lw=1)
    measured = [(row.number, estimate_elo(row.measured)) for row in state.generations if row.measured is not None]
    if measured:
        axis.plot(*zip(*measured), "o", ms=4, color="tab:orange", label="measured")
    axis.set_ylabel("Elo over generation 0")
    axis.legend(fontsize=8)
    figure.savefig(path, format="png")


def _create_figure() -> tuple[Any, Any]:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5.2, 3.4), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    axis = figure.subplots()
    axis.set_xlabel("generation")
    axis.grid(alpha=0.3)
    return figure, axis


def _write(path: Path, draw: Callable[[Path], object]) -> None:
    """Replaces the file atomically, so that a viewer never reads an incomplete picture."""
    part = path.with_name(f"{path.stem}{PART}.png")
    for stale in path.parent.glob(f"*{PART}.png"):  # of a loop that was killed while drawing
        stale.unlink(missing_ok=True)
    draw(part)
    publish(part, path)
