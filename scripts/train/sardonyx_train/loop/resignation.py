"""Keeps the rate of false resignations low: games that ignore resignation show which threshold would have misjudged them.

After AlphaGo Zero (Silver et al. 2017) and lc0's resign_report: of the games played through in the last generations at most
a wanted share may be won or drawn by a side that would have resigned.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

from ..loop_config import SelfPlaySection
from .folders import Folders
from .games import RESULTS

PERCENTAGE = "resign-percentage"
_GENERATIONS = 3
_LEAST_GAMES = 20  # below this number the configured percentage stands
_MOST_PERCENT = 20.0


def adapt_resignation(section: SelfPlaySection, folders: Folders, newest: int) -> SelfPlaySection:
    """The section with the percentage that the games of the generations up to `newest` allow."""
    if section.resign_false_positives is None:
        return section
    thresholds = [
        t for number in range(newest, max(0, newest - _GENERATIONS), -1) for t in _read_thresholds(folders.generation(number, "games"))
    ]
    percent = choose_percentage(thresholds, section.resign_false_positives)
    if percent is None:
        return section
    return section.model_copy(update={"flags": {**section.flags, PERCENTAGE: percent}})


def choose_percentage(thresholds: Iterable[float], false_positives: float) -> float | None:
    """The highest percentage that misjudges no more than this share of the games; None with too few games.

    `thresholds`: of each game that was played through, the win probability above which a resignation would have been wrong.
    """
    rows = sorted(thresholds)
    if len(rows) < _LEAST_GAMES:
        return None
    allowed = rows[min(int(false_positives * len(rows)), len(rows) - 1)]
    return min(_MOST_PERCENT, int(1000 * allowed) / 10)


def _read_thresholds(games: Path) -> Iterable[float]:
    for path in sorted(games.glob(f"*/{RESULTS}")):
        for line in path.read_text(encoding="utf-8").splitlines():
            threshold = json.loads(line).get("falsePositiveThreshold")
            if threshold is not None:
                yield threshold
