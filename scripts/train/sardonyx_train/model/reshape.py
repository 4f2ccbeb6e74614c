"""Networks made of others without changing what they compute: batch norms folded into convolutions, and blocks added.

Folding: norms go into their convolutions, or into a `Gain` (`norm: none`). Quantisation-aware training starts from the folded
network, so that it rounds the weights that will be in the int8 file.

Growing: added blocks are copies of others whose output starts at zero, so training continues from the existing weights, and gradients
reach the copies from the first step (Chen et al. 2016, "Net2Net"; Gong et al. 2019, "Efficient training of BERT by progressively
stacking").
"""

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from ..config.training_config import ModelConfig
from .layers import ConvNorm
from .network import Network
from .sight import SightBlock


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
    """A norm's parameters and statistics [C] → factor and offset [1, C, 1, 1] of `Gain`."""
    factor = norm.weight * (norm.running_var + norm.eps).rsqrt()
    offset = norm.bias - norm.running_mean * factor
    return factor.reshape(1, -1, 1, 1), offset.reshape(1, -1, 1, 1)


def can_grow(source: ModelConfig, wanted: ModelConfig) -> bool:
    """Whether only the number of blocks differs, and added blocks can start as the identity."""
    is_like_it = source.model_copy(update={"blocks": wanted.blocks, "preset": None}) == wanted.model_copy(update={"preset": None})
    can_be_identity = wanted.body != "transformer" and wanted.activation == "relu" and wanted.attention_blocks == 0
    return is_like_it and can_be_identity and 0 < source.blocks < wanted.blocks


@torch.no_grad()
def grow(source: Network, config: ModelConfig) -> Network:
    """Returns the deeper network. `can_grow` must hold. The copies are spread evenly over the depth, each after its original."""
    network = Network(config, with_reply=source.reply is not None)
    state = source.state_dict()
    depth = len(source.body.blocks)
    origins = [index * depth // config.blocks for index in range(config.blocks)]
    grown = {name: tensor for name, tensor in state.items() if not name.startswith("body.blocks.")}
    for index, origin in enumerate(origins):
        prefix = f"body.blocks.{origin}."
        grown |= {f"body.blocks.{index}.{name.removeprefix(prefix)}": t for name, t in state.items() if name.startswith(prefix)}
    network.load_state_dict(grown)
    for index, origin in enumerate(origins):
        if index > 0 and origins[index - 1] == origin:
            network.body.blocks[index].silence()
    return network
