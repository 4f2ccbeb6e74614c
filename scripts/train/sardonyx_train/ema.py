"""Exponential moving average of weights and norm statistics; the average is evaluated and exported."""

from __future__ import annotations

import copy

import torch
from torch import nn


class AveragedNetwork:
    def __init__(self, network: nn.Module, decay: float) -> None:
        self.decay = decay
        self.network = copy.deepcopy(network).eval().requires_grad_(False)

    @torch.no_grad()
    def update(self, network: nn.Module, step: int) -> None:
        """At first the average is shorter, (1 + step) / (10 + step), so that it forgets the random start."""
        decay = min(self.decay, (1 + step) / (10 + step))
        own, new = self.network.state_dict(), network.state_dict()
        floats = [name for name, tensor in own.items() if tensor.is_floating_point()]
        torch._foreach_lerp_([own[n] for n in floats], [new[n] for n in floats], 1 - decay)
        for name, tensor in own.items():
            if not tensor.is_floating_point():
                tensor.copy_(new[name])
