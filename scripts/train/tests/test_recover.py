"""From an exported file back to a checkpoint that training goes on from."""

import onnx
import pytest
import torch
import yaml

from sardonyx_train.checkpoint import read_checkpoint
from sardonyx_train.config import ModelConfig
from sardonyx_train.export.graph import ModelCard, build_network, create_onnx
from sardonyx_train.export.recover import recover
from sardonyx_train.model.network import Network
from sardonyx_train.model.unfold import unfold_norms
from sardonyx_train.program import main

SIGHT = {"body": "sight", "filters": 16, "blocks": 2, "heads": 2, "ffn_ratio": 1.0, "board_features": True}
RESNET = {"filters": 16, "blocks": 2, "se_ratio": 4}
CARD = ModelCard("name", "CC0-1.0", "none")


def _create_trained(config):
    """As if trained: nothing is zero, one or the same as its neighbour."""
    torch.manual_seed(3)
    network = Network(config).eval()
    with torch.no_grad():
        for tensor in network.state_dict().values():
            if tensor.is_floating_point():
                tensor.add_(torch.rand_like(tensor) * 0.2)
    return network


def _planes(count=64):
    return (torch.rand(count, 112, 8, 8) < 0.1).float()


def _assert_same(one, other, planes):
    with torch.no_grad():
        for a, b in zip(one(planes)[:3], other(planes)):
            assert torch.allclose(a, b, atol=2e-4, rtol=1e-4)


@pytest.mark.parametrize("shape", [SIGHT, RESNET, {**RESNET, "policy_head": "convolution"}, {**RESNET, "policy_head": "dense"}])
def test_an_exported_network_comes_back_and_trains_with_norms_that_change_nothing(shape):
    config = ModelConfig(**shape)
    network = _create_trained(config)
    folded = recover(create_onnx(network, config, CARD), config)
    planes = _planes()
    _assert_same(network, folded, planes)
    unfolded = unfold_norms(folded, config, [planes[:32], planes[32:]])
    _assert_same(network, unfolded, planes)
    _assert_same(network, unfolded.train(), planes)  # the minibatch's statistics are those that were measured


def test_another_shape_is_refused():
    config = ModelConfig(**SIGHT)
    model = create_onnx(_create_trained(config), config, CARD)
    with pytest.raises(ValueError, match="does not contain the weights of such a network"):
        recover(model, config.model_copy(update={"blocks": 3}))


def test_the_command_writes_a_checkpoint_to_start_from(shard_folder, tmp_path, capsys):
    config = ModelConfig(**SIGHT)
    network = _create_trained(config)
    onnx.save(create_onnx(network, config, CARD), tmp_path / "network.onnx")
    sections = {"model": SIGHT, "schedule": {"max_steps": 1}, "data": {"train": [str(shard_folder)]}}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(sections))
    arguments = [str(tmp_path / "network.onnx"), "--config", str(tmp_path / "config.yaml"), "--out", str(tmp_path / "out" / "network.pt")]
    assert main(["recover", *arguments]) == 0
    assert "run.start_from=" in capsys.readouterr().out
    _assert_same(network, build_network(read_checkpoint(tmp_path / "out" / "network.pt"))[0], _planes(8))
    (tmp_path / "network.onnx").write_bytes(b"nonsense")
    assert main(["recover", *arguments]) == 1
    assert capsys.readouterr().err.startswith("recover: ")
