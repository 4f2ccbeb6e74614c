"""Decides from match results whether a candidate replaces the best network.

Elo and the sequential test are the engine's (`sardonyx elo`): the logistic test on pairs of games.
"""

import json
import math
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any

import numpy as np

from ..base.errors import TrainError
from ..config.loop_config import GateSection
from .state import Match

_DRAWS = 0.5  # share of the games of a gate
_PAIRS_A_TEST = 5  # an SPRT looks at its result so often, because each look starts the engine


def sum_matches(matches: Iterable[Match]) -> Match:
    total = Match()
    for match in matches:
        total.wins += match.wins
        total.draws += match.draws
        total.losses += match.losses
        total.pairs = [a + b for a, b in zip(total.pairs, match.pairs)]
    return total


def judge(pairs: Iterable[tuple[float, float]], gate: GateSection, engine: Sequence[str]) -> tuple[Match, bool | None]:
    """The games up to the first pair that decides, and the verdict; None if none of them does."""
    match = Match()
    for pair in pairs:
        match.add_pair(*pair)
        verdict = decide(match, gate, engine)
        if verdict is not None:
            return match, verdict
    return match, None


def decide(match: Match, gate: GateSection, engine: Sequence[str]) -> bool | None:
    """True = promote, False = keep the best network, None = continue (only while games are left)."""
    left = gate.games - match.games
    if gate.rule == "sprt":
        if left > 0 and (match.games == 0 or sum(match.pairs) % _PAIRS_A_TEST != 0):
            return None
        found = test(match, gate, engine)
        return found == "elo1" if found != "continue" else None if left > 0 else match.score > 0.5
    points = match.wins + match.draws / 2
    if left <= 0 or (gate.stop_early and _passes(points, gate)):
        return _passes(points, gate)
    return None if not gate.stop_early or _passes(points + left, gate) else False


def test(match: Match, gate: GateSection, engine: Sequence[str]) -> str:
    """Which hypothesis on the first player the sequential test accepts: elo0, elo1, or "continue" for neither."""
    words = " ".join(f"{name}={getattr(gate, name):g}" for name in ("elo0", "elo1", "alpha", "beta"))
    return _ask(tuple(engine), (*match.pairs,), f"--sprt={words} model=logistic")["sprt"]["verdict"]


def rate(match: Match, engine: Sequence[str]) -> Match:
    """Fills in the Elo of the first player and its error; they stay None where all games were won, or all lost."""
    found = _ask(tuple(engine), (*match.pairs,))["elo"] or {}
    match.elo, match.elo_error = found.get("elo"), found.get("eloError")
    return match


@cache
def _ask(engine: tuple[str, ...], pairs: tuple[int, ...], *flags: str) -> dict[str, Any]:
    done = subprocess.run([*engine, "elo", *map(str, pairs), "--json", *flags], capture_output=True, text=True)
    if done.returncode != 0:
        raise TrainError(f"the engine cannot rate a match: {done.stderr.strip()}")
    return json.loads(done.stdout)


def _passes(points: Any, gate: GateSection) -> Any:
    """Whether the points, a number or an array, are enough."""
    share = points / gate.games
    return share >= gate.threshold - 1e-12 if gate.rule == "at-least" else share > gate.threshold + 1e-12


def compute_chance(gate: GateSection, elo: float) -> float:
    """The probability that a candidate of this Elo is promoted, with half of the games drawn (about what networks of one loop do). The
    games count as independent, and the SPRT's ratio is that of normally distributed points."""
    score = _expected_score(elo)
    draws = min(_DRAWS, 2 * score, 2 - 2 * score)
    chances, passed = np.ones(1), 0.0  # of 0, ½, 1 … points
    for games in range(1, gate.games + 1):
        chances = np.convolve(chances, [1 - score - draws / 2, draws, score - draws / 2])
        points = np.arange(2 * games + 1) / 2
        if gate.rule == "sprt" and games % 2 == 0:
            low, high = _expected_score(gate.elo0), _expected_score(gate.elo1)
            llr = (high - low) * (2 * points - games * (low + high)) / (2 * (0.25 - draws / 4))
            is_better, is_worse = llr >= math.log((1 - gate.beta) / gate.alpha), llr <= math.log(gate.beta / (1 - gate.alpha))
            passed += chances[is_better].sum()
            chances[is_better | is_worse] = 0
    rest = points > gate.games / 2 if gate.rule == "sprt" else _passes(points, gate)
    return float(passed + chances[rest].sum())


def _expected_score(elo: float) -> float:
    return 1 / (1 + 10 ** (-elo / 400))
