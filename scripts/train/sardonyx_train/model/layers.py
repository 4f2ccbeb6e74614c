"""Small pieces shared by bodies and heads."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint

if TYPE_CHECKING:
    from ..config import ModelConfig

NORM_EPSILON = 1e-5  # added to a batch norm's variances


def create_activation(name: str) -> nn.Module:
    return {"relu": nn.ReLU, "gelu": nn.GELU, "mish": nn.Mish, "selu": nn.SELU}[name]()


def create_norm(config: ModelConfig, channels: int) -> nn.Module:
    if config.norm == "none":
        return nn.Identity()
    if config.norm == "batch":
        return nn.BatchNorm2d(channels, eps=NORM_EPSILON)
    groups = next(g for g in range(min(config.norm_groups, channels), 0, -1) if channels % g == 0)
    return nn.GroupNorm(groups, channels)


class ConvNorm(nn.Module):
    """Convolution and norm (with `norm: none` a bias instead); [N, in, 8, 8] → [N, out, 8, 8]."""

    def __init__(self, config: ModelConfig, inputs: int, outputs: int, kernel: int) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=config.norm == "none")
        self.norm = create_norm(config, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x))

    @torch.no_grad()
    def silence(self) -> None:
        """Sets the output to zero, until training changes it."""
        last = self.conv if isinstance(self.norm, nn.Identity) else self.norm
        last.weight.zero_()
        last.bias.zero_()


class DenseHead(nn.Module):
    """1×1 convolution, norm, activation, flatten, hidden layer, output: [N, C, 8, 8] → [N, outputs]."""

    def __init__(self, config: ModelConfig, channels: int, hidden: int, outputs: int) -> None:
        super().__init__()
        self.reduce = ConvNorm(config, config.filters, channels, 1)
        self.activation = create_activation(config.activation)
        self.hidden = nn.Linear(channels * 64, hidden)
        self.output = nn.Linear(hidden, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.activation(self.reduce(x)).flatten(1)
        return self.output(self.activation(self.hidden(x)))


def run_block(block: nn.Module, *arguments: torch.Tensor, is_checkpointed: bool) -> torch.Tensor:
    """Runs the block, in training with checkpointing if `is_checkpointed`. Updates running statistics once, not twice."""
    if not (is_checkpointed and block.training):
        return block(*arguments)
    if torch.compiler.is_compiling():  # the compiler updates buffers only once
        return checkpoint(block, *arguments, use_reentrant=False)

    def create_contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), _keep_statistics(block)

    return checkpoint(block, *arguments, use_reentrant=False, context_fn=create_contexts)


@contextmanager
def _keep_statistics(block: nn.Module) -> Iterator[None]:
    """Lets batch norms normalise by the minibatch, but keeps their running statistics and the ranges of fake quantisation."""
    observers = [module for module in block.modules() if hasattr(module, "observes")]
    norms = [module for module in block.modules() if isinstance(module, _BatchNorm) and module.track_running_stats]
    kept = [(norm.momentum, norm.num_batches_tracked.clone()) for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    for observer in observers:
        observer.observes = False
    try:
        yield
    finally:
        for observer in observers:
            observer.observes = True
        for norm, (momentum, count) in zip(norms, kept, strict=True):
            norm.momentum = momentum
            norm.num_batches_tracked.copy_(count)
