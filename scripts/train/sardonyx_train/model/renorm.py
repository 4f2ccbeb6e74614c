"""Batch renormalisation: in training a batch norm is pulled towards its running statistics, which it uses in play.

r = clip(σ_batch / σ, 1/r_max, r_max) and d = clip((μ_batch − μ) / σ, −d_max, d_max), without gradients; then
y = γ·((x − μ_batch) / σ_batch · r + d) + β. With r_max = 1 and d_max = 0 it is batch norm. In evaluation nothing differs, so
folding, export and checkpoints know nothing of it. Source: S. Ioffe, "Batch Renormalization", arXiv 1702.03275, algorithm 1.
"""

from __future__ import annotations

import torch
from torch import nn
from torch.nn import functional as F


class BatchRenorm2d(nn.BatchNorm2d):
    """Made of a batch norm by `enable_batch_renorm`."""

    max_r: float
    max_d: float
    rise_steps: int

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if not self.training:
            return super().forward(x)
        with torch.no_grad():
            variance, mean = torch.var_mean(x.float(), dim=(0, 2, 3), unbiased=False)
            # The count is 0 in the first step, which knows no running statistics.
            share = (self.num_batches_tracked / max(1, self.rise_steps)).clamp(max=1)
            max_r, max_d = 1 + share * (self.max_r - 1), share * self.max_d
            running = (self.running_var + self.eps).sqrt()
            r = torch.minimum(torch.maximum((variance + self.eps).sqrt() / running, 1 / max_r), max_r)
            d = torch.minimum(torch.maximum((mean - self.running_mean) / running, -max_d), max_d)
            values = x.numel() / x.shape[1]
            self.running_mean.lerp_(mean, self.momentum)
            self.running_var.lerp_(variance * values / max(1.0, values - 1), self.momentum)
            self.num_batches_tracked.add_(1)
        return F.batch_norm(x, None, None, self.weight * r, self.weight * d + self.bias, training=True, eps=self.eps)


def enable_batch_renorm(network: nn.Module, max_r: float, max_d: float, rise_steps: int) -> None:
    """Turns all batch norms into such; both limits rise from 1 and 0 within `rise_steps` steps of training."""
    for module in network.modules():
        if type(module) is nn.BatchNorm2d:
            module.__class__ = BatchRenorm2d
            module.max_r, module.max_d, module.rise_steps = max_r, max_d, rise_steps
