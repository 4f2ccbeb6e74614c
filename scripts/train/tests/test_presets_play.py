"""The road from games to a player for every encoding, policy map and preset: shards, training, export, games."""

import json
import subprocess

import pytest
from sardonyx_train.base.errors import TrainError
from sardonyx_train.config.loop_config import LoopConfig, find_engine
from sardonyx_train.config.presets import PRESETS
from sardonyx_train.config.training_config import parse_config
from sardonyx_train.program import main
from sardonyx_train.training.distributed import join
from sardonyx_train.training.trainer import Trainer

_SMALL = {"filters": 8, "blocks": 2, "heads": 2, "value_hidden": 8, "value_channels": 4}
_PAIRS = [
    ("mini-19", "from-to-4096"),
    ("neuralmate-68", "alphazero-4672"),
    ("lc0-112", "from-to-4096"),
    ("lc0-112", "lc0-1858"),
    ("attacks-50", "lc0-1858"),
]


@pytest.fixture(scope="module")
def engine():
    try:
        return find_engine(LoopConfig())
    except TrainError as error:
        pytest.skip(str(error))


@pytest.fixture(scope="module")
def games(engine, tmp_path_factory):
    """Of the random mover: promotions of all kinds are in them."""
    path = tmp_path_factory.mktemp("games") / "random.pgn"
    _ask(engine, "match", "--engine", "random", "--engine", "random", "--games=6", f"--pgnout={path}", "--json")
    return path


def _ask(engine, *arguments):
    done = subprocess.run([*engine, *arguments], capture_output=True, text=True, timeout=600)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _train_and_play(engine, games, folder, model, nodes, steps):
    wanted = parse_config({"schedule": {"max_steps": 1}, "model": model}).model
    names = ["--encoding", wanted.input, "--policy", wanted.policy, "--split=100/0/0"]
    made = _ask(engine, "shards", str(games), f"--out={folder / 'shards'}", *names, "--json")
    assert made["damaged"] == 0 and made["positions"]["train"] > 100
    run = {"name": "seed", "out": str(folder), "tensorboard": False, "log_steps": 1, "device": "cpu"}
    data = {"train": [str(folder / "shards/train")], "batch_size": 16, "workers": 0}
    config = parse_config({"model": model, "data": data, "schedule": {"max_steps": steps}, "run": run})
    trainer = Trainer(config, join("cpu"))
    trainer.run()
    assert trainer.progress.step == steps
    network = folder / "seed.onnx"
    shards = ["--shards", str(folder / "shards/train"), "--positions", "32"]
    assert main(["export", str(folder / "last.pt"), "--out", str(network), *shards]) == 0
    players = ["--engine", str(network), "--engine", "random"]
    result = _ask(engine, "match", *players, f"--nodes={nodes}", "--games=2", "--maxmoves=12", "--json")
    assert result["wins"] + result["draws"] + result["losses"] == 2
    return result


@pytest.mark.parametrize("encoding, policy", _PAIRS)
def test_every_encoding_and_policy_map_of_the_seeds_is_trained_exported_and_played(engine, games, tmp_path, encoding, policy):
    head = {"lc0-1858": "attention", "alphazero-4672": "convolution"}.get(policy, "dense")
    model = {**_SMALL, "input": encoding, "policy": policy, "policy_head": head}
    _train_and_play(engine, games, tmp_path, model, nodes=8, steps=2)


@pytest.mark.slow
@pytest.mark.parametrize("preset", PRESETS)
def test_every_preset_is_trained_exported_and_played_in_its_full_size(engine, games, tmp_path, preset):
    _train_and_play(engine, games, tmp_path, {"preset": preset}, nodes=2, steps=2)
