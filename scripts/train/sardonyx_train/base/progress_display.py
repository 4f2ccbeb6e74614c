"""Shows the progress of a long task on stderr: a bar on a terminal; in a file or pipe a plain line after a second and then every
half minute, also while a single step takes longer than that."""

import sys
import threading
from typing import Self

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

SECONDS_TO_FIRST_LINE = 1.0
SECONDS_BETWEEN_LINES = 30.0
_CONSOLE = Console(stderr=True)


class ProgressDisplay:
    """`with ProgressDisplay("step", total=5000) as progress:` … `progress.advance(1)`."""

    def __init__(self, unit: str, total: int | None, purpose: str = "", done: int = 0, is_shown: bool = True) -> None:
        """`total`: units of the whole task, None when unknown. `done`: units of it that are done already."""
        self.done = done
        self._unit, self._total, self._purpose = unit, total, purpose
        self._note = ""
        self._is_shown = is_shown
        self._bar: Progress | None = None
        self._told = done
        self._ended = threading.Event()

    def __enter__(self) -> Self:
        if self._is_shown and sys.stderr.isatty():
            count = TextColumn(self._unit + " {task.completed:,.0f}" + ("" if self._total is None else "/{task.total:,.0f}"))
            times = (TimeElapsedColumn(), TimeRemainingColumn()) if self._total is not None else (TimeElapsedColumn(),)
            self._bar = Progress(
                TextColumn("{task.description}"), BarColumn(), count, *times, TextColumn("{task.fields[note]}"), console=_CONSOLE
            )
            self._bar.add_task(self._purpose, completed=self.done, total=self._total, note="")
            self._bar.start()
        elif self._is_shown:
            threading.Thread(target=self._write_lines, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        if self._bar is not None:
            self._bar.stop()
        elif self.done != self._told:
            self._write_line()

    def advance(self, units: int) -> None:
        self.done += units
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=self.done)

    def note(self, text: str) -> None:
        """Sets the text after the count."""
        self._note = text
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], note=text)

    def _write_lines(self) -> None:
        seconds = SECONDS_TO_FIRST_LINE
        while not self._ended.wait(seconds):
            self._write_line()
            seconds = SECONDS_BETWEEN_LINES

    def _write_line(self) -> None:
        self._told = self.done
        if self._is_shown:
            of_total = "" if self._total is None else f" of {max(self._total, self.done):,}"  # evenly taken positions may be some more
            parts = (self._purpose, f"{self._unit} {self.done:,}{of_total}", self._note)
            print(", ".join(part for part in parts if part), file=sys.stderr, flush=True)


def say(text: str) -> None:
    """A line on stderr, above the bar where there is one."""
    _CONSOLE.print(text, markup=False, highlight=False, soft_wrap=True)
