"""Runs tasks on this machine, a few at a time."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import Stopped, TrainError
from ..base.files import name_part, publish
from .process import ProcessFailed
from .task import Task, TaskSource, run_task
from .usage import Meter

_POLL_SECONDS = 0.2
_TRIES = 3  # of a task whose engine was killed from outside; it continues with the games that are there


@dataclass(frozen=True)
class LocalExecutor:
    """Keeps the folder of a killed task: the next run continues with the games in it."""

    engine: Sequence[str]
    at_a_time: int
    is_stopped: Callable[[], bool]
    lock: int
    meter: Meter

    def describe(self) -> str:
        return "this machine" + (f", {self.at_a_time} at a time" if self.at_a_time > 1 else "")

    def close(self) -> None: ...

    def run(self, tasks: Sequence[Task], folder: Path, files: Mapping[str, Path], is_enough: Callable[[], bool]) -> None:
        missing = [task for task in tasks if not (folder / task.name).exists()]
        ended = False

        def is_ended() -> bool:
            return ended or self.is_stopped()

        def work(task: Task) -> None:
            if is_ended():
                raise Stopped
            if not is_enough():  # the loop below may notice late that the games are enough; no further task must start then
                self._make(task, folder, files, is_ended)

        with ThreadPoolExecutor(self.at_a_time) as threads:
            try:
                pending = {threads.submit(work, task) for task in missing}
                while pending and not is_enough():
                    done, pending = wait(pending, _POLL_SECONDS, FIRST_COMPLETED)
                    for future in done:
                        future.result()
            finally:
                ended = True

    def stream(self, source: TaskSource, folder: Path) -> None:
        failures: list[Exception] = []

        def is_ended() -> bool:
            return bool(failures) or source.is_closed() or self.is_stopped()

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
            except Stopped:
                return
            except (TrainError, OSError) as error:
                failures.append(error)

        with ThreadPoolExecutor(self.at_a_time) as threads:
            for future in [threads.submit(work) for _ in range(self.at_a_time)]:
                future.result()
        if failures:
            raise TrainError(str(failures[0]))

    def _make(self, task: Task, folder: Path, files: Mapping[str, Path], is_ended: Callable[[], bool]) -> None:
        part = name_part(folder / task.name)
        for tries_left in reversed(range(_TRIES)):
            try:
                run_task(task, self.engine, files, part, is_ended, (self.lock,), self.meter.watch(task.kind))
                break
            except ProcessFailed as error:
                if not error.is_by_signal or tries_left == 0:
                    raise
        publish(part, folder / task.name)
