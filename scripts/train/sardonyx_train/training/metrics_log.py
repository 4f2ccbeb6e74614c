"""The run's numbers over time, in `history.jsonl` and for TensorBoard."""

import json
from pathlib import Path
from typing import Any

from ..base.errors import TrainError
from ..base.files import read_rows, write_bytes


class MetricsLog:
    """Rows of kind `train` (running means) and `validation` (averaged weights on held-out positions)."""

    def __init__(self, folder: Path, resume_step: int, tensorboard: bool) -> None:
        self._path = folder / "history.jsonl"
        rows = [row for row in read_history(folder) if row["step"] <= resume_step] if resume_step > 0 else []
        write_bytes(self._path, "".join(json.dumps(row) + "\n" for row in rows).encode())
        self._writer: Any = None
        if tensorboard:
            from torch.utils.tensorboard import SummaryWriter

            self._writer = SummaryWriter(str(folder / "tensorboard"), purge_step=resume_step)

    def add(self, kind: str, step: int, numbers: dict[str, float]) -> None:
        row = {"kind": kind, "step": step, **{k: round(v, 6) for k, v in numbers.items()}}
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        if self._writer is not None:
            for name, number in numbers.items():
                self._writer.add_scalar(f"{kind}/{name}", number, step)

    def close(self) -> None:
        if self._writer is not None:
            self._writer.close()


def read_history(folder: Path) -> list[dict[str, Any]]:
    """The rows of a run; none without its file."""
    return [row for row in read_rows(folder / "history.jsonl") if "kind" in row and "step" in row]


def join_metrics(folder: Path) -> list[dict[str, Any]]:
    """The rows of a run of sardonyx-train train; of a loop those of all its trainings, with steps, positions and minutes added up."""
    rows = read_history(folder)
    if not rows:
        totals = {"step": 0, "positions": 0, "minutes": 0.0}
        for place in sorted(folder.glob("generations/*/training")):
            part = [{**row, **{key: row[key] + before for key, before in totals.items() if key in row}} for row in read_history(place)]
            rows += part
            totals = {key: max((row[key] for row in part if key in row), default=before) for key, before in totals.items()}
    if not rows:
        raise TrainError(f"{folder} holds no training (no history.jsonl, and no generations of a loop)")
    return rows
