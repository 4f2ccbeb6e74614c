"""A network that goes on with more blocks than it had."""

import pytest
import torch
from sardonyx_train.config.training_config import ModelConfig
from sardonyx_train.model.grow import can_grow, grow
from sardonyx_train.model.network import Network

SIGHT = {"body": "sight", "filters": 16, "blocks": 2, "heads": 2, "ffn_ratio": 1.0}
RESNET = {"filters": 8, "blocks": 2, "se_ratio": 4}


def _shake(network):
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if tensor.is_floating_point() and "running_var" not in name:
                tensor.add_(torch.rand_like(tensor) * 0.1)
    return network.eval()


@pytest.mark.parametrize("policy_head", ["attention", "convolution"])
def test_growing_keeps_the_head_of_replies(policy_head):
    torch.manual_seed(1)
    config = ModelConfig(**RESNET, policy_head=policy_head)
    network = _shake(Network(config, with_reply=True))
    planes = (torch.rand(4, 112, 8, 8) < 0.1).float()
    grown = grow(network, config.model_copy(update={"blocks": 4})).eval()
    assert torch.allclose(grown(planes).reply, network(planes).reply, atol=1e-4)


@pytest.mark.parametrize("shape", [SIGHT, RESNET, {**RESNET, "se_ratio": 0, "norm": "group", "norm_groups": 2}])
def test_a_grown_network_answers_as_before_and_learns_in_every_block(shape):
    torch.manual_seed(1)
    small = ModelConfig(**shape)
    deep = small.model_copy(update={"blocks": 5})
    network = _shake(Network(small))
    assert can_grow(small, deep)
    grown = grow(network, deep).eval()
    planes = (torch.rand(4, 112, 8, 8) < 0.1).float()
    for a, b in zip(network(planes)[:3], grown(planes)):
        assert torch.allclose(a, b, atol=1e-5)
    sum(output.square().mean() for output in grown.train()(planes)[:3]).backward()
    for index, block in enumerate(grown.body.blocks):
        assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in block.parameters()), index


def test_only_depth_may_differ_and_only_where_an_idle_block_changes_nothing():
    small = ModelConfig(**SIGHT)
    assert not can_grow(small, small)
    assert not can_grow(small, small.model_copy(update={"blocks": 1}))
    assert not can_grow(small, small.model_copy(update={"blocks": 4, "filters": 32}))
    mish = ModelConfig(**{**RESNET, "activation": "mish"})
    assert not can_grow(mish, mish.model_copy(update={"blocks": 4}))
    transformer = ModelConfig(preset="sardonyx-transformer")
    assert not can_grow(transformer, transformer.model_copy(update={"blocks": 10}))
