"""Runs tasks on this machine, a few at a time."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from pathlib import Path

from ..errors import LoopError, Stopped
from ..files import name_part, publish
from .process import ProcessFailed, ProcessStopped
from .task import Task, TaskSource, run_task
from .usage import Meter

_POLL_SECONDS = 0.2
_TRIES = 3  # of a task whose engine was killed from outside; it continues with the games that are there


class LocalExecutor:
    """Keeps the folder of a killed task: the next run continues with the games in it."""

    def __init__(
        self, engine: Sequence[str], at_a_time: int, is_stopped: Callable[[], bool], lock: int | None, meter: Meter | None = None
    ) -> None:
        self._engine = engine
        self._at_a_time = at_a_time
        self._is_stopped = is_stopped
        self._handles = () if lock is None else (lock,)
        self._meter = meter

    def describe(self) -> str:
        return f"this machine, {self._at_a_time} at a time" if self._at_a_time > 1 else "this machine"

    def close(self) -> None:
        """Does nothing: this executor holds no resources between runs."""

    def run(self, tasks: Sequence[Task], folder: Path, files: Mapping[str, Path], is_enough: Callable[[], bool]) -> None:
        missing = [task for task in tasks if not (folder / task.name).exists()]
        ended = False

        def is_ended() -> bool:
            return ended or self._is_stopped()

        def work(task: Task) -> None:
            # The loop below may notice late that the games are enough; no further task must start then.
            if is_ended() or is_enough():
                raise ProcessStopped
            self._make(task, folder, files, is_ended)

        with ThreadPoolExecutor(self._at_a_time) as threads:
            try:
                pending = {threads.submit(work, task) for task in missing}
                while pending and not is_enough():
                    done, pending = wait(pending, _POLL_SECONDS, FIRST_COMPLETED)
                    for future in done:
                        try:
                            future.result()
                        except ProcessStopped:
                            if self._is_stopped():
                                raise Stopped from None
                        except ProcessFailed as error:
                            raise LoopError(str(error)) from None
            finally:
                ended = True

    def stream(self, source: TaskSource, folder: Path) -> None:
        failures: list[Exception] = []

        def is_ended() -> bool:
            return bool(failures) or source.is_closed() or self._is_stopped()

        def work() -> None:
            try:
                while not is_ended():
                    given = source.take_task()
                    if given is None:
                        time.sleep(_POLL_SECONDS)
                        continue
                    task, files = given
                    self._make(task, folder, files, is_ended)
                    source.finish(task)
            except ProcessStopped:
                return
            except (ProcessFailed, LoopError, OSError) as error:
                failures.append(error)

        with ThreadPoolExecutor(self._at_a_time) as threads:
            for future in [threads.submit(work) for _ in range(self._at_a_time)]:
                future.result()
        if failures:
            raise LoopError(str(failures[0]))

    def _make(self, task: Task, folder: Path, files: Mapping[str, Path], is_ended: Callable[[], bool]) -> None:
        part = name_part(folder / task.name)
        watch = None if self._meter is None else self._meter.watch(task.kind)
        for tries_left in reversed(range(_TRIES)):
            try:
                run_task(task, self._engine, files, part, is_ended, self._handles, watch)
                break
            except ProcessFailed as error:
                if not error.is_by_signal or tries_left == 0:
                    raise
        publish(part, folder / task.name)
