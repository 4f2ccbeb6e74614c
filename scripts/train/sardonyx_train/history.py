"""The run's numbers over time, in `history.jsonl` and for TensorBoard."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from .files import write_bytes


class History:
    """Rows of kind `train` (running means) and `validation` (averaged weights on held-out positions)."""

    def __init__(self, folder: Path, resume_step: int, tensorboard: bool) -> None:
        self._path = folder / "history.jsonl"
        rows = [row for row in read_history(self._path) if row["step"] <= resume_step] if resume_step > 0 else []
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


def read_history(path: Path) -> list[dict[str, Any]]:
    """Skips a last line that is incomplete after a kill."""
    rows: list[dict[str, Any]] = []
    if path.exists():
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                rows.append(json.loads(line))
            except json.JSONDecodeError:
                continue
    return rows
