"""A task: one call of the engine that writes files to a folder, on any machine.

Standard library only: this module is also sent to the nodes of a cluster. A task contains everything that its result depends
on (digests of files, the seed in the arguments), so it may be repeated on any machine.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from .process import ProcessFailed, Watch, run_process

OUTPUT = "output.json"
ERRORS = "errors.txt"
OUT = "{out}"
RESULTS = "games.jsonl"  # in a task's folder: one line of conditions, then one line for each game


@dataclass(frozen=True)
class Task:
    """`arguments` come after the engine's own command; `{out}` is the task's folder, `{file:DIGEST}` an input file."""

    name: str
    arguments: tuple[str, ...]
    files: tuple[str, ...]  # digests
    minutes: float  # time limit
    niceness: int = 0  # added to the loop's own: tasks with more give way to the others

    @property
    def kind(self) -> str:
        """First word of the name: games, gate, measure …"""
        return self.name.partition("-")[0]

    def get_flag(self, name: str) -> str:
        return next(word for word in self.arguments if word.startswith(f"--{name}=")).partition("=")[2]

    @property
    def games(self) -> int:
        return int(self.get_flag("games"))


class TaskSource(Protocol):
    """Gives tasks without end to an executor, from whose threads it is called."""

    def take_task(self) -> tuple[Task, Mapping[str, Path]] | None:
        """A task with its input files by digest; None while there is nothing to do."""

    def finish(self, task: Task) -> None:
        """The executor calls it when the task's folder is complete."""

    def is_closed(self) -> bool: ...


class Executor(Protocol):
    """Where tasks run."""

    def describe(self) -> str: ...

    def run(self, tasks: Sequence[Task], folder: Path, files: Mapping[str, Path], is_enough: Callable[[], bool]) -> None:
        """Runs every task that has no folder `folder`/NAME yet, until all have one or `is_enough`. Raises TrainError, Stopped."""

    def stream(self, source: TaskSource, folder: Path) -> None:
        """Makes `folder`/NAME for the tasks that the source gives, until it is closed. Raises TrainError."""

    def close(self) -> None: ...


def refer_to(digest: str) -> str:
    return f"{{file:{digest}}}"


def run_task(
    task: Task,
    engine: Sequence[str],
    files: Mapping[str, Path],
    folder: Path,
    is_stopped: Callable[[], bool] = lambda: False,
    pass_handles: Sequence[int] = (),
    watch: Watch | None = None,
    *,
    is_inside: bool = False,
) -> None:
    """Runs the engine with its files in `folder` and its output in `output.json`. Continues an unfinished try in that folder.

    Raises ProcessFailed, and Stopped if `is_stopped`.

    With `is_inside` the engine works in the folder and `files` are relative to it: then the conditions that it writes down
    are the same on every machine, and another machine can continue the task.
    """
    folder.mkdir(parents=True, exist_ok=True)
    out = Path() if is_inside else folder
    arguments = [*engine, *(_fill_in(argument, files, out) for argument in task.arguments)]
    output, place = folder / OUTPUT, folder if is_inside else None
    run_process(arguments, output, folder / ERRORS, is_stopped, 60 * task.minutes, pass_handles, task.niceness, place, watch)
    try:
        answer = json.loads(output.read_text(encoding="utf-8"))
    except ValueError:
        raise ProcessFailed(f"task {task.name}: the engine's answer is not JSON") from None
    if isinstance(answer, dict) and answer.get("interrupted"):
        raise ProcessFailed(f"task {task.name}: the engine was interrupted; start the loop again to continue")


def _fill_in(argument: str, files: Mapping[str, Path], folder: Path) -> str:
    filled = argument.replace(OUT, str(folder))
    for digest, path in files.items():
        filled = filled.replace(refer_to(digest), str(path))
    return filled
