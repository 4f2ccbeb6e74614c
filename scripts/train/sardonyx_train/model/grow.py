"""Networks with more blocks than another, without changing what they compute.

Added blocks are copies of others whose output starts at zero, so training continues from the existing weights, and gradients
reach the copies from the first step (Chen et al. 2016, "Net2Net"; Gong et al. 2019, "Efficient training of BERT by progressively
stacking").
"""

import torch

from ..config.training_config import ModelConfig
from .network import Network


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
