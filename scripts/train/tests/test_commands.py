"""Every command of the folder is one: it starts and says what it does."""

from __future__ import annotations

import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from types import ModuleType

import loop
import pretrain
import pytest
import simulate_cluster

COMMANDS = sorted(path.name for path in Path(__file__).parents[1].glob("*.py"))
CONFIGS = Path(__file__).parents[1] / "configs"


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_explains_itself(command: str) -> None:
    place = Path(__file__).parents[1] / command
    result = subprocess.run([sys.executable, str(place), "--help"], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert f"usage: {command}" in result.stdout


@pytest.mark.parametrize(
    ("command", "arguments"),
    [
        (loop, ["--config", str(CONFIGS / "loop-mini.yaml"), "--set", "engine=['true']", "--set", "run.out={out}"]),
        (pretrain, ["games", "--engine", "true", "--out", "{out}"]),
    ],
)
def test_a_folder_that_cannot_be_made_is_one_sentence(
    command: ModuleType, arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    out = f"{__file__}/run"
    assert command.main([argument.format(out=out) for argument in arguments]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"{command.__name__}: ") and out in said and len(said.splitlines()) == 1


def test_every_game_of_the_simulated_workers_is_received_and_given_to_generations(tmp_path):
    options = Namespace(
        seconds=60, game_seconds=2, games_per_task=4, games_per_generation=40, report_seconds=1, game_bytes=100, ray_ms=1, look_us=10
    )
    row = simulate_cluster.simulate(options, 10, tmp_path)
    assert 4 < row["games/s"] <= 5.5 and row["messages/s"] <= row["games/s"]
    assert 0 < row["head busy"] < 5 and len(row["memory MB"]) == 2
