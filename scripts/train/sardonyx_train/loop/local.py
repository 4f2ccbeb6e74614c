"""Runs tasks on this machine, a few at a time."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from ..files import name_part, publish
from .loop_files import LoopError, Stopped
from .process import ProcessFailed, ProcessStopped
from .task import Task, run_task


class LocalExecutor:
    """Keeps the folder of a killed task: the next run continues with the games in it."""

    def __init__(self, engine: Sequence[str], at_a_time: int, is_stopped: Callable[[], bool], lock: int | None) -> None:
        self._engine = engine
        self._at_a_time = at_a_time
        self._is_stopped = is_stopped
        self._handles = () if lock is None else (lock,)

    def describe(self) -> str:
        return f"this machine, {self._at_a_time} at a time" if self._at_a_time > 1 else "this machine"

    def close(self) -> None:
        """Does nothing: this executor holds no resources between runs."""

    def run(
        self,
        tasks: Sequence[Task],
        folder: Path,
        files: Mapping[str, Path],
        is_enough: Callable[[], bool],
    ) -> None:
        """Runs every task that has no folder `folder`/NAME yet, until all have one or `is_enough`. Raises LoopError, Stopped."""
        missing = [task for task in tasks if not (folder / task.name).exists()]
        ended = False

        def is_ended() -> bool:
            return ended or self._is_stopped()

        def work(task: Task) -> None:
            # The loop below may notice late that the games are enough; no further task must start then.
            if is_ended() or is_enough():
                raise ProcessStopped
            part = name_part(folder / task.name)
            run_task(task, self._engine, files, part, is_ended, self._handles)
            publish(part, folder / task.name)

        with ThreadPoolExecutor(self._at_a_time) as threads:
            try:
                for future in as_completed([threads.submit(work, task) for task in missing]):
                    try:
                        future.result()
                    except ProcessStopped:
                        if self._is_stopped():
                            raise Stopped from None
                    except ProcessFailed as error:
                        raise LoopError(str(error)) from None
                    if is_enough():
                        break
            finally:
                ended = True
