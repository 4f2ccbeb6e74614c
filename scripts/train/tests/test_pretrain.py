import json
import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml
from sardonyx_train.base.files import write_json
from sardonyx_train.commands import pretrain
from sardonyx_train.config.loop_config import LoopConfig, find_engine
from sardonyx_train.program import main


@pytest.fixture
def engine(tmp_path):
    """Writes down its arguments and fails, so that nothing is trained."""
    script = tmp_path / "engine.sh"
    script.write_text(f'#!/bin/sh\nfor word in "$@"; do echo "$word" >> {tmp_path}/words; done\nexit 1\n')
    script.chmod(0o755)
    return script


def _run(tmp_path, engine, *arguments):
    assert main(["pretrain", "games.pgn.zst", "--out", str(tmp_path / "run"), "--engine", str(engine), *arguments]) == 1
    words = (tmp_path / "words").read_text().split()
    return dict(zip(words[2::2], words[3::2]))  # behind: shards games.pgn.zst


def test_games_and_positions_are_chosen_by_flags(tmp_path, engine):
    flags = _run(tmp_path, engine, "--min-elo", "2000", "--skip-plies", "10", "--positions", "7000", "--set", "schedule.warmup_steps=3")
    assert (flags["--min-elo"], flags["--skip-plies"], flags["--positions"]) == ("2000", "10", "7000")


def test_a_folder_holds_one_choice_of_games_and_none_after_a_failure(tmp_path, engine, capfd):
    _run(tmp_path, engine)
    _run(tmp_path, engine, "--positions", "7000")  # nothing was made: other games and positions may be named
    (tmp_path / "run" / "shards").mkdir()
    assert main(["pretrain", "games.pgn.zst", "--out", str(tmp_path / "run"), "--engine", str(engine)]) == 1
    assert "holds shards or a run that pretrain did not make" in capfd.readouterr().err
    (tmp_path / "run" / "shards").rmdir()
    (tmp_path / "run" / "last.pt").touch()
    assert main(["pretrain", "games.pgn.zst", "--out", str(tmp_path / "run"), "--engine", str(engine)]) == 1
    assert "holds shards or a run that pretrain did not make" in capfd.readouterr().err
    write_json(tmp_path / "run" / "pretrain.json", {"games": ["others"]})
    assert main(["pretrain", "games.pgn.zst", "--out", str(tmp_path / "run"), "--engine", str(engine)]) == 1
    assert "holds the results of other work: name another --out" in capfd.readouterr().err


def test_the_folder_is_chosen_by_its_flag_alone(tmp_path, engine, capfd):
    choice = ["--out", str(tmp_path / "run"), "--set", f"run.out={tmp_path}/other"]
    assert main(["pretrain", "games.pgn.zst", "--engine", str(engine), *choice]) == 1
    assert capfd.readouterr().err.strip() == "pretrain: pretrain sets run.out itself, by its flag --out"
    assert not (tmp_path / "run").exists()


def test_neuralmate2s_configuration_chooses_games_and_epochs(tmp_path, engine):
    config = str(pretrain.CONFIGS / "neuralmate2.yaml")
    flags = _run(tmp_path, engine, "--config", config)
    assert (flags["--min-elo"], flags["--skip-plies"], flags["--encoding"]) == ("2200", "24", "neuralmate-68")
    raw = yaml.safe_load(Path(config).read_text())
    assert raw["schedule"]["max_epochs"] == 5 and raw["run"]["evaluate_epochs"] == 1


def test_epochs_take_the_place_of_the_planned_end(tmp_path, engine, monkeypatch):
    seen = []
    monkeypatch.setattr(pretrain, "load_config", lambda path, overrides, values: seen.append(values) or _stop())
    with pytest.raises(SystemExit):
        main(["pretrain", "games", "--out", str(tmp_path), "--engine", str(engine), "--epochs", "2.5"])
    assert seen[0]["schedule"] == {"max_epochs": 2.5, "max_steps": None, "max_minutes": None}


def _stop():
    raise SystemExit


def test_pretrain_says_how_long_it_takes_before_it_begins(tmp_path, engine, capfd):
    _run(tmp_path, engine)
    plan = "training for 600 steps or 6 minutes, whichever comes first, and export to"
    assert plan in capfd.readouterr().err and (tmp_path / "words").exists()


@pytest.mark.slow
def test_the_first_training_of_the_readme_makes_a_network_that_beats_the_random_mover_and_its_untrained_self(tmp_path, monkeypatch):
    """With fewer games and steps, so that it takes some minutes."""
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[1] / "README.md").read_text()
    play, train = re.search(r"main.js (selfplay .+)\n.*sardonyx-train (pretrain .+)\n", text).groups()
    engine = find_engine(LoopConfig())
    subprocess.run([*engine, *shlex.split(play), "--games=100"], check=True, capture_output=True)
    assert main([*shlex.split(train), "--set", "schedule.max_steps=100", "--set", "schedule.max_minutes=null"]) == 0
    nothing = ("run.out=untrained", "schedule.max_steps=1", "optimizer.learning_rate=1e-9", "optimizer.muon_learning_rate=1e-9")
    assert main(["train", "--config", "runs/first/train.yaml", *(word for key in nothing for word in ("--set", key))]) == 0
    assert main(["export", "untrained/last.pt", "--out", "untrained.onnx"]) == 0
    for other in ("random", "untrained.onnx"):
        players = ["--engine", "runs/first/first.onnx", "--engine", other, "--temperature=0.5", "--tempdecay-moves=10", "--maxmoves=200"]
        made = subprocess.run([*engine, "match", *players, "--nodes=30", "--games=20", "--json"], check=True, capture_output=True)
        result = json.loads(made.stdout)
        assert result["wins"] - result["losses"] >= 3, (other, result)
