"""Checkpoints: everything that a run needs to continue with the next step, and the weights to export.

A checkpoint replaces the old one by a rename, so a kill or a power cut cannot damage it. A run's folder has `last.pt`, `best.pt`
and, with the schedule trapezoid, `stable.pt`. The configuration is stored inside.
"""

from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..base.errors import TrainError
from ..base.files import replacing

CHECKPOINT_VERSION = 1


def write_checkpoint(path: Path, state: dict[str, Any]) -> None:
    with replacing(path) as part:
        torch.save({"version": CHECKPOINT_VERSION, **state}, part)


def write_weights(path: Path, config: dict[str, Any], weights: dict[str, torch.Tensor]) -> None:
    """A checkpoint of weights only, for `run.start_from` and sardonyx-train export. `config`: of sardonyx-train train, as plain values."""
    progress = {"step": 0, "batches": 0, "positions": 0, "minutes": 0.0}
    write_checkpoint(path, {"config": config, "network": weights, "average": weights, "progress": progress})


def read_checkpoint(path: Path, device: torch.device | str = "cpu") -> dict[str, Any]:
    """Loads tensors and plain values only (no code)."""
    try:
        state = torch.load(path, map_location=device, weights_only=True)
    except OSError as error:
        raise TrainError(f"{path}: not a readable checkpoint ({error.strerror or error})") from None
    except Exception:  # torch raises many exception types for damaged files, with long advice that does not help our users
        raise TrainError(f"{path}: not a readable checkpoint (damaged, or another kind of file)") from None
    if not isinstance(state, dict) or state.get("version") != CHECKPOINT_VERSION:
        raise TrainError(f"{path}: not a checkpoint of version {CHECKPOINT_VERSION}")
    config, *others = (state.get(name) for name in ("config", "network", "average", "progress"))
    if not isinstance(config, dict) or not all(isinstance(part, dict) for part in (*config.values(), *others)):
        raise TrainError(f"{path}: not a readable checkpoint (parts of it are missing)")
    return state


def load_weights(network: nn.Module, weights: dict[str, torch.Tensor]) -> None:
    try:
        network.load_state_dict(weights)
    except RuntimeError:  # a list of all tensors
        raise TrainError("the checkpoint's weights are not those of the network that its configuration describes") from None
