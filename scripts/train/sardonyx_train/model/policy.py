"""Policy heads: [N, C, 8, 8] → logits [N, policy size], in the order of the policy encoding."""

import torch
from torch import nn

from ..config.encodings import POLICY_SIZES, attention_gather, convolution_gather
from ..config.training_config import ModelConfig
from .layers import ConvNorm, DenseHead, create_activation


def _pick(logits: torch.Tensor, gather: torch.Tensor) -> torch.Tensor:
    """[N, K] → [N, policy size]. The export transposes, because ONNX Runtime gathers rows five times as fast as columns."""
    return logits.t()[gather].t() if torch.onnx.is_in_onnx_export() else logits[:, gather]


class AttentionPolicy(nn.Module):
    """Logit of a move = query of its from-square · key of its to-square, as lc0's attention policy.

    Queen, rook and bishop promotions add an offset computed from the to-square; knight promotions are plain moves.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        size = config.policy_channels or config.filters
        self.scale = size**-0.5
        self.embed = nn.Linear(config.filters, size)
        self.activation = create_activation("selu" if config.body == "resnet" else config.activation)
        self.query = nn.Linear(size, size)
        self.key = nn.Linear(size, size)
        gather = attention_gather(config.policy)
        self.promotion = nn.Linear(size, 4, bias=False) if gather is not None else None
        self.register_buffer("gather", torch.from_numpy(gather) if gather is not None else None, persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = self.activation(self.embed(x.reshape(-1, self.embed.in_features, 64).transpose(1, 2)))
        query, key = self.query(x), self.key(x)
        logits = torch.matmul(query, key.transpose(1, 2)) * self.scale  # [N, from, to]
        if self.promotion is None:
            return logits.flatten(1)
        offsets = self.promotion(key[:, 56:])  # [N, to-file, 4]
        offsets = offsets[:, :, :3] + offsets[:, :, 3:]
        promotions = logits[:, 48:56, 56:].unsqueeze(-1) + offsets.unsqueeze(1)  # [N, from-file, to-file, qrb]
        return _pick(torch.cat([logits.flatten(1), promotions.flatten(1)], dim=1), self.gather)


class ConvolutionPolicy(nn.Module):
    """Two 3×3 convolutions to one plane per kind of move, gathered (lc0's convolution policy, AlphaZero's 8×8×73)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        channels = config.policy_channels or config.filters
        planes, gather = convolution_gather(config.policy)
        self.first = ConvNorm(config, config.filters, channels, 3)
        self.activation = create_activation(config.activation)
        self.second = nn.Conv2d(channels, planes, 3, padding=1)
        self.register_buffer("gather", torch.from_numpy(gather), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return _pick(self.second(self.activation(self.first(x))).flatten(1), self.gather)


def create_policy_head(config: ModelConfig) -> nn.Module:
    if config.policy_head == "dense":
        return DenseHead(config, config.policy_channels or 32, None, POLICY_SIZES[config.policy])
    return (AttentionPolicy if config.policy_head == "attention" else ConvolutionPolicy)(config)
