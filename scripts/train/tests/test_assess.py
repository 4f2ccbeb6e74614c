"""The figures of a network's card, on a network whose answers are known."""

import json

import numpy as np
import onnx
import pytest
import torch
from assess import main
from sardonyx_train.assessment import assess
from sardonyx_train.config import ModelConfig, TargetConfig
from sardonyx_train.data.batch import BatchMaker
from sardonyx_train.data.shards import ShardError, find_shards, read_common_format
from sardonyx_train.data.stream import read_sequentially
from sardonyx_train.export.graph import ModelCard, create_onnx
from sardonyx_train.model.network import Network
from train_support.synthetic import write_shard


@pytest.fixture
def model():
    torch.manual_seed(3)
    config = ModelConfig(filters=16, blocks=1)
    return create_onnx(Network(config).eval(), config, ModelCard("test", "GPL-3.0-or-later", "none"))


def test_shares_and_bands_are_those_of_a_count_by_hand(shard_folder, model):
    seen = []
    result = assess(model, [str(shard_folder)], 10_000, TargetConfig(), seen.append)
    assert result.positions == 384 and seen[-1] == 384
    assert sum(band.positions for band in result.calibration) == 384
    assert 0 <= result.top_1 <= result.among_targets <= 1
    shares = [result.within_cp[limit] for limit in (10, 20, 50)]
    assert shares == sorted(shares) and shares[-1] <= result.among_targets
    assert all(-1 <= band.predicted <= 1 for band in result.calibration)


def test_a_perfect_policy_finds_every_best_move(shard_folder, model):
    """The policy output is replaced by a constant that prefers the best move of the first of the two positions looked at."""
    files = find_shards([str(shard_folder)])
    maker = BatchMaker(read_common_format(files), TargetConfig(), mirror=False)
    batch = next(iter(read_sequentially(files[:1], maker, 1, 1)))
    best = int(batch.policy_index[0, batch.policy_probability[0].argmax()])
    weights = next(n for n in model.graph.node if "/output/policy" in n.output)
    weights.output[0] = "unused"
    logits = np.zeros((2, 1858), np.float32)
    logits[:, best] = 1
    model.graph.initializer.append(onnx.numpy_helper.from_array(logits, "answer"))
    model.graph.node.append(onnx.helper.make_node("Identity", ["answer"], ["/output/policy"]))
    result = assess(model, [str(files[0])], 1, TargetConfig())
    assert result.positions == 2  # one of each record batch
    assert result.top_1 >= 0.5 and result.top_1_without_history == result.top_1


def test_the_command_prints_a_card_draws_and_says_what_is_wrong(shard_folder, model, tmp_path, capsys):
    network, plot = tmp_path / "network.onnx", tmp_path / "calibration.png"
    onnx.save(model, network)
    assert main([str(network), "--shards", str(shard_folder), "--positions", "64", "--plot", str(plot)]) == 0
    card = capsys.readouterr().out
    assert "held-out positions" in card and "| by score |" in card
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert main([str(network), "--shards", str(shard_folder), "--positions", "64", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["positions"] > 0
    network.write_bytes(b"no network")
    assert main([str(network), "--shards", str(shard_folder)]) == 1
    assert "cannot read" in capsys.readouterr().err
    assert main([str(tmp_path / "none.onnx"), "--shards", str(tmp_path)]) == 1


def test_shards_of_another_encoding_are_refused(model, tmp_path):
    write_shard(tmp_path / "mini.arrow", 1, 1, 96, "mini-19", "lc0-1858")
    with pytest.raises(ShardError, match="the shards hold mini-19 / lc0-1858, the network wants lc0-112"):
        assess(model, [str(tmp_path)], 10, TargetConfig())
