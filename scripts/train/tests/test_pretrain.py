from pathlib import Path

import pytest
import yaml
from sardonyx_train.base.files import write_json
from sardonyx_train.commands import pretrain
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
    assert "holds shards that pretrain did not make" in capfd.readouterr().err
    write_json(tmp_path / "run" / "pretrain.json", {"games": ["others"]})
    assert main(["pretrain", "games.pgn.zst", "--out", str(tmp_path / "run"), "--engine", str(engine)]) == 1
    assert "holds the results of other work: name another --out" in capfd.readouterr().err


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
