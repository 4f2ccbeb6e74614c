"""The replay window: the shard files that a candidate is trained on, and how often a pass reads each.

The window takes whole files, newest generations first, until it is full or has its number of
generations. If recent positions are less than `recent_weight` of it, a pass reads recent files more often than old ones, so that
their share of the samples reaches that weight.
"""

import math
from dataclasses import dataclass
from pathlib import Path

from ..base.files import read_json
from ..config.loop_config import WindowSection
from .state import Folders

_MOST_OLD_REPEATS = 4
INDEX = "index.json"  # in a folder of shards: split → file → number of positions


@dataclass(frozen=True)
class ShardFile:
    path: Path
    generation: int
    positions: int


@dataclass(frozen=True)
class Window:
    train: tuple[ShardFile, ...]
    repeats: tuple[int, ...]  # how often a pass reads each file of `train`
    validation: tuple[ShardFile, ...]

    @property
    def positions(self) -> int:
        """Number of positions in the files that a pass reads."""
        return sum(file.positions for file, repeats in zip(self.train, self.repeats) if repeats > 0)


def create_window(folders: Folders, newest: int, section: WindowSection, left_out: frozenset[int] = frozenset()) -> Window:
    """`left_out`: generations whose games are not trained on."""
    generations = section.generations
    train = _take(folders, newest, "train", section.positions, left_out, generations)
    held_out = round(section.positions * section.validation_share / (1 - section.validation_share))
    validation = _take(folders, newest, "validation", held_out, left_out, generations)
    return Window(tuple(train), tuple(compute_repeats(train, newest, section)), tuple(validation))


def compute_repeats(files: list[ShardFile], newest: int, section: WindowSection) -> list[int]:
    """How often a pass reads each file: small whole numbers whose ratio is nearest to the wanted one, and not below it.

    Old files are read at most `_MOST_OLD_REPEATS` times.
    """
    total = sum(file.positions for file in files)
    is_recent = [file.generation > newest - section.recent_generations for file in files]
    recent = sum(file.positions for file, new in zip(files, is_recent) if new)
    if recent in (0, total) or section.recent_weight <= recent / total:
        return [1] * len(files)
    if section.recent_weight == 1:
        return [int(new) for new in is_recent]
    ratio = section.recent_weight / (1 - section.recent_weight) * (total - recent) / recent
    old, new = min(
        ((a, math.ceil(a * ratio)) for a in range(1, _MOST_OLD_REPEATS + 1)),
        key=lambda pair: (abs(math.log(pair[1] / pair[0] / ratio)), pair[0]),
    )
    return [new if is_new else old for is_new in is_recent]


def _take(folders: Folders, newest: int, split: str, positions: int, left_out: frozenset[int], generations: int | None) -> list[ShardFile]:
    """The newest generation is taken whole even if it is larger than the window."""
    taken: list[ShardFile] = []
    left = positions
    teaching = [generation for generation in range(newest, 0, -1) if generation not in left_out]
    for generation in teaching[:generations]:
        folder = folders.generation(generation, "shards")
        for name, rows in sorted(read_json(folder / INDEX)[split].items()):
            if generation < newest and rows > left:
                return taken
            if rows > 0:
                taken.append(ShardFile(folder / name, generation, rows))
                left -= rows
    return taken
