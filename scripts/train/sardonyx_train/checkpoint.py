"""Checkpoints: everything a run needs to go on with the next step, and the weights to export.

Each appears whole or not at all, so that a kill or a power cut leaves the old one. `last.pt`, `best.pt` and, of a trapezoid,
`stable.pt` in the run's folder; the configuration is echoed inside.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import torch

from .files import name_part, publish

CHECKPOINT_VERSION = 1


class CheckpointError(Exception):
    """A checkpoint cannot be used; the text says why."""


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    part = name_part(path)
    torch.save({"version": CHECKPOINT_VERSION, **state}, part)
    publish(part, path)


def write_weights(path: Path, config: dict[str, Any], weights: dict[str, torch.Tensor]) -> None:
    """A checkpoint that no training stands behind: `run.start_from` and export.py take it. `config`: of train.py, as plain values."""
    progress = {"step": 0, "batches": 0, "positions": 0, "minutes": 0.0}
    write_checkpoint(path, {"config": config, "network": weights, "average": weights, "progress": progress})


def read_checkpoint(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """Loads tensors and plain values only (no code)."""
    try:
        state = torch.load(path, map_location=device, weights_only=True)
    except OSError as error:
        raise CheckpointError(f"{path}: not a readable checkpoint ({error.strerror or error})") from None
    except Exception:  # torch raises many kinds for damaged files, with paragraphs of advice that is not for our users
        raise CheckpointError(f"{path}: not a readable checkpoint (damaged, or another kind of file)") from None
    if not isinstance(state, dict) or state.get("version") != CHECKPOINT_VERSION:
        raise CheckpointError(f"{path}: not a checkpoint of version {CHECKPOINT_VERSION}")
    return state
