"""The figures of a network's card, on a network whose answers are known."""

import json

import numpy as np
import onnx
import pytest
import torch
from sardonyx_train.base.errors import TrainError
from sardonyx_train.commands import assessment
from sardonyx_train.commands.assessment import Assessment, Band, assess
from sardonyx_train.config.training_config import ModelConfig, TargetConfig
from sardonyx_train.data.batch import BatchMaker
from sardonyx_train.data.shards import find_shards, read_common_format
from sardonyx_train.data.stream import read_sequentially
from sardonyx_train.export.graph import ModelCard, create_onnx
from sardonyx_train.model.network import Network
from sardonyx_train.program import main
from train_support.synthetic import write_shard


@pytest.fixture
def model():
    torch.manual_seed(3)
    config = ModelConfig(filters=16, blocks=1)
    return create_onnx(Network(config).eval(), config, ModelCard("test", "GPL-3.0-or-later", "none"))


def test_shares_and_bands_are_those_of_a_count_by_hand(shard_folder, model):
    result = assess(model, [str(shard_folder)], 10_000, TargetConfig())
    assert result.positions == 384
    assert sum(band.positions for band in result.calibration) == 384
    assert 0 <= result.top_1 <= result.among_targets <= 1
    shares = [result.within_cp[limit] for limit in (10, 20, 50)]
    assert shares == sorted(shares) and shares[-1] <= result.among_targets
    assert all(-1 <= band.predicted <= 1 for band in result.calibration)


def test_a_perfect_policy_finds_every_best_move(shard_folder, model):
    """The policy output is replaced by a constant that prefers the best move of each of the two positions looked at."""
    files = find_shards([str(shard_folder)])
    maker = BatchMaker(read_common_format(files), TargetConfig(), mirror=False)
    batch = next(read_sequentially(files[:1], maker, 2, 1))
    weights = next(n for n in model.graph.node if "/output/policy" in n.output)
    weights.output[0] = "unused"
    logits = np.zeros((2, 1858), np.float32)
    logits[[0, 1], batch.best_move] = 1
    model.graph.initializer.append(onnx.numpy_helper.from_array(logits, "answer"))
    model.graph.node.append(onnx.helper.make_node("Identity", ["answer"], ["/output/policy"]))
    result = assess(model, [str(files[0])], 1, TargetConfig())
    assert result.positions == 2  # one of each record batch
    assert result.top_1 == result.top_1_without_history == 1


def test_what_no_position_has_is_null_in_json_and_a_dash_in_the_card(monkeypatch, capsys):
    nan = float("nan")
    band = Band(1, 0.5, nan, 0.25)
    nothing = Assessment(1, nan, nan, {10: nan, 20: 0.5, 50: 1.0}, 0.1, nan, 0.0, [band])
    monkeypatch.setattr(assessment, "assess", lambda *_: nothing)
    monkeypatch.setattr(assessment.onnx, "load", lambda _: None)
    assert main(["assess", "network.onnx", "--shards", "none", "--json"]) == 0
    printed = json.loads(capsys.readouterr().out, parse_constant=lambda name: pytest.fail(name))
    assert printed["top_1"] is None and printed["within_cp"] == {"10": None, "20": 0.5, "50": 1.0}
    assert printed["calibration"] == [{"positions": 1, "predicted": 0.5, "by_score": None, "result": 0.25}]
    assert main(["assess", "network.onnx", "--shards", "none"]) == 0
    assert "| best legal move = best move of the targets | – |" in capsys.readouterr().out


def test_a_picture_that_cannot_be_written_does_not_cost_the_figures(shard_folder, model, tmp_path, capsys):
    onnx.save(model, tmp_path / "network.onnx")
    words = ["assess", str(tmp_path / "network.onnx"), "--shards", str(shard_folder), "--positions", "2", "--json", "--plot"]
    (tmp_path / "folder.png").mkdir()
    assert main([*words, str(tmp_path / "folder.png")]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["positions"] == 4 and "folder.png: Is a directory" in said.err
    assert main([*words, str(tmp_path / "network.onnx" / "plot.png")]) == 1
    assert capsys.readouterr().out == ""  # it was no use to begin


def test_targets_are_the_configurations_when_one_is_given(shard_folder, model, tmp_path, capsys):
    onnx.save(model, tmp_path / "network.onnx")
    config = tmp_path / "config.yaml"
    config.write_text("schedule: {max_steps: 1}\ntargets: {wdl_scale_cp: 20, result_weight: 0}\n")
    words = ["assess", str(tmp_path / "network.onnx"), "--shards", str(shard_folder), "--positions", "64", "--json"]
    errors = []
    for more in ([], ["--config", str(config)]):
        assert main([*words, *more]) == 0
        errors.append(json.loads(capsys.readouterr().out)["value_error"])
    assert errors[0] != errors[1]
    assert main([*words, "--config", str(tmp_path / "none.yaml")]) == 1
    assert "assess: cannot read" in capsys.readouterr().err


def test_the_command_prints_a_card_draws_and_says_what_is_wrong(shard_folder, model, tmp_path, capsys):
    network, plot = tmp_path / "network.onnx", tmp_path / "calibration.png"
    onnx.save(model, network)
    assert main(["assess", str(network), "--shards", str(shard_folder), "--positions", "64", "--plot", str(plot)]) == 0
    card = capsys.readouterr().out
    assert "held-out positions" in card and "| by score |" in card
    assert plot.read_bytes().startswith(b"\x89PNG")
    assert main(["assess", str(network), "--shards", str(shard_folder), "--positions", "64", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["positions"] > 0
    network.write_bytes(b"no network")
    assert main(["assess", str(network), "--shards", str(shard_folder)]) == 1
    assert "cannot read" in capsys.readouterr().err
    assert main(["assess", str(tmp_path / "none.onnx"), "--shards", str(tmp_path)]) == 1


def test_shards_of_another_encoding_are_refused(model, tmp_path):
    write_shard(tmp_path / "mini.arrow", 1, 1, 96, "mini-19", "lc0-1858")
    with pytest.raises(TrainError, match="the shards hold mini-19 / lc0-1858, the network wants lc0-112"):
        assess(model, [str(tmp_path)], 10, TargetConfig())
