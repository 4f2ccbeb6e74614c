"""SPSA: tunes several options at once by matches between two settings that differ from the best one in opposite directions.

Source: J. Spall, "Implementation of the simultaneous perturbation algorithm for stochastic optimization", 1998; the constants
0.602 and 0.101 are his, the scale of the steps is that of Stockfish's tuning: `step` is the perturbation at the end of
the run.
"""

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

from ..base.errors import TrainError
from ..base.files import keep_plan, read_json, write_json
from .spread_tasks import PLAN, Work, match

_ALPHA = 0.602
_GAMMA = 0.101
_FINAL_RATE = 0.002  # times the square of the step, at the end of the run, for each point of difference


@dataclass(frozen=True)
class Parameter:
    flag: str
    start: float
    step: float

    @classmethod
    def parse(cls, text: str) -> Self:
        """`cpuct=1.75:0.2`. Raises TrainError."""
        flag, separator, numbers = text.partition("=")
        start, colon, step = numbers.partition(":")
        try:
            parameter = cls(flag.removeprefix("--"), float(start), float(step))
        except ValueError:
            raise TrainError(f"--tune: '{text}' is not FLAG=START:STEP") from None
        if not (separator and colon and flag and math.isfinite(parameter.start) and 0 < parameter.step < math.inf):
            raise TrainError(f"--tune: '{text}' is not FLAG=START:STEP with a step above 0")
        return parameter


def tune(work: Work, parameters: Sequence[Parameter], iterations: int, games: int, seed: int, flags: Sequence[str]) -> dict[str, Any]:
    """Returns the values after the last iteration. `spsa.json` holds every iteration, so the same command continues."""
    own = {"tune": [vars(p) for p in parameters], "iterations": iterations, "games": games, "seed": seed, "flags": list(flags)}
    keep_plan(work.folder / PLAN, own)
    path = work.folder / "spsa.json"
    rows: list[dict[str, Any]] = read_json(path) if path.exists() else []
    values = rows[-1]["values"] if rows else [p.start for p in parameters]
    for number in range(len(rows), iterations):
        signs = [random.Random(f"{seed}/{number}/{p.flag}").choice((-1, 1)) for p in parameters]
        rates = compute_steps(parameters, number, iterations)
        players = [[v + side * sign * c for v, sign, (c, _) in zip(values, signs, rates)] for side in (1, -1)]
        own = [f"--player{player}.{p.flag}={value:.6g}" for player, given in enumerate(players, 1) for p, value in zip(parameters, given)]
        folder = work.folder / "tasks" / f"iteration-{number:05d}"
        result = match(work, games, max(2, games // 2 // 2 * 2), seed + number, [*flags, *own], folder)
        points = result.wins - result.losses
        values = [v + a / c * points * sign for v, sign, (c, a) in zip(values, signs, rates)]
        rows.append({"values": values, "points": points, "games": games})
        write_json(path, rows)
    return {"iterations": iterations, "values": {p.flag: round(v, 6) for p, v in zip(parameters, values)}}


def compute_steps(parameters: Sequence[Parameter], number: int, iterations: int) -> list[tuple[float, float]]:
    """For each parameter the perturbation c and the gain a of an iteration, counted from 0."""
    stability = 0.1 * iterations
    spread = (iterations / (number + 1)) ** _GAMMA
    gain = _FINAL_RATE * ((iterations + stability) / (number + 1 + stability)) ** _ALPHA
    return [(p.step * spread, p.step**2 * gain) for p in parameters]
