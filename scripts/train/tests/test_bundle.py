import hashlib
import json
from dataclasses import replace

import onnx
import pytest
import torch
from sardonyx_train.base.errors import TrainError
from sardonyx_train.commands.bundle import refuse_losses, write_entries
from sardonyx_train.config.training_config import parse_config
from sardonyx_train.export.verify import Verification
from sardonyx_train.model.network import Network
from sardonyx_train.program import main
from sardonyx_train.training.checkpoint import read_checkpoint, write_checkpoint
from sardonyx_train.training.distributed import join
from sardonyx_train.training.trainer import Trainer
from train_support.synthetic import write_shard


def test_a_checkpoint_becomes_the_bundled_networks(shard_folder, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("sardonyx_train.commands.bundle._LARGEST_LOSS", 0.1)  # a network of two steps is a coin toss
    config = parse_config(
        {
            "data": {"train": [str(shard_folder)], "batch_size": 32, "workers": 0},
            "model": {"filters": 8, "blocks": 1, "heads": 2},
            "schedule": {"max_steps": 2},
            "run": {"out": str(tmp_path / "run"), "precision": "fp32", "tensorboard": False, "device": "cpu"},
        }
    )
    Trainer(config, join("cpu")).run()
    models = tmp_path / "models"
    command = ["bundle", str(tmp_path / "run" / "last.pt"), "--out", str(models), "--name", "Little", "--shards", str(shard_folder)]
    assert main([*command, "--positions", "64", "--calibration-positions", "64"]) == 0
    assert "default-int8.onnx: 64 positions" in capsys.readouterr().out
    networks = json.loads((models / "bundled.json").read_text())["networks"]
    assert [(n["file"], n["precision"]) for n in networks] == [("default.onnx", "fp32"), ("default-int8.onnx", "int8")]
    assert networks[1]["backends"] == ["cpu"] and "cuda" in networks[0]["backends"]
    for network in networks:
        content = (models / network["file"]).read_bytes()
        assert network["sha256"] == hashlib.sha256(content).hexdigest()
        metadata = {p.key: p.value for p in onnx.load_model_from_string(content).metadata_props}
        assert metadata["sardonyx.name"] == "Little" and metadata["sardonyx.input"] == network["input"]
    kept, run = (read_checkpoint(path) for path in (models / "default.pt", tmp_path / "run" / "last.pt"))
    assert (models / "default.pt").stat().st_size < 0.6 * (models / "default.onnx").stat().st_size
    assert kept.keys() == {"version", "config", "network", "average", "progress"} and str(tmp_path) not in str(kept["config"])
    for name, tensor in run["average"].items():
        assert torch.allclose(kept["average"][name].float(), tensor.float(), rtol=1e-3, atol=1e-6), name
    start = {
        "data": {"train": [str(shard_folder)], "batch_size": 32, "workers": 0},
        "model": kept["config"]["model"],
        "schedule": {"max_steps": 1},
    }
    again = {
        "out": str(tmp_path / "again"),
        "precision": "fp32",
        "tensorboard": False,
        "device": "cpu",
        "start_from": str(models / "default.pt"),
    }
    Trainer(parse_config({**start, "run": again}), join("cpu")).run()
    before = (models / "default.onnx").read_bytes()
    training = ["--training", "the mean of two runs"]
    assert main([*command, "--positions", "64", "--large", *training]) == 0
    first, small, large = json.loads((models / "bundled.json").read_text())["networks"]
    assert [first["backends"], small["backends"], large["file"]] == [[], ["cpu"], "default-large.onnx"]
    assert "cuda" in large["backends"] and (models / "default.onnx").read_bytes() == before
    assert main([*command, "--positions", "64", "--light", *training]) == 0
    assert main(["bundle", str(models / "default-int8.onnx"), "--out", str(models), "--light"]) == 1
    assert "not a readable checkpoint" in capsys.readouterr().err
    light = models / "light.onnx"
    *others, last = json.loads((models / "bundled.json").read_text())["networks"]
    assert [n["file"] for n in others] == ["default.onnx", "default-int8.onnx", "default-large.onnx"]
    assert (last["file"], last["backends"], last["input"]) == ("light.onnx", ["wasm"], "lc0-112")
    assert last["sha256"] == hashlib.sha256(light.read_bytes()).hexdigest()
    network = onnx.load(light)
    assert {p.key: p.value for p in network.metadata_props}["sardonyx.training"] == training[1]


def test_a_new_network_takes_its_backends_from_the_others(tmp_path):
    for name in ("a.onnx", "b.onnx"):
        (tmp_path / name).write_text(name)
    write_entries(tmp_path, [{"file": "a.onnx", "backends": ["cpu", "cuda"]}, {"file": "b.onnx", "backends": ["cuda"]}])
    write_entries(tmp_path, [{"file": "b.onnx", "backends": ["cuda"]}])
    networks = json.loads((tmp_path / "bundled.json").read_text())["networks"]
    assert [(n["file"], n["backends"]) for n in networks] == [("a.onnx", ["cpu"]), ("b.onnx", ["cuda"])]


def test_a_network_that_is_bundled_again_keeps_place_backends_and_processor(tmp_path):
    for name in ("a.onnx", "b.onnx"):
        (tmp_path / name).write_text(name)
    first = {"file": "a.onnx", "precision": "fp32", "backends": ["wasm", "cpu"], "sha256": "old"}
    second = {"file": "b.onnx", "precision": "int8", "backends": ["cpu"], "sha256": "old", "processor": "avx512_vnni"}
    manifest = tmp_path / "bundled.json"
    manifest.write_text(json.dumps({"networks": [first, second]}))
    write_entries(tmp_path, [{"file": "b.onnx", "precision": "int8", "backends": ["cpu"]}])
    write_entries(tmp_path, [{"file": "a.onnx", "precision": "fp16", "backends": ["wasm"]}])
    digests = [hashlib.sha256(name.encode()).hexdigest() for name in ("a.onnx", "b.onnx")]
    assert json.loads(manifest.read_text()) == {
        "networks": [{**first, "precision": "fp16", "sha256": digests[0]}, {**second, "sha256": digests[1]}]
    }


def test_a_network_that_loses_too_much_is_refused():
    fine = Verification(100, 0.1, 0.001, 0.95, 0.01, 0.5, 0.500, 0.504, 0.164, 0.160)
    refuse_losses(0.504, 0.160, fine)
    for worse in (replace(fine, accuracy=0.498), replace(fine, value_mae=0.166)):
        with pytest.raises(TrainError, match="rounding costs .*--calibration-positions"):
            refuse_losses(0.504, 0.160, worse)
    with pytest.raises(TrainError):  # near its own weights, but those are worse than the fp32 network's
        refuse_losses(0.600, 0.160, fine)


def test_nothing_is_written_unless_both_networks_are_fit(shard_folder, tmp_path, capsys, monkeypatch):
    torch.manual_seed(1)
    config = parse_config(
        {"data": {"train": [str(shard_folder)]}, "model": {"filters": 8, "blocks": 1, "heads": 2}, "schedule": {"max_steps": 1}}
    )
    weights = Network(config.model).state_dict()
    progress = {"step": 0, "batches": 0, "positions": 0, "minutes": 0.0}
    saved = {"config": config.model_dump(), "network": weights, "average": weights, "progress": progress}
    write_checkpoint(tmp_path / "net.pt", saved)
    models = tmp_path / "models"
    command = ["bundle", str(tmp_path / "net.pt"), "--out", str(models), "--shards", str(shard_folder)]
    command += ["--positions", "64", "--calibration-positions", "64"]
    monkeypatch.setattr("sardonyx_train.commands.bundle._LARGEST_LOSS", -1.0)
    assert main(command) == 1
    write_shard(tmp_path / "mini.arrow", 1, 1, 96, "mini-19", "lc0-1858")
    assert main([*command[:-1], "64", "--shards", str(tmp_path / "mini.arrow")]) == 1
    assert "the shards hold mini-19 / lc0-1858, the network wants lc0-112" in capsys.readouterr().err
    assert not models.exists()
