"""Runs of the trainer with `loss.reply_policy`."""

import pytest
import torch
from sardonyx_train.base.errors import TrainError
from sardonyx_train.base.files import read_rows
from sardonyx_train.export.graph import ModelCard, build_network, create_onnx
from sardonyx_train.training.checkpoint import read_checkpoint
from sardonyx_train.training.distributed import join
from sardonyx_train.training.trainer import Trainer
from train_support.synthetic import configure, run_training, write_games

REPLY = {"loss": {"reply_policy": 0.15}}


@pytest.fixture
def game_folder(tmp_path):
    """Twelve games of 16 plies."""
    folder = tmp_path / "games"
    folder.mkdir()
    write_games(folder / "0.arrow", [(seed, [(ply, ply) for ply in range(16)]) for seed in range(12)])
    return folder


def test_replies_are_learned_and_logged_and_a_resumed_run_takes_the_same_steps(game_folder, tmp_path):
    data = {"validation": [str(game_folder)], "mirror": True}
    schedule = {"kind": "constant", "warmup_steps": 0}
    optimizer = {"learning_rate": 0.01}

    def plan(name, steps):
        return configure(game_folder, tmp_path / name, data=data, schedule={**schedule, "max_steps": steps}, optimizer=optimizer, **REPLY)

    whole, validation = run_training(plan("a", 24))
    run_training(plan("b", 10))
    resumed, _ = run_training(plan("b", 24), tmp_path / "b" / "last.pt")
    for name, tensor in whole.network.state_dict().items():
        assert torch.equal(tensor, resumed.network.state_dict()[name]), name
    assert any(name.startswith("reply.") for name in whole.average.network.state_dict())
    rows = [row for row in read_rows(tmp_path / "a" / "history.jsonl") if row["kind"] == "train"]
    assert rows[-1]["reply_policy"] < 0.9 * rows[0]["reply_policy"]
    first = rows[0]
    parts = first["policy"] + first["value"] + 0.02 * first["moves_left"] + 0.15 * first["reply_policy"]
    assert first["total"] == pytest.approx(parts, abs=1e-5) and validation["reply_policy"] > 0


def test_a_run_may_start_from_a_network_with_or_without_the_head_of_replies(game_folder, tmp_path, capsys):
    schedule = {"max_steps": 2}
    run_training(configure(game_folder, tmp_path / "plain", schedule=schedule))
    run_training(configure(game_folder, tmp_path / "both", schedule=schedule, **REPLY))
    last = {name: tmp_path / name / "last.pt" for name in ("plain", "both")}

    def start(name, **sections):
        capsys.readouterr()
        run = {"start_from": str(last[name]), "start_moments": True}
        trainer = Trainer(configure(game_folder, tmp_path / "next", run=run, **sections), join("cpu"))
        said = [line for line in capsys.readouterr().err.splitlines() if "head for the opponent's replies" in line]
        source, weights = read_checkpoint(last[name])["average"], trainer.network.state_dict()
        assert all(torch.equal(weights[key], source[key]) for key in weights.keys() & source.keys())
        return trainer, said

    trainer, said = start("plain", **REPLY)
    assert len(said) == 1 and "starts from random weights" in said[0] and trainer.network.reply is not None
    assert trainer.optimizer.state_dict()[0]["state"] == {}
    trainer, said = start("both")
    assert len(said) == 1 and "is left out" in said[0] and trainer.network.reply is None
    trainer, said = start("both", **REPLY)
    assert said == [] and trainer.optimizer.state_dict()[0]["state"] != {}
    trainer, said = start("both", model={"blocks": 3}, **REPLY)
    assert said == [] and len(trainer.network.body.blocks) == 3


def test_the_head_of_replies_cannot_come_or_go_within_a_run(game_folder, tmp_path):
    run_training(configure(game_folder, tmp_path / "run", schedule={"max_steps": 1}, **REPLY))
    with pytest.raises(TrainError, match=r"has loss.reply_policy: begin another run.*run.start_from"):
        run_training(configure(game_folder, tmp_path / "run"), tmp_path / "run" / "last.pt")


def test_the_head_of_replies_is_not_exported(game_folder, tmp_path):
    run_training(configure(game_folder, tmp_path / "run", schedule={"max_steps": 2}, **REPLY))
    state = read_checkpoint(tmp_path / "run" / "last.pt")
    bare = {**state, "average": {name: tensor for name, tensor in state["average"].items() if not name.startswith("reply.")}}
    files = []
    for checkpoint in (state, bare):
        network, config = build_network(checkpoint)
        files.append(create_onnx(network, config.model, ModelCard("a", "b", "c")).SerializeToString())
    assert files[0] == files[1] and len(bare["average"]) < len(state["average"])
