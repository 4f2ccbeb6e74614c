"""Learning-rate schedules as one pure formula: from progress in [0, 1] to a factor of the initial rate.

Progress is the largest of steps, epochs and minutes done over those planned. So a run planned by the clock also anneals to its
end on a slow machine.
"""

import math

from ..config.training_config import ScheduleConfig


def compute_progress(config: ScheduleConfig, step: int, minutes: float, epoch_steps: int = 1) -> float:
    """`epoch_steps`: steps of a pass over the training positions."""
    planned = count_steps(config, epoch_steps)
    by_steps = step / planned if planned is not None else 0.0
    by_time = minutes / config.max_minutes if config.max_minutes is not None else 0.0
    return min(1.0, max(by_steps, by_time))


def count_steps(config: ScheduleConfig, epoch_steps: int) -> int | None:
    """The planned number of steps; None if only the clock ends the run."""
    by_epochs = None if config.max_epochs is None else max(1, round(config.max_epochs * epoch_steps))
    return min((steps for steps in (config.max_steps, by_epochs) if steps is not None), default=None)


def describe_end(config: ScheduleConfig) -> str:
    limits = ((config.max_steps, "steps"), (config.max_epochs, "passes"), (config.max_minutes, "minutes"))
    said = [f"{limit:,g} {unit}" for limit, unit in limits if limit is not None]
    return " or ".join(said) + (", whichever comes first" if len(said) > 1 else "")


def compute_factor(config: ScheduleConfig, step: int, progress: float, plateau_drops: int = 0) -> float:
    """`plateau_drops`: how often the plateau schedule has dropped the rate so far."""
    warmup = max((step + 1) / config.warmup_steps, progress / config.warmup_share) if config.warmup_steps > 0 else 1.0
    return min(1.0, warmup) * _anneal(config, config.place(progress), plateau_drops)


def _anneal(config: ScheduleConfig, progress: float, plateau_drops: int) -> float:
    span = 1 - config.final_ratio
    match config.kind:
        case "cosine":
            return config.final_ratio + span * 0.5 * (1 + math.cos(math.pi * progress))
        case "linear":
            return config.final_ratio + span * (1 - progress)
        case "trapezoid":  # warm-up, stable, decay: the length of the stable part need not be known in advance
            return 1 - span * max(0.0, progress - config.decay_start) / (1 - config.decay_start)
        case "step":
            return config.gamma ** sum(progress >= m for m in config.milestones)
        case "plateau":
            return max(config.final_ratio, config.gamma**plateau_drops)
        case "constant":
            return 1.0


def is_falling(config: ScheduleConfig, progress: float) -> bool:
    """Whether a trapezoid's rate has begun to fall. A longer run must resume from before this point."""
    return config.kind == "trapezoid" and config.place(progress) >= config.decay_start


class PlateauCounter:
    """Counts evaluations without improvement, for the plateau schedule and early stopping."""

    def __init__(self) -> None:
        self.best = math.inf
        self.since_best = 0
        self.since_drop = 0
        self.drops = 0

    def update(self, loss: float, patience: int) -> bool:
        """Returns whether `loss` is the best so far."""
        if loss < self.best:
            self.best, self.since_best, self.since_drop = loss, 0, 0
            return True
        self.since_best += 1
        self.since_drop += 1
        if self.since_drop >= patience:
            self.drops += 1
            self.since_drop = 0
        return False
