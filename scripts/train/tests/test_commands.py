"""Every command of the folder is one: it starts and says what it does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COMMANDS = sorted(path.name for path in Path(__file__).parents[1].glob("*.py"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_explains_itself(command: str) -> None:
    place = Path(__file__).parents[1] / command
    result = subprocess.run([sys.executable, str(place), "--help"], capture_output=True, text=True, timeout=120)
    assert result.returncode == 0, result.stderr
    assert f"usage: {command}" in result.stdout
