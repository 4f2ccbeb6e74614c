"""A deeper network that answers as a shallower one does: added blocks are copies of their neighbours with no say at first.

Training goes on from the weights that are there, and gradients reach the copies from the first step
(Chen et al. 2016, "Net2Net"; Gong et al. 2019, "Efficient training of BERT by progressively stacking").
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from .network import Network

if TYPE_CHECKING:
    from ..config import ModelConfig

_BODIES = ("resnet", "sight")


def can_grow(source: ModelConfig, wanted: ModelConfig) -> bool:
    """Whether nothing but the number of blocks differs, and adding some leaves the answers as they are."""
    is_like_it = source.model_copy(update={"blocks": wanted.blocks, "preset": None}) == wanted.model_copy(update={"preset": None})
    is_identity_without_say = wanted.body in _BODIES and wanted.activation == "relu" and wanted.attention_blocks == 0
    return is_like_it and is_identity_without_say and 0 < source.blocks < wanted.blocks


@torch.no_grad()
def grow(source: Network, config: ModelConfig) -> Network:
    """`config`: what `can_grow` agreed to. The copies are spread evenly over the depth, each behind its original."""
    network = Network(config)
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
