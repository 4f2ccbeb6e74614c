"""Losses and accuracy on held-out positions."""

from __future__ import annotations

from collections.abc import Iterable

import torch
from torch import nn

from .config import LossConfig
from .data.batch import Batch
from .data.planes import expand_planes
from .losses import compute_losses, compute_metrics


@torch.no_grad()
def evaluate(
    network: nn.Module, batches: Iterable[Batch], value_planes: torch.Tensor, config: LossConfig, device: torch.device
) -> dict[str, float]:
    """Means over all positions, network in evaluation mode, fp32."""
    network.eval()
    sums: dict[str, float] = {}
    count = 0
    for packed in batches:
        batch = packed.to(device)
        outputs = network(expand_planes(batch.masks, batch.values, value_planes))
        numbers = {**compute_losses(outputs, batch, config), **compute_metrics(outputs, batch)}
        for name, number in numbers.items():
            sums[name] = sums.get(name, 0.0) + float(number) * batch.size
        count += batch.size
    return {name: total / max(1, count) for name, total in sums.items()}
