"""Where the CPU time goes while a loop runs: self-play, training, gate and the rest, against what the machine has.

A child's CPU seconds include those of its own children. The figures say nothing of other machines: on a cluster the
self-play of the nodes is not in them.
"""

import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field

import psutil

from .process import Watch

PLAYING = ("games", "gate", "measure")  # first words of the names of tasks
TRAINING = "training"
OWN = "loop"  # the loop's own process


@dataclass
class Usage:
    """Seconds; `cpu` by kind of work, `idle` of all cores together."""

    wall: float = 0.0
    cores: float = 0.0
    idle: float = 0.0
    cpu: dict[str, float] = field(default_factory=dict)

    def add(self, other: "Usage") -> None:
        self.wall = round(self.wall + other.wall, 2)
        self.cores = max(self.cores, other.cores)  # a row without a measurement has none
        self.idle = round(self.idle + other.idle, 2)
        for kind, seconds in other.cpu.items():
            self.cpu[kind] = round(self.cpu.get(kind, 0.0) + seconds, 2)

    def get_share(self, kinds: Iterable[str]) -> float:
        """The share of these kinds of work in the CPU seconds that all cores had."""
        return sum(self.cpu.get(kind, 0.0) for kind in kinds) / max(self.wall * self.cores, 1e-9)

    @property
    def busy(self) -> float:
        """Share of games and training in the CPU seconds that other programs left: those that the loop took, and idle ones."""
        useful = sum(self.cpu.get(kind, 0.0) for kind in (*PLAYING, TRAINING))
        return useful / max(sum(self.cpu.values()) + self.idle, 1e-9)


def describe_usage(*usages: Usage) -> str:
    """One line on the sum of these measurements; "" before anything was measured."""
    usage = Usage()
    for part in usages:
        usage.add(part)
    if usage.wall <= 0:
        return ""
    known = {"self-play": ("games",), "training": (TRAINING,), "gate": ("gate", "measure")}
    known["other"] = tuple(usage.cpu.keys() - {*PLAYING, TRAINING})
    parts = [f"{name} {usage.get_share(kinds):.0%}" for name, kinds in known.items()]
    idle = usage.idle / max(usage.wall * usage.cores, 1e-9)
    others = max(0.0, 1 - idle - usage.get_share(usage.cpu))
    return f"CPU: {', '.join(parts)}, idle {idle:.0%}, other programs {others:.0%} of {usage.cores:g} cores; busy {usage.busy:.0%}"


class Meter:
    """Safe to use from several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._finished: dict[str, float] = {}
        self._live: dict[int, str] = {}
        self._last = self._read()

    def watch(self, kind: str) -> Watch:
        def note(pid: int, seconds: float | None) -> None:
            with self._lock:
                if seconds is None:
                    self._live[pid] = kind
                else:
                    self._live.pop(pid, None)
                    self._finished[kind] = self._finished.get(kind, 0.0) + seconds

        return note

    def lap(self) -> Usage:
        """What was used since the last call."""
        now, last = self._read(), self._last
        self._last = now
        cpu = {kind: max(0.0, seconds - last.cpu.get(kind, 0.0)) for kind, seconds in now.cpu.items()}
        lap = Usage()
        lap.add(Usage(now.wall - last.wall, now.cores, max(0.0, now.idle - last.idle), cpu))
        return lap

    def _read(self) -> Usage:
        with self._lock:
            cpu = dict(self._finished)
            for pid, kind in self._live.items():
                cpu[kind] = cpu.get(kind, 0.0) + _read_cpu_seconds(pid)
        cpu[OWN] = time.process_time()
        idle = psutil.cpu_times(percpu=True)
        cores = psutil.Process().cpu_affinity() if hasattr(psutil.Process, "cpu_affinity") else range(len(idle))
        return Usage(time.monotonic(), len(cores), sum(idle[core].idle for core in cores), cpu)


def _read_cpu_seconds(pid: int) -> float:
    """CPU seconds of a process and of its children that have ended; 0 if it is gone."""
    try:
        return sum(psutil.Process(pid).cpu_times()[:4])
    except psutil.Error:
        return 0.0
