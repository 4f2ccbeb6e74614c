"""Plots of a loop: losses over all generations, scores of the gate matches, and Elo."""

from ..config.loop_config import GateSection
from ..training.metrics_log import read_history
from ..training.plots import Points, draw, draw_curves, label_axis
from .state import Folders, LoopState


def plot_loop(folders: Folders, state: LoopState, gate: GateSection) -> None:
    folders.plots.mkdir(exist_ok=True)
    if not state.generations:
        return
    for name in ("policy", "value"):
        points = _collect(folders, state, name)
        if any(points.values()):
            with draw(folders.plots / f"{name}-loss.png") as (axis,):
                draw_curves(axis, points, "tab:blue")
                label_axis(axis, "generation (dots: held-out games)", f"{name} loss")
    rates = [(row.number, row.gate.score) for row in state.generations if row.gate is not None]
    if rates:
        line = 0.5 if gate.rule == "sprt" else gate.threshold
        with draw(folders.plots / "win-rate.png") as (axis,):
            axis.plot(*zip(*rates), lw=0.7, alpha=0.6)
            axis.scatter(*zip(*rates), c=["tab:green" if rate >= line else "tab:red" for _, rate in rates], s=14)
            axis.axhline(line, color="tab:blue", lw=1, label=f"gate {line:.2f}")
            axis.set_ylim(0, 1)
            label_axis(axis, "candidate", "win rate")
            axis.legend(fontsize=8)
    measured = [(row.number, row.measured) for row in state.generations if row.measured is not None and row.measured.elo is not None]
    if measured:
        with draw(folders.plots / "elo.png") as (axis,):
            numbers, elos, errors = zip(*((number, match.elo, match.elo_error or 0.0) for number, match in measured))
            axis.errorbar(numbers, elos, errors, fmt="o-", lw=1, ms=4, capsize=2)
            label_axis(axis, "generation", "Elo over the first network")


def _collect(folders: Folders, state: LoopState, name: str) -> dict[str, Points]:
    """Points (generation, loss). The steps of a training are spread over its generation; held-out losses are at its end."""
    points: dict[str, Points] = {"train": [], "validation": []}
    for row in state.generations:
        rows = [r for r in read_history(folders.generation(row.number, "training")) if name in r]
        last = max((r["step"] for r in rows), default=1)
        by_step = {(r["kind"], r["step"]): r[name] for r in rows}  # a killed training may have written a row twice
        for (kind, step), loss in by_step.items():
            points[kind].append((row.number - 1 + step / last, loss))
    return points
