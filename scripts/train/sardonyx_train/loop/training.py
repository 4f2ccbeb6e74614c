"""Creates the weights of generation 0, the training configuration of a candidate, and the commands that train and export it.

A candidate starts from the best network's averaged weights, those that played the games, with a new optimiser, or with
training.carry_moments with the one that trained them. The command `train` does the training, so a killed one continues from its last
checkpoint, and torchrun starts it on several GPUs. torch is imported only in functions that handle weights: importing it is slow, and the
status page does not need it.
"""

import math
import sys
from pathlib import Path
from typing import Any

import yaml

from ..base.errors import TrainError
from ..config.loop_config import LoopConfig
from ..config.training_config import ModelConfig, TrainingConfig, is_same_shape, merge, parse_config
from ..tasks.process import OWN_PROGRAM
from ..training.metrics_log import read_history
from .window import Window


def write_first_weights(config: LoopConfig, path: Path) -> None:
    """Writes generation 0: the checkpoint that the configuration names, or random weights."""
    training = config.training.sections
    if config.training.start is not None:
        keep_weights(Path(config.training.start), path, training.model)
        return
    import torch

    from ..model.network import Network
    from ..training.checkpoint import write_weights

    torch.manual_seed(config.run.seed)
    own = {"name": config.run.name, "licence": config.run.licence, "seed": config.run.seed}
    write_weights(path, merge(training.model_dump(), {"run": own}), Network(training.model).state_dict())


def keep_weights(checkpoint: Path, path: Path, wanted: ModelConfig, with_moments: bool = False) -> None:
    """Copies a checkpoint, without the optimiser's state unless `with_moments`. Raises TrainError."""
    from ..training.checkpoint import read_checkpoint, write_checkpoint

    state = read_checkpoint(checkpoint)
    if not is_same_shape(state["config"]["model"], wanted):
        raise TrainError(f"{checkpoint} holds another network shape than training.sections.model of the configuration")
    names = ("config", "resolved", "network", "average", "progress", *(("optimizer", "scaler", "plateau") if with_moments else ()))
    write_checkpoint(path, {name: state[name] for name in names if name in state})


def check_training(config: LoopConfig, weights: Path) -> None:
    """Raises TrainError if a candidate cannot be trained from these weights, or not on this machine's devices."""
    from ..training.distributed import check_device
    from ..training.initialise import create_network

    check_device(config.training.sections.run.device, config.training.processes)
    create_network(parse_config(merge(config.training.sections.model_dump(), {"run": {"start_from": str(weights)}})))


def read_resolved(checkpoint: Path) -> dict[str, Any] | None:
    """Precision and threads of the training that made the weights."""
    from ..training.checkpoint import read_checkpoint

    return read_checkpoint(checkpoint).get("resolved")


def create_candidate_config(
    config: LoopConfig, window: Window, generation: int, start: Path, out: Path, precision: str | None = None, trained: int = 0
) -> TrainingConfig:
    """`precision`: what `auto` was at the loop's first training. `trained`: generations that the weights have been trained in."""
    given = config.training.sections
    is_plateau = given.schedule.kind == "plateau"
    batch, steps = plan_steps(config, sum(f.positions for f in window.train if f.generation == generation), window.positions)
    own: dict[str, Any] = {} if given.run.evaluate_steps or given.run.evaluate_epochs else {"evaluate_steps": steps}
    if not window.validation:  # without held-out games improvement cannot be measured
        own["early_stopping"] = 0
    if precision is not None and given.run.precision == "auto":
        own["precision"] = precision
    own |= {"out": str(out), "name": f"{config.run.name}-{generation:04d}", "licence": config.run.licence}
    changed = {
        "data": {
            "batch_size": batch,
            "train": [str(file.path) for file, repeats in zip(window.train, window.repeats) for _ in range(repeats)],
            "validation": [str(file.path) for file in window.validation],
        },
        "optimizer": compute_rates(config, trained),
        "schedule": {
            "max_steps": steps,
            **({} if window.validation or not is_plateau else {"kind": "constant"}),
            **place_in_schedule(config, trained),
        },
        "run": {**own, "start_from": str(start), "start_moments": config.training.carry_moments, "seed": config.run.seed + generation},
    }
    return parse_config(merge(given.model_dump(), changed))


def plan_steps(config: LoopConfig, new: int, window: int) -> tuple[int, int]:
    """Size of a minibatch and number of steps of a training on `window` positions, of which `new` are of its own generation."""
    own, given = config.training, config.training.sections
    taken = window * (1 - given.data.skip_decided)  # positions of a pass
    # The first games may be fewer positions than a minibatch.
    batch = max(1, min(given.data.batch_size, int(taken / (own.processes * max(1, given.data.workers)))))
    samples = own.passes * taken if own.sampling_ratio is None else own.sampling_ratio * new
    return batch, own.steps or math.ceil(samples / (batch * given.optimizer.accumulation * own.processes))


def compute_rates(config: LoopConfig, trained: int) -> dict[str, float]:
    """The first learning rates of a candidate. A candidate that failed its gate left no trace in the weights, nor in the rates."""
    given = config.training.sections.optimizer
    lowest = min(1.0, config.training.rate_floor / given.learning_rate)
    factor = max(config.training.rate_decay**trained, lowest)
    return {"learning_rate": given.learning_rate * factor, "muon_learning_rate": given.muon_learning_rate * factor}


def place_in_schedule(config: LoopConfig, trained: int) -> dict[str, float]:
    """The part of the schedule that a candidate covers; rates rise from zero in the first one only."""
    spanned = config.training.schedule_generations
    if spanned is None:
        return {}
    begin, end = (min(1.0, number / spanned) for number in (trained, trained + 1))
    return {"begin": begin, "end": end, **({} if trained == 0 else {"warmup_steps": 0})}


def format_train_command(config: Path, resume: Path | None, processes: int) -> list[str]:
    own = ["train", "--config", str(config), *([] if resume is None else ["--resume", str(resume)])]
    if processes == 1:
        return [*OWN_PROGRAM, *own]
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}"]
    return [*torchrun, *OWN_PROGRAM[1:], *own]


def format_export_command(weights: Path, out: Path, name: str, config: LoopConfig, held_out: list[str], *, is_trained: bool) -> list[str]:
    # For random weights there are no positions yet to calibrate int8 on.
    precision = config.export.precision if is_trained else "fp32"
    command = [*OWN_PROGRAM, "export", str(weights), "--out", str(out), "--name", name, "--precision", precision]
    if held_out and config.export.verify_positions > 0:
        command += ["--positions", str(config.export.verify_positions), "--shards", *held_out]
    return command


def read_planned_steps(folder: Path) -> int:
    return int(yaml.safe_load((folder / "train.yaml").read_text(encoding="utf-8"))["schedule"]["max_steps"])


def read_losses(folder: Path) -> tuple[float | None, float | None]:
    """Policy and value losses of the last evaluation on held-out positions, else of the last training steps."""
    rows = [row for row in read_history(folder) if "policy" in row and "value" in row]
    chosen = [row for row in rows if row["kind"] == "validation"] or rows
    return (chosen[-1]["policy"], chosen[-1]["value"]) if chosen else (None, None)
