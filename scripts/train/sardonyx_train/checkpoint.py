"""Checkpoints: everything a run needs to go on with the next step, and the weights to export.

Written to a temporary file and renamed, so that a kill leaves the old one whole. `last.pt` and `best.pt` in the run's
folder; the configuration is echoed inside.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import torch

CHECKPOINT_VERSION = 1


class CheckpointError(Exception):
    """A checkpoint cannot be used; the text says why."""


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    temporary = path.with_suffix(f".tmp{os.getpid()}")
    torch.save({"version": CHECKPOINT_VERSION, **state}, temporary)
    os.replace(temporary, path)


def read_checkpoint(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """Loads tensors and plain values only (no code)."""
    try:
        state = torch.load(path, map_location=device, weights_only=True)
    except Exception as error:  # torch raises many kinds for damaged files
        raise CheckpointError(f"{path}: not a readable checkpoint ({error})") from None
    if not isinstance(state, dict) or state.get("version") != CHECKPOINT_VERSION:
        raise CheckpointError(f"{path}: not a checkpoint of version {CHECKPOINT_VERSION}")
    return state
