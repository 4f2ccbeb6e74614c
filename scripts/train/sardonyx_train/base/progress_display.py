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
        self._unit, self._told = unit, done
        self._ended = threading.Event()
        count = TextColumn(unit + " {task.completed:,.0f}" + ("" if total is None else "/{task.total:,.0f}"))
        times = (TimeElapsedColumn(), TimeRemainingColumn()) if total is not None else (TimeElapsedColumn(),)
        columns = (TextColumn("{task.description}"), BarColumn(), count, *times, TextColumn("{task.fields[note]}"))
        has_bar = is_shown and sys.stderr.isatty()
        self._writes_lines = is_shown and not has_bar
        self._bar = Progress(*columns, console=_CONSOLE, disable=not has_bar)  # without a terminal it only counts
        self._bar.add_task(purpose, completed=done, total=total, note="")
        (self._task,) = self._bar.tasks

    def __enter__(self) -> Self:
        self._bar.start()
        if self._writes_lines:
            threading.Thread(target=self._write_lines, daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._bar.stop()
        if self._writes_lines and self._task.completed != self._told:
            self._write_line()

    def advance(self, units: int) -> None:
        self._bar.update(self._task.id, advance=units)

    def note(self, text: str) -> None:
        """Sets the text after the count."""
        self._bar.update(self._task.id, note=text)

    def _write_lines(self) -> None:
        seconds = SECONDS_TO_FIRST_LINE
        while not self._ended.wait(seconds):
            self._write_line()
            seconds = SECONDS_BETWEEN_LINES

    def _write_line(self) -> None:
        task, done = self._task, self._task.completed
        self._told = done
        of_total = "" if task.total is None else f" of {max(task.total, done):,}"  # evenly taken positions may be some more
        parts = (task.description, f"{self._unit} {done:,}{of_total}", task.fields["note"])
        print(", ".join(part for part in parts if part), file=sys.stderr, flush=True)


def say(text: str) -> None:
    """A line on stderr, above the bar where there is one."""
    _CONSOLE.print(text, markup=False, highlight=False, soft_wrap=True)
