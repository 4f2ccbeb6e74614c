import json
import subprocess
import sys

import pytest
from sardonyx_train.commands.try_recipe import run_for
from sardonyx_train.loop.state import Generation, LoopState, save_state
from sardonyx_train.program import main
from train_support.loops import create_raw, write_config


def _begin(tmp_path, best):
    out = tmp_path / "run"
    out.mkdir()
    rows = [Generation(n, n - 1, games=10, positions=90, promoted=n <= best) for n in (1, 2)]
    save_state(out, LoopState("tiny", best=best, generations=rows, current=Generation(3, best)))
    return write_config(tmp_path / "loop.yaml", create_raw(out))


@pytest.mark.parametrize(("verdict", "status"), [("elo1", 0), ("elo0", 1), ("continue", 1)])
def test_the_status_says_whether_the_best_network_is_clearly_better(tmp_path, monkeypatch, capfd, verdict, status):
    answer = {"wins": 30, "draws": 6, "losses": 12, "sprt": {"verdict": verdict}}
    engine = tmp_path / "engine.sh"
    engine.write_text(f"#!/bin/sh\necho \"$@\" >&2\nprintf '\\377 says a library\\n'\necho '{json.dumps(answer)}'\n")
    engine.chmod(0o755)
    config = _begin(tmp_path, best=2)
    done = main(["try-recipe", "--config", str(config), "--minutes", "0", "--full", "--set", f"engine=[{engine}]"])
    shown = capfd.readouterr()
    assert done == status
    assert "2 of 2 candidates promoted, 20 games, 180 positions" in shown.out
    assert "generation 2 against generation 0: +30 =6 -12, +137 Elo" in shown.out
    assert "--sprt=elo0=0 elo1=50" in shown.err and "networks/0002.onnx" in shown.err


def test_without_a_promoted_network_there_is_nothing_to_compare(tmp_path, capsys):
    assert main(["try-recipe", "--config", str(_begin(tmp_path, best=0)), "--minutes", "0", "--full"]) == 1
    assert "no network was promoted" in capsys.readouterr().out


def test_the_loop_is_stopped_in_good_order_when_its_minutes_are_over(tmp_path):
    script = "import signal, sys, time\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(130))\nprint('up', flush=True)\ntime.sleep(60)"
    assert run_for([sys.executable, "-c", script], 2) == (130, "")


def test_a_request_to_stop_reaches_the_loop_once_and_waits_for_its_end():
    loop = "import os, signal, sys, time\nsignal.signal(signal.SIGINT, lambda *_: sys.exit(130))\n"
    loop += "os.kill(os.getppid(), signal.SIGTERM)\ntime.sleep(60)"
    script = "import sys; from sardonyx_train.commands import try_recipe\n"
    script += f"try:\n    try_recipe.run_for([sys.executable, '-c', {loop!r}], 60)\nexcept try_recipe.Stopped:\n    print('stopped')"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120).stdout == "stopped\n"
