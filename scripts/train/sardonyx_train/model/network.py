"""The whole network: plane scales, body, heads."""

from typing import NamedTuple

import torch
from torch import nn

from ..config.encodings import get_input_encoding
from ..config.training_config import ModelConfig
from .board_features import FEATURE_PLANES, BoardFeatures
from .layers import DenseHead, LinesOfSight
from .policy import create_policy_head
from .resnet import ResidualBody
from .sight import SightBody
from .transformer import TransformerBody

MOVES_LEFT_UNIT_PLIES = 20.0  # the head works in units of 20 plies, so that its numbers are about one

_REPLY_PREFIX = "reply."
_BODIES = {"resnet": ResidualBody, "transformer": TransformerBody, "sight": SightBody}


class Outputs(NamedTuple):
    policy: torch.Tensor  # logits [N, policy size]
    value: torch.Tensor  # win, draw, loss logits [N, 3], or tanh value [N, 1]; mover's view
    moves_left: torch.Tensor | None  # plies to the end [N, 1], not negative
    reply: torch.Tensor | None = None  # logits of the opponent's reply [N, policy size], opponent's view; in training only


class Network(nn.Module):
    def __init__(self, config: ModelConfig, checkpoint_activations: bool = False, with_reply: bool = False) -> None:
        """`with_reply`: with the head of `loss.reply_policy`, an auxiliary target of training (KataGo). Exports have none."""
        super().__init__()
        encoding = get_input_encoding(config.input)
        scale = torch.ones(1, encoding.planes, 1, 1)
        for plane, factor in encoding.scales.items():
            scale[0, plane] = factor
        self.register_buffer("input_scale", scale, persistent=False)
        self.lines = LinesOfSight() if config.board_features or config.body == "sight" else None
        self.features = BoardFeatures() if config.board_features else None
        planes = encoding.planes + (FEATURE_PLANES if config.board_features else 0)
        self.body = _BODIES[config.body](config, planes, checkpoint_activations)
        self.policy = create_policy_head(config)
        self.scalar_value = config.value == "scalar"
        self.value = DenseHead(config, config.value_channels, config.value_hidden, 1 if self.scalar_value else 3)
        self.moves_left = DenseHead(config, config.moves_left_channels, config.moves_left_hidden, 1) if config.moves_left else None
        if self.moves_left is not None:
            nn.init.constant_(self.moves_left.output.bias, 2.0)
        # Last, so that a seed gives the other weights the same numbers with and without it.
        self.reply = create_policy_head(config) if with_reply else None

    def forward(self, planes: torch.Tensor) -> Outputs:
        """planes [N, P, 8, 8], raw as the engine feeds them."""
        x = planes * self.input_scale.to(planes.dtype)
        between = None if self.lines is None else self.lines(planes)
        if self.features is not None:
            x = torch.cat([x, self.features(planes, between)], dim=1)
        x = self.body(x, between)
        value = self.value(x)
        if self.scalar_value:
            value = torch.tanh(value)
        moves_left = None
        if self.moves_left is not None:
            moves_left = torch.relu(self.moves_left(x)) * MOVES_LEFT_UNIT_PLIES
        # The encodings have no promotions on the mover's first rank, so moves stay in the opponent's view, and the board is turned.
        reply = None if self.reply is None else self.reply(x.flip(2))
        return Outputs(self.policy(x), value, moves_left, reply)


def has_reply(state: dict[str, torch.Tensor]) -> bool:
    """Whether a state dict holds the head of the opponent's reply."""
    return any(name.startswith(_REPLY_PREFIX) for name in state)


def drop_reply(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name: tensor for name, tensor in state.items() if not name.startswith(_REPLY_PREFIX)}


def count_parameters(network: nn.Module) -> int:
    return sum(p.numel() for p in network.parameters())
