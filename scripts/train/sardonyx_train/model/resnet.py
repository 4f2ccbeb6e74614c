"""Convolutional body: residual blocks with optional squeeze-excitation (lc0's form) and spatial attention."""

import torch
from torch import nn
from torch.nn import functional as F

from ..config.training_config import ModelConfig
from .layers import ConvNorm, create_activation, run_block


class SqueezeExcitation(nn.Module):
    """Global average → two dense layers → sigmoid(γ)·x + β for each channel."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        squeezed = max(1, config.filters // config.se_ratio)
        self.channels = config.filters
        self.squeeze = nn.Linear(config.filters, squeezed)
        self.activation = create_activation(config.activation)
        self.excite = nn.Linear(squeezed, 2 * config.filters)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.excite(self.activation(self.squeeze(x.mean((2, 3)))))[:, :, None, None]
        return x * torch.sigmoid(y[:, : self.channels]) + y[:, self.channels :]


class SpatialAttention(nn.Module):
    """Multi-head self-attention over the 64 squares: [N, C, 8, 8] → the same."""

    def __init__(self, channels: int, heads: int) -> None:
        super().__init__()
        if channels % heads != 0:
            raise ValueError(f"filters ({channels}) must be a multiple of heads ({heads})")
        self.heads = heads
        self.qkv = nn.Conv2d(channels, 3 * channels, 1)
        self.output = nn.Conv2d(channels, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, c, _, _ = x.shape
        q, k, v = self.qkv(x).reshape(n, 3, self.heads, c // self.heads, 64).transpose(3, 4).unbind(1)
        y = F.scaled_dot_product_attention(q, k, v)
        return self.output(y.transpose(2, 3).reshape(n, c, 8, 8))


class ResidualBlock(nn.Module):
    def __init__(self, config: ModelConfig, attention: bool) -> None:
        super().__init__()
        c = config.filters
        self.first = ConvNorm(config, c, c, 3)
        self.second = ConvNorm(config, c, c, 3)
        self.excitation = SqueezeExcitation(config) if config.se_ratio > 0 else nn.Identity()
        self.attention = SpatialAttention(c, config.heads) if attention else None
        self.activation = create_activation(config.activation)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.excitation(self.second(self.activation(self.first(x))))
        if self.attention is not None:
            y = y + self.attention(y)
        return self.activation(x + y)

    @torch.no_grad()
    def silence(self) -> None:
        """Makes the block the identity, until training changes it. Works only without attention."""
        self.second.silence()
        if isinstance(self.excitation, SqueezeExcitation):
            for parameter in self.excitation.excite.parameters():
                parameter[self.excitation.channels :].zero_()


class ResidualBody(nn.Module):
    """[N, planes, 8, 8] → [N, filters, 8, 8]."""

    def __init__(self, config: ModelConfig, planes: int, checkpoint_activations: bool) -> None:
        super().__init__()
        self.stem = ConvNorm(config, planes, config.filters, 3)
        self.activation = create_activation(config.activation)
        first_attention = config.blocks - config.attention_blocks
        self.blocks = nn.ModuleList(ResidualBlock(config, i >= first_attention) for i in range(config.blocks))
        self._checkpoint = checkpoint_activations

    def forward(self, x: torch.Tensor, _between: torch.Tensor | None = None) -> torch.Tensor:
        x = self.activation(self.stem(x))
        for block in self.blocks:
            x = run_block(block, x, is_checkpointed=self._checkpoint)
        return x
