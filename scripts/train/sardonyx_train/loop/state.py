"""The state of a loop: current generation and stage, best network, and the results of every generation.

A stage is finished when the state names the next one, a generation when its row is in `generations`. Each is one atomic
write, so no result is ever recorded in part.
"""

import time
from dataclasses import asdict, field
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from ..base.errors import TrainError
from ..base.files import read_json, write_json
from ..tasks.usage import Usage

_Kind = TypeVar("_Kind")

STATE = "state.json"
STATE_VERSION = 1
STAGES = ("selfplay", "shards", "training", "export", "gate", "measure")


class Folders:
    """Paths of a loop's files. Folder names sort by generation."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.plots = root / "plots"
        self.networks = root / "networks"
        self.best = root / "best.onnx"  # a copy of the best network, at a path that does not change
        self.workers = root / "workers.json"  # the cluster's nodes and their tasks, as the loop last saw them
        self.stream = root / "stream"  # games of self-play without pause that no generation has taken yet

    def network(self, generation: int) -> Path:
        return self.networks / f"{generation:04d}.onnx"

    def checkpoint(self, generation: int) -> Path:
        """The weights from which the network was exported, without the optimiser's state."""
        return self.networks / f"{generation:04d}.pt"

    def version(self, generation: int) -> Path:
        """A record of the network's origin (versions.py)."""
        return self.root / "versions" / f"{generation:04d}.json"

    def generation(self, number: int, part: str = "") -> Path:
        """`part`: games, shards, training, gate or measure."""
        return self.root / "generations" / f"{number:04d}" / part


@dataclass
class Match:
    """Results of the candidate. `pairs`: number of game pairs by its points, 0, ½, 1, 1½, 2."""

    wins: int = 0
    draws: int = 0
    losses: int = 0
    pairs: list[int] = field(default_factory=lambda: [0, 0, 0, 0, 0])
    elo: float | None = None  # with its error (95 %), where it was asked for
    elo_error: float | None = None

    def add_pair(self, first: float, second: float) -> None:
        """Two games with the same opening; points of the candidate."""
        for points in (first, second):
            self.wins += points == 1
            self.draws += points == 0.5
            self.losses += points == 0
        self.pairs[round(2 * (first + second))] += 1

    @property
    def games(self) -> int:
        return self.wins + self.draws + self.losses

    @property
    def score(self) -> float:
        return (self.wins + self.draws / 2) / self.games if self.games > 0 else 0.5


@dataclass
class Generation:
    """Results of a generation; None if the stage was not reached or has no result."""

    number: int
    base: int  # the best network at its beginning: it played the games, and training started from its weights
    games: int | None = None
    batches: list[str] | None = None  # self-play without pause: what it took from the stream
    positions: int | None = None  # to train on, new in this generation
    window: int | None = None  # positions in the window
    steps: int | None = None
    samples: int | None = None  # that were trained on, repeats included
    policy_loss: float | None = None  # on held-out positions, or of the last training steps
    value_loss: float | None = None
    gate: Match | None = None
    promoted: bool | None = None
    measured: Match | None = None  # the best network against the opponent of `measure`
    resolved: dict[str, Any] | None = None  # precision and threads of its training
    seconds: dict[str, float] = field(default_factory=dict)  # by stage, pauses excluded
    usage: Usage = field(default_factory=Usage)  # of this machine's processors
    withdrawn: bool = False  # after a rollback: its games are no longer trained on
    pruned: bool = False  # its shards were removed

    @property
    def sampling_ratio(self) -> float | None:
        """Training samples for each new position."""
        return self.samples / self.positions if self.samples is not None and self.positions else None


@dataclass
class Change:
    """A change of the best network by a command, not by a gate."""

    kind: str  # rollback or promote
    network: int  # generation of the new best network
    before: int
    generation: int  # the current one at that time
    time: float  # seconds since 1970


@dataclass
class LoopState:
    name: str
    stage: str = STAGES[0]
    best: int = 0  # generation of the best network
    current: Generation = field(default_factory=lambda: Generation(1, 0))
    generations: list[Generation] = field(default_factory=list)  # finished ones
    plan: dict[str, Any] = field(default_factory=dict)  # the configuration that the current generation began with
    started: float = field(default_factory=time.time)
    changes: list[Change] = field(default_factory=list)


def find_precision(state: LoopState) -> str | None:
    """The precision that the loop has trained in, which `auto` means from then on; None before the first training."""
    return next((row.resolved["precision"] for row in state.generations if row.resolved), None)


def list_lineage(state: LoopState) -> list[int]:
    """The best network, the one that it was trained from, and so on to generation 0."""
    bases = {row.number: row.base for row in state.generations}
    lineage = [state.best]
    while lineage[-1] != 0:
        lineage.append(bases[lineage[-1]])
    return lineage


def save_state(folder: Path, state: LoopState) -> None:
    write_json(folder / STATE, {"version": STATE_VERSION, **asdict(state)})


def load_state(folder: Path) -> LoopState | None:
    """None if no loop has begun in the folder. Raises TrainError if the file is damaged."""
    path = folder / STATE
    if not path.exists():
        return None
    raw = read_json(path)
    if not isinstance(raw, dict) or raw.pop("version", None) != STATE_VERSION:
        raise TrainError(f"{path} is not the state of a loop of version {STATE_VERSION}")
    return read_as(LoopState, raw, path)


def read_as(kind: type[_Kind], raw: Any, path: Path) -> _Kind:
    """Raises TrainError if what the file holds is none of this kind."""
    try:
        return TypeAdapter(kind).validate_python(raw)
    except ValidationError as error:
        first = error.errors()[0]
        raise TrainError(f"{path} is damaged: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
