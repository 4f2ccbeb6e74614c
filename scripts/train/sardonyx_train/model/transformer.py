"""Transformer body of lc0's kind: 64 squares as tokens, post-norm encoder layers with DeepNorm scaling.

A learned embedding tells each token its square. Optionally a bias is added to the attention logits: `relative` (one learned
number per head and step in files and ranks) or `smolgen` (computed from the whole board, with a generator for all layers).
"""

import torch
from torch import nn
from torch.nn import functional as F

from ..config.training_config import ModelConfig
from .layers import create_activation, run_block

_SMOLGEN_COMPRESSED = 32
_SMOLGEN_HIDDEN = 128


class RelativeBias(nn.Module):
    """→ [1, heads, 64, 64], the same for all positions."""

    def __init__(self, heads: int) -> None:
        super().__init__()
        self.table = nn.Parameter(torch.zeros(heads, 15 * 15))
        square = torch.arange(64)
        step = square[None, :] - square[:, None]
        file_step = square[None, :] % 8 - square[:, None] % 8
        self.register_buffer("index", (step - file_step) // 8 * 15 + file_step + 112, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.table[:, self.index].unsqueeze(0)


class Smolgen(nn.Module):
    """[N, 64, C] → [N, heads, 64, 64]; `generator` is shared by all layers."""

    def __init__(self, config: ModelConfig, generator: nn.Linear) -> None:
        super().__init__()
        self.heads = config.heads
        self.compress = nn.Linear(config.filters, _SMOLGEN_COMPRESSED, bias=False)
        self.first = nn.Linear(64 * _SMOLGEN_COMPRESSED, _SMOLGEN_HIDDEN)
        self.first_norm = nn.LayerNorm(_SMOLGEN_HIDDEN, eps=1e-3)
        self.second = nn.Linear(_SMOLGEN_HIDDEN, config.heads * _SMOLGEN_HIDDEN)
        self.second_norm = nn.LayerNorm(config.heads * _SMOLGEN_HIDDEN, eps=1e-3)
        self.activation = create_activation(config.activation)
        self._generator = [generator]  # in a list: the body owns its parameters

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.compress(x).flatten(1)
        y = self.first_norm(self.activation(self.first(y)))
        y = self.second_norm(self.activation(self.second(y)))
        return self._generator[0](y.reshape(-1, self.heads, _SMOLGEN_HIDDEN)).reshape(-1, self.heads, 64, 64)


class EncoderLayer(nn.Module):
    def __init__(self, config: ModelConfig, bias: nn.Module | None) -> None:
        super().__init__()
        c = config.filters
        if c % config.heads != 0:
            raise ValueError(f"filters ({c}) must be a multiple of heads ({config.heads})")
        self.heads = config.heads
        self.alpha = (2 * config.blocks) ** -0.25
        self.qkv = nn.Linear(c, 3 * c)
        self.output = nn.Linear(c, c)
        self.bias = bias
        self.attention_norm = nn.LayerNorm(c, eps=1e-6)
        self.expand = nn.Linear(c, round(c * config.ffn_ratio))
        self.activation = create_activation(config.activation)
        self.contract = nn.Linear(round(c * config.ffn_ratio), c)
        self.ffn_norm = nn.LayerNorm(c, eps=1e-6)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        n, squares, c = x.shape
        q, k, v = self.qkv(x).reshape(n, squares, 3, self.heads, c // self.heads).permute(2, 0, 3, 1, 4).unbind(0)
        bias = None if self.bias is None else self.bias(x).to(q.dtype)
        y = F.scaled_dot_product_attention(q, k, v, attn_mask=bias)
        x = self.attention_norm(x + self.alpha * self.output(y.transpose(1, 2).reshape(n, squares, c)))
        return self.ffn_norm(x + self.alpha * self.contract(self.activation(self.expand(x))))


class TransformerBody(nn.Module):
    """[N, planes, 8, 8] → [N, filters, 8, 8]."""

    def __init__(self, config: ModelConfig, planes: int, checkpoint_activations: bool) -> None:
        super().__init__()
        self.embed = nn.Linear(planes, config.filters)
        self.square = nn.Parameter(torch.zeros(64, config.filters))
        self.activation = create_activation(config.activation)
        smolgen = config.position_bias == "smolgen"
        self.generator = nn.Linear(_SMOLGEN_HIDDEN, 64 * 64, bias=False) if smolgen else None

        def create_bias() -> nn.Module | None:
            if self.generator is not None:
                return Smolgen(config, self.generator)
            return RelativeBias(config.heads) if config.position_bias == "relative" else None

        self.layers = nn.ModuleList(EncoderLayer(config, create_bias()) for _ in range(config.blocks))
        self._checkpoint = checkpoint_activations

    def forward(self, x: torch.Tensor, _between: torch.Tensor | None = None) -> torch.Tensor:
        n = x.shape[0]
        x = self.activation(self.embed(x.flatten(2).transpose(1, 2)) + self.square)
        for layer in self.layers:
            x = run_block(layer, x, is_checkpointed=self._checkpoint)
        return x.transpose(1, 2).reshape(n, -1, 8, 8)
