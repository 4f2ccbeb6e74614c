"""Folds batch norms into their convolutions, or into a `Gain`. The function stays the same, without norms (`norm: none`).

Quantisation-aware training starts from the folded network, so that it rounds the weights that will be in the int8 file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from .layers import ConvNorm
from .network import Network
from .sight import SightBlock

if TYPE_CHECKING:
    from ..config import ModelConfig


def fold_norms(network: Network, config: ModelConfig) -> tuple[Network, ModelConfig]:
    """Returns the folded network and its configuration. `config` is `network`'s; raises ValueError unless it has batch norms."""
    if config.norm != "batch":
        raise ValueError(f"only batch norms can be folded, this network has norm '{config.norm}'")
    folded_config = config.model_copy(update={"norm": "none"})
    folded = Network(folded_config, with_reply=network.reply is not None)
    with torch.no_grad():
        state = network.state_dict()
        for name, module in network.eval().named_modules():
            if isinstance(module, ConvNorm):
                fused: nn.Conv2d = fuse_conv_bn_eval(module.conv, module.norm)
                state[f"{name}.conv.weight"], state[f"{name}.conv.bias"] = fused.weight, fused.bias
            elif isinstance(module, SightBlock):
                state[f"{name}.gate.weight"], state[f"{name}.gate.bias"] = _fold_gate(module.gate)
        wanted = folded.state_dict()
        folded.load_state_dict({name: state[name] for name in wanted})
    return folded, folded_config


def _fold_gate(norm: nn.BatchNorm2d) -> tuple[torch.Tensor, torch.Tensor]:
    return compute_gain(norm.weight, norm.bias, norm.running_mean, norm.running_var, norm.eps)


def compute_gain(
    weight: torch.Tensor, bias: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor, eps: float
) -> tuple[torch.Tensor, torch.Tensor]:
    """A norm's parameters and statistics [C] → factor and offset [1, C, 1, 1] of `Gain`."""
    factor = weight * (variance + eps).rsqrt()
    offset = bias - mean * factor
    return factor.reshape(1, -1, 1, 1), offset.reshape(1, -1, 1, 1)
