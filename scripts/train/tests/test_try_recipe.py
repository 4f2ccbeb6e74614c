import json
import threading
from pathlib import Path

import pytest
from sardonyx_train.commands import try_recipe
from sardonyx_train.loop.state import Generation, LoopState, load_state, save_state
from sardonyx_train.program import main
from train_support import fake_loop
from train_support.loops import create_raw, write_config


def _begin(tmp_path: Path, best: int) -> list[str]:
    out = tmp_path / "run"
    (out / "networks").mkdir(parents=True)
    for number in (0, 1, 2):
        (out / f"networks/{number:04d}.onnx").write_text(str(number))
    rows = [Generation(n, n - 1, games=10, positions=90, promoted=n <= best) for n in (1, 2)]
    save_state(out, LoopState("tiny", best=best, generations=rows, current=Generation(3, best)))
    config = write_config(tmp_path / "loop.yaml", create_raw(out))
    return ["try-recipe", "--config", str(config), "--full", "--minutes", "0"]


@pytest.mark.parametrize(("games", "status", "sentence"), [(400, 0, "\nclearly better"), (3, 1, "\nnot clearly better")])
def test_the_status_says_whether_the_best_network_is_clearly_better(tmp_path, capfd, games, status, sentence):
    command = [*_begin(tmp_path, best=2), "--games", str(games)]
    assert main(command) == status
    shown = capfd.readouterr().out
    assert "2 of 2 candidates promoted, 20 games, 180 positions" in shown
    assert shown.count("generation 2 against generation 0: +") == 2 and "Elo\n" in shown and sentence in shown  # on the page as well
    played = sorted((tmp_path / "run/generations/0002/trial").glob("*/games.jsonl"))
    assert {json.loads(line)["white"] for path in played for line in path.read_text().splitlines()[1:]} == {"candidate", "other"}
    assert main(command) == status  # nothing is played again
    assert capfd.readouterr().out == shown


def test_without_a_promoted_network_there_is_nothing_to_compare(tmp_path, capsys):
    assert main(_begin(tmp_path, best=0)) == 1
    assert "no network was promoted" in capsys.readouterr().out


@pytest.mark.parametrize("best", [0, 2])
def test_the_folder_of_another_loop_is_left_alone(tmp_path, capsys, best):
    assert main([*_begin(tmp_path, best), "--set", "run.name=other"]) != 0
    assert "holds the loop 'tiny', the configuration is of 'other'" in capsys.readouterr().err
    assert load_state(tmp_path / "run").generations[1].measured is None


def test_the_loop_is_stopped_in_good_order_when_its_minutes_are_over_or_it_is_asked_to(tmp_path, monkeypatch, capsys):
    class TimerFromTheFirstGameOn(threading.Timer):  # what comes before it takes any time on a busy machine
        def run(self):
            while load_state(tmp_path / "run") is None and not self.finished.wait(0.01):
                pass
            super().run()

    monkeypatch.setattr(try_recipe.threading, "Timer", TimerFromTheFirstGameOn)
    fake_loop.install(monkeypatch.setattr)
    monkeypatch.setenv("FAKE_GAME_SECONDS", "0.5")
    command = ["try-recipe", "--config", str(write_config(tmp_path / "loop.yaml", create_raw(tmp_path / "run"))), "--full", "--minutes"]
    assert main([*command, "0.01"]) == 1
    assert "no network was promoted" in capsys.readouterr().out
    assert load_state(tmp_path / "run").stage == "selfplay"
    monkeypatch.setattr(try_recipe, "stop_on_signals", lambda stop: stop())
    assert main([*command, "60"]) == 130
    assert capsys.readouterr().err.endswith("try-recipe: stopped; the same command resumes it\n")
