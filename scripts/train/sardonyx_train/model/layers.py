"""Pieces shared by bodies and heads: activations, norms and batch renormalisation, the dense head, recomputed blocks, lines of sight."""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import product

import torch
from torch import nn
from torch.nn import functional as F
from torch.utils.checkpoint import checkpoint

from ..config.training_config import ModelConfig


def create_activation(name: str) -> nn.Module:
    return {"relu": nn.ReLU, "gelu": nn.GELU, "mish": nn.Mish, "selu": nn.SELU}[name]()


def create_norm(config: ModelConfig, channels: int) -> nn.Module:
    if config.norm == "batch":
        return nn.BatchNorm2d(channels)
    groups = next(g for g in range(min(config.norm_groups, channels), 0, -1) if channels % g == 0)
    return nn.GroupNorm(groups, channels)


class ConvNorm(nn.Module):
    """Convolution and norm, or a bias in its place; [N, in, 8, 8] → [N, out, 8, 8]."""

    def __init__(self, config: ModelConfig, inputs: int, outputs: int, kernel: int, has_norm: bool = True) -> None:
        super().__init__()
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, bias=not has_norm)
        self.norm = create_norm(config, outputs) if has_norm else nn.Identity()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.norm(self.conv(x))

    @torch.no_grad()
    def silence(self) -> None:
        """Sets the output to zero, until training changes it."""
        self.norm.weight.zero_()
        self.norm.bias.zero_()


class DenseHead(nn.Module):
    """1×1 convolution, norm, activation, flatten, hidden layer (if there is one), output: [N, C, 8, 8] → [N, outputs].

    Without a norm where the body has group norm: groups of so few channels lose what is the same on all squares, such as who is ahead.
    """

    def __init__(self, config: ModelConfig, channels: int, hidden: int | None, outputs: int) -> None:
        super().__init__()
        self.reduce = ConvNorm(config, config.filters, channels, 1, has_norm=config.norm != "group")
        self.activation = create_activation(config.activation)
        self.hidden = None if hidden is None else nn.Linear(channels * 64, hidden)
        self.output = nn.Linear(hidden or channels * 64, outputs)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.activation(self.reduce(x)).flatten(1)
        return self.output(x if self.hidden is None else self.activation(self.hidden(x)))


def run_block(block: nn.Module, *arguments: torch.Tensor, is_checkpointed: bool) -> torch.Tensor:
    """Runs the block, and if `is_checkpointed`, the backward pass of training computes its activations again, which saves memory.
    Updates running statistics once, not twice."""
    if not (is_checkpointed and block.training):
        return block(*arguments)
    if torch.compiler.is_compiling():  # the compiler updates buffers only once
        return checkpoint(block, *arguments, use_reentrant=False)
    buffers = list(block.buffers())
    before = [buffer.clone() for buffer in buffers]
    return checkpoint(block, *arguments, use_reentrant=False, context_fn=lambda: (nullcontext(), _holding(buffers, before)))


@contextmanager
def _holding(buffers: list[torch.Tensor], values: list[torch.Tensor]) -> Iterator[None]:
    """Gives the buffers these values until the block ends, because batch renormalisation computes with running statistics."""
    after = [buffer.clone() for buffer in buffers]
    for buffer, value in zip(buffers, values, strict=True):
        buffer.copy_(value)
    try:
        yield
    finally:
        for buffer, value in zip(buffers, after, strict=True):
            buffer.copy_(value)


class BatchRenorm2d(nn.BatchNorm2d):
    """In training it is pulled towards its running statistics, which it uses in play. Made of a batch norm by `enable_batch_renorm`.

    r = clip(σ_batch / σ, 1/r_max, r_max) and d = clip((μ_batch − μ) / σ, −d_max, d_max), without gradients; then
    y = γ·((x − μ_batch) / σ_batch · r + d) + β. With r_max = 1 and d_max = 0 it is batch norm. In evaluation nothing differs, so
    export and checkpoints know nothing of it. Source: S. Ioffe, "Batch Renormalization", arXiv 1702.03275, algorithm 1.
    """

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


# Steps in files and ranks. The first four directions are straight, the others diagonal.
DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1))
OWN_CAPTURES = ((-1, 1), (1, 1))
OTHER_CAPTURES = ((-1, -1), (1, -1))


def create_steps(steps: tuple[tuple[int, int], ...]) -> torch.Tensor:
    """→ [64, 64]: 1 where one of the steps leads from the row's square to the column's."""
    matrix = torch.zeros(64, 64)
    for source, (file_step, rank_step) in product(range(64), steps):
        file, rank = source % 8 + file_step, source // 8 + rank_step
        if 0 <= file < 8 and 0 <= rank < 8:
            matrix[source, rank * 8 + file] = 1
    return matrix


class LinesOfSight(nn.Module):
    """`directions` [8, 64, 64]: 1 where the column's square lies in that direction from the row's, straight ones first."""

    def __init__(self) -> None:
        super().__init__()
        between, directions = torch.zeros(64, 64, 64), torch.zeros(8, 64, 64)
        for source, (number, (file_step, rank_step)) in product(range(64), enumerate(DIRECTIONS)):
            path: list[int] = []
            file, rank = source % 8 + file_step, source // 8 + rank_step
            while 0 <= file < 8 and 0 <= rank < 8:
                target = rank * 8 + file
                directions[number, source, target] = 1
                between[path, source, target] = 1
                path.append(target)
                file, rank = file + file_step, rank + rank_step
        self.register_buffer("between", between.flatten(1), persistent=False)
        self.register_buffer("directions", directions, persistent=False)

    @torch.no_grad()
    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """planes [N, P ≥ 12, 8, 8], those of the men first → [N, 64, 64]: number of men between two squares, 0 off a line."""
        occupied = planes[:, :12].sum(1).flatten(1)
        return torch.matmul(occupied, self.between.to(occupied.dtype)).reshape(-1, 64, 64)
