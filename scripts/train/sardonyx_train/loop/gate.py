"""Decides from match results whether a candidate replaces the best network.

The sequential test is the generalised SPRT on pairs of games. For each of the two Elo hypotheses it takes the multinomial
distribution with the hypothesis' mean that is nearest to the observed one, and computes their log-likelihood ratio.
Source: M. Van den Bergh, "Comparing the approximations for the generalized log likelihood ratio of a multinomial
distribution", proposition 1.1; `sardonyx match --sprt … model=logistic` gives the same figures.
"""

import math
from collections.abc import Iterable

import numpy as np

from ..config.loop_config import GateSection
from .state import Match

_EMPTY_COUNT = 1e-3  # replaces counts of 0, so that all logarithms are finite
_BISECTIONS = 100
_DRAWS = 0.5  # share of the games of a gate


def sum_matches(matches: Iterable[Match]) -> Match:
    total = Match()
    for match in matches:
        total.wins += match.wins
        total.draws += match.draws
        total.losses += match.losses
        total.pairs = [a + b for a, b in zip(total.pairs, match.pairs)]
    return total


def judge(pairs: Iterable[tuple[float, float]], gate: GateSection) -> tuple[Match, bool | None]:
    """The games up to the first pair that decides, and the verdict; None if none of them does."""
    match = Match()
    verdict = decide(match, gate)
    for pair in pairs:
        if verdict is not None:
            break
        match.add_pair(*pair)
        verdict = decide(match, gate)
    return match, verdict


def decide(match: Match, gate: GateSection) -> bool | None:
    """True = promote, False = keep the best network, None = continue (only while games are left)."""
    left = gate.games - match.games
    if gate.rule == "always":
        return True
    if gate.rule == "sprt":
        if accepts(match, gate):
            return True
        if compute_llr(match.pairs, gate.elo0, gate.elo1) <= math.log(gate.beta / (1 - gate.alpha)):
            return False
        return None if left > 0 else match.score > 0.5
    points = match.wins + match.draws / 2
    if left <= 0 or (gate.stop_early and _passes(points, gate)):
        return _passes(points, gate)
    return None if not gate.stop_early or _passes(points + left, gate) else False


def accepts(match: Match, gate: GateSection) -> bool:
    """Whether the sequential test holds the first player for one of elo1."""
    return compute_llr(match.pairs, gate.elo0, gate.elo1) >= math.log((1 - gate.beta) / gate.alpha)


def _passes(points: float, gate: GateSection) -> bool:
    share = points / gate.games
    return share >= gate.threshold - 1e-12 if gate.rule == "at-least" else share > gate.threshold + 1e-12


def compute_chance(gate: GateSection, elo: float) -> float:
    """The probability that a candidate of this Elo is promoted, with half of the games drawn (about what networks of one loop do). The
    games count as independent, and the SPRT's ratio is that of normally distributed points."""
    score = expected_score(elo)
    draws = min(_DRAWS, 2 * score, 2 - 2 * score)
    chances, passed = np.ones(1), 0.0  # of 0, ½, 1 … points
    for games in range(1, gate.games + 1):
        chances = np.convolve(chances, [1 - score - draws / 2, draws, score - draws / 2])
        points = np.arange(2 * games + 1) / 2
        if gate.rule == "sprt" and games % 2 == 0:
            low, high = expected_score(gate.elo0), expected_score(gate.elo1)
            llr = (high - low) * (2 * points - games * (low + high)) / (2 * (0.25 - draws / 4))
            is_better, is_worse = llr >= math.log((1 - gate.beta) / gate.alpha), llr <= math.log(gate.beta / (1 - gate.alpha))
            passed += chances[is_better].sum()
            chances[is_better | is_worse] = 0
    rest = points > gate.games / 2 if gate.rule == "sprt" else np.array([_passes(x, gate) for x in points])
    return float(passed + chances[rest].sum())


def compute_llr(pairs: list[int], elo0: float, elo1: float) -> float:
    if sum(pairs) == 0:
        return 0.0
    counts = [count or _EMPTY_COUNT for count in pairs]
    total = sum(counts)
    shares = [count / total for count in counts]
    fitted = [_fit_mean(shares, expected_score(elo)) for elo in (elo0, elo1)]
    return total * sum(p * math.log(p1 / p0) for p, p0, p1 in zip(shares, *fitted))


def _fit_mean(shares: list[float], mean: float) -> list[float]:
    """The likeliest distribution over 0, ¼ … 1 with this mean: p / (1 + θ·(a − mean)), θ by bisection."""
    offsets = [i / 4 - mean for i in range(5)]
    low, high = -1 / max(offsets), -1 / min(offsets)
    for _ in range(_BISECTIONS):
        theta = (low + high) / 2
        if sum(p * a / (1 + theta * a) for p, a in zip(shares, offsets)) > 0:
            low = theta
        else:
            high = theta
    return [p / (1 + theta * a) for p, a in zip(shares, offsets)]


def expected_score(elo: float) -> float:
    return 1 / (1 + 10 ** (-elo / 400))


def estimate_elo(match: Match) -> float:
    """Logistic Elo of the first player. If one side won all games, one more draw is assumed, so that the result is finite."""
    share = match.score
    if share in (0.0, 1.0):
        share = (match.wins + match.draws / 2 + 0.5) / (match.games + 1)
    return -400 * math.log10(1 / share - 1)
