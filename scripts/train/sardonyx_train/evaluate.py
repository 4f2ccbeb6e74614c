"""Losses and accuracy on held-out positions."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import torch
from torch import nn

from .config import LossConfig
from .data.batch import Batch, expand_planes
from .errors import ShardError
from .losses import compute_losses, compute_metrics, count_targets, sum_losses


@torch.no_grad()
def evaluate(
    network: nn.Module,
    batches: Iterable[Batch],
    value_planes: torch.Tensor,
    config: LossConfig,
    device: torch.device,
    is_stopped: Callable[[], bool] = lambda: False,
) -> dict[str, float]:
    """Means over the positions that have the target, with the network in evaluation mode, fp32; empty if it was stopped.

    Raises ShardError if there are no positions.
    """
    network.eval()
    sums: dict[str, float] = {}
    counts: dict[str, float] = {}
    for packed in batches:
        if is_stopped():
            return {}
        batch = packed.to(device)
        outputs = network(expand_planes(batch.masks, batch.values, value_planes))
        numbers = {**compute_losses(outputs, batch, config), **compute_metrics(outputs, batch)}
        for name, count in count_targets(batch).items():
            if name in numbers:
                sums[name] = sums.get(name, 0.0) + float(numbers[name] * count)
                counts[name] = counts.get(name, 0.0) + float(count)
    if not sums:
        raise ShardError("the held-out shards hold no positions")
    means = {name: total / max(1e-6, counts[name]) for name, total in sums.items()}
    return {"total": sum_losses(means, config), **means}
