"""A body whose squares exchange information along lines of sight.

A convolution moves information by one square per layer. Here one layer tells a rook of every man that it sees. A block is a
gated MLP (Liu et al. 2021, "Pay Attention to MLPs"): it expands the channels, mixes half of them between squares, multiplies
the other half by the result, and contracts. Squares are mixed in two ways: by learned matrices that are the same for every
position, and in the eight directions up to the first occupied square.
"""

import torch
from torch import nn

from ..config.encodings import JUMPS
from ..config.training_config import ModelConfig
from .layers import (
    DIRECTIONS,
    OTHER_CAPTURES,
    OWN_CAPTURES,
    ConvNorm,
    LinesOfSight,
    create_activation,
    create_norm,
    create_steps,
    run_block,
)

_NOISE = 0.05  # standard deviation of the learned matrices at the start
_PATTERN = 0.5  # weight of the known patterns at the start
SIGHT_LINES = {"directions": 8, "kinds": 2}  # the first half of the directions are straight


def _create_patterns(heads: int) -> torch.Tensor:
    """→ [heads, 64, 64]: initial values of the learned matrices, noise plus useful patterns in the first eight.

    The patterns are the moves of knights and kings, the captures of both sides' pawns, the square itself, the whole board, files
    and ranks.
    """
    square = torch.arange(64)
    known = [
        create_steps(JUMPS),
        create_steps(DIRECTIONS),
        create_steps(OWN_CAPTURES),
        create_steps(OTHER_CAPTURES),
        torch.eye(64),
        torch.full((64, 64), 1 / 8),
        (square[:, None] % 8 == square % 8).float(),
        (square[:, None] // 8 == square // 8).float(),
    ]
    patterns = torch.randn(heads, 64, 64) * _NOISE
    for pattern, matrix in zip(patterns, known, strict=False):
        pattern += matrix * _PATTERN
    return patterns


def _put_channels_last(x: torch.Tensor) -> torch.Tensor:
    return x.contiguous(memory_format=torch.channels_last)


class SightBlock(nn.Module):
    """[N, C, 8, 8] → the same. Learned matrices mix one half of the gate's channels, lines of sight the other half."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        channels = round(config.filters * config.ffn_ratio)
        if channels % 16 != 0 or channels % (2 * config.heads) != 0:
            raise ValueError(f"filters · ffn_ratio ({channels}) must be a multiple of 16 and of 2 · heads ({config.heads})")
        self.heads = config.heads
        self.lines = SIGHT_LINES[config.sight_lines]
        self.half = channels // 2
        self.expand = ConvNorm(config, config.filters, 2 * channels, 1)
        self.mixing = nn.Parameter(_create_patterns(config.heads))
        self.gate = create_norm(config, channels)
        nn.init.constant_(self.gate.weight, 0.5)  # so that the gate passes most values at the start
        nn.init.constant_(self.gate.bias, 1.0)
        self.contract = ConvNorm(config, channels, config.filters, 1)
        self.activation = create_activation(config.activation)

    def forward(self, x: torch.Tensor, sight: torch.Tensor) -> torch.Tensor:
        """sight [N, lines, 64, 64]: 1 where the row's square sees the column's along lines of that number."""
        kept, sent = self.activation(self.expand(x)).split(2 * self.half, dim=1)
        if sent.requires_grad:  # with gradients in two layouts, the backward pass of the ReLU takes three times as long
            sent.register_hook(_put_channels_last)
        fixed, seen = sent.reshape(-1, 2 * self.half, 64).split(self.half, dim=1)
        arrived = torch.cat([self._mix(fixed), self._look(seen, sight)], dim=1)
        gate = self.gate(_put_channels_last(arrived.reshape(-1, 2 * self.half, 8, 8)))
        return self.activation(x + self.contract(kept * gate))

    def silence(self) -> None:
        """Makes the block the identity, until training changes it."""
        self.contract.silence()

    # All sizes but the batch are constants, so ONNX Runtime need not compute shapes for every batch.

    def _mix(self, x: torch.Tensor) -> torch.Tensor:
        """[N, half, 64] → the same. Computes one product per head for the whole batch."""
        each = self.half // self.heads
        by_head = x.reshape(-1, self.heads, each, 64).transpose(0, 1).reshape(self.heads, -1, 64)
        mixed = torch.matmul(by_head, self.mixing.to(x.dtype))
        return mixed.reshape(self.heads, -1, each, 64).transpose(0, 1).reshape(-1, self.half, 64)

    def _look(self, x: torch.Tensor, sight: torch.Tensor) -> torch.Tensor:
        return torch.matmul(x.reshape(-1, self.lines, self.half // self.lines, 64), sight).reshape(-1, self.half, 64)


class SightBody(nn.Module):
    """[N, planes, 8, 8] and numbers of men between two squares [N, 64, 64] → [N, filters, 8, 8]."""

    def __init__(self, config: ModelConfig, planes: int, checkpoint_activations: bool) -> None:
        super().__init__()
        self.stem = ConvNorm(config, planes, config.filters, 1)
        self.square = nn.Parameter(torch.zeros(1, config.filters, 8, 8))
        self.activation = create_activation(config.activation)
        directions = LinesOfSight().directions
        lines = directions.reshape(SIGHT_LINES[config.sight_lines], -1, 64, 64).sum(1)
        self.register_buffer("directions", lines.bool(), persistent=False)
        self.blocks = nn.ModuleList(SightBlock(config) for _ in range(config.blocks))
        self._checkpoint = checkpoint_activations

    def forward(self, x: torch.Tensor, between: torch.Tensor) -> torch.Tensor:
        is_autocast = torch.is_autocast_enabled(x.device.type)  # convert here, or every block would do it
        kind = torch.get_autocast_dtype(x.device.type) if is_autocast else between.dtype
        sight = ((between == 0).unsqueeze(1) & self.directions).to(kind)
        x = self.activation(self.stem(_put_channels_last(x)) + self.square)
        for block in self.blocks:
            x = run_block(block, x, sight, is_checkpointed=self._checkpoint)
        return x
