"""A task: one call of the engine that writes files to a folder, on any machine.

Standard library only: this module is also sent to the nodes of a cluster. A task contains everything that its result depends
on (digests of files, the seed in the arguments), so it may be repeated on any machine.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .process import ProcessFailed, run_process

OUTPUT = "output.json"
ERRORS = "errors.txt"
OUT = "{out}"


@dataclass(frozen=True)
class Task:
    """`arguments` come after the engine's own command; `{out}` is the task's folder, `{file:DIGEST}` an input file."""

    name: str
    arguments: tuple[str, ...]
    files: tuple[str, ...]  # digests
    minutes: float  # time limit


def refer_to(digest: str) -> str:
    return f"{{file:{digest}}}"


def run_task(
    task: Task,
    engine: Sequence[str],
    files: Mapping[str, Path],
    folder: Path,
    is_stopped: Callable[[], bool] = lambda: False,
    pass_handles: Sequence[int] = (),
) -> None:
    """Runs the engine with its files in `folder` and its output in `output.json`. Continues an unfinished try in that folder.

    Raises ProcessFailed and ProcessStopped.
    """
    folder.mkdir(parents=True, exist_ok=True)
    arguments = [*engine, *(_fill_in(argument, files, folder) for argument in task.arguments)]
    output = folder / OUTPUT
    run_process(arguments, output, folder / ERRORS, is_stopped, 60 * task.minutes, pass_handles)
    try:
        answer = json.loads(output.read_text(encoding="utf-8"))
    except ValueError:
        raise ProcessFailed(f"task {task.name}: the engine's answer is not JSON") from None
    if answer.get("interrupted"):
        raise ProcessFailed(f"task {task.name}: the engine was interrupted; start the loop again to continue")


def _fill_in(argument: str, files: Mapping[str, Path], folder: Path) -> str:
    filled = argument.replace(OUT, str(folder))
    for digest, path in files.items():
        filled = filled.replace(refer_to(digest), str(path))
    return filled
