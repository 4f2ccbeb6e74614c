"""Creates the weights of generation 0, the training configuration of a candidate, and the commands of train.py and export.py.

A candidate starts from the best network's averaged weights, those that played the games, with a new optimiser. train.py does
the training, so a killed one continues from its last checkpoint, and torchrun starts it on several GPUs. torch is imported only
in functions that handle weights, because importing it is slow and the status page does not need it.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass
from pathlib import Path

from ..config import TrainingConfig, is_same_shape
from ..history import read_history
from .loop_config import HELD_OUT, LoopConfig, create_training_config
from .loop_files import LoopError
from .window import Window

SCRIPTS = Path(__file__).resolve().parents[2]


def create_network_config(config: LoopConfig) -> TrainingConfig:
    """The training configuration without data: it describes the network, but cannot train one."""
    return create_training_config(
        config.training.sections,
        data={"validation": [HELD_OUT]},
        run={"name": config.run.name, "licence": config.run.licence, "seed": config.run.seed}
    )


def write_first_weights(config: LoopConfig, path: Path) -> None:
    """Writes generation 0: the checkpoint that the configuration names, or random weights."""
    training = create_network_config(config)
    if config.training.start is not None:
        keep_weights(Path(config.training.start), path, training)
        return
    import torch

    from ..checkpoint import write_weights
    from ..model.network import Network

    torch.manual_seed(config.run.seed)
    write_weights(path, training.model_dump(), Network(training.model).state_dict())


def keep_weights(checkpoint: Path, path: Path, wanted: TrainingConfig) -> None:
    """Copies a checkpoint without the optimiser's state. Raises LoopError."""
    from ..checkpoint import CheckpointError, read_checkpoint, write_checkpoint

    try:
        state = read_checkpoint(checkpoint)
    except CheckpointError as error:
        raise LoopError(str(error)) from None
    if not is_same_shape(state["config"]["model"], wanted.model):
        raise LoopError(f"{checkpoint} holds another network shape than training.sections.model of the configuration")
    write_checkpoint(path, {name: state[name] for name in ("config", "network", "average", "progress")})


def create_candidate_config(config: LoopConfig, window: Window, generation: int, start: Path, out: Path) -> TrainingConfig:
    data = config.training.sections.get("data") or {}
    batch = int(data.get("batch_size", TrainingConfig.model_fields["data"].annotation().batch_size))
    streams = config.training.processes * max(1, int(data.get("workers", 0)))
    taken = window.positions * (1 - float(data.get("skip_decided", 0)))  # positions of a pass
    batch = max(1, min(batch, int(taken / streams)))  # the first games may be fewer positions than a minibatch
    accumulation = int((config.training.sections.get("optimizer") or {}).get("accumulation", 1))
    per_step = batch * accumulation * config.training.processes
    is_plateau = (config.training.sections.get("schedule") or {}).get("kind") == "plateau"
    steps = config.training.steps or math.ceil(config.training.passes * taken / per_step)
    own = {"tensorboard": False, "evaluate_steps": steps, "checkpoint_minutes": 1.0, **(config.training.sections.get("run") or {})}
    if not window.validation:  # without held-out games improvement cannot be measured
        own["early_stopping"] = 0
    own |= {"out": str(out), "name": f"{config.run.name}-{generation:04d}", "licence": config.run.licence}
    return create_training_config(
        config.training.sections,
        data={
            "batch_size": batch,
            "train": [str(file.path) for file, repeats in zip(window.train, window.repeats) for _ in range(repeats)],
            "validation": [str(file.path) for file in window.validation],
            "workers": data.get("workers", 0),
            "shuffle_batches": data.get("shuffle_batches", 64),
        },
        schedule={"max_steps": steps, **({} if window.validation or not is_plateau else {"kind": "constant"})},
        run={**own, "start_from": str(start), "seed": config.run.seed + generation},
    )


def format_train_command(config: Path, resume: Path | None, processes: int) -> list[str]:
    script = [str(SCRIPTS / "train.py"), "--config", str(config)]
    if resume is not None:
        script += ["--resume", str(resume)]
    if processes == 1:
        return [sys.executable, *script]
    return [sys.executable, "-m", "torch.distributed.run", "--standalone", f"--nproc-per-node={processes}", *script]


def format_export_command(
    weights: Path, out: Path, name: str, config: LoopConfig, held_out: list[str], *, is_trained: bool
) -> list[str]:
    command = [sys.executable, str(SCRIPTS / "export.py"), str(weights), "--out", str(out), "--name", name]
    # For random weights there are no positions yet to calibrate int8 on.
    command += ["--precision", config.export.precision if is_trained else "fp32"]
    if held_out and config.export.verify_positions > 0:
        command += ["--positions", str(config.export.verify_positions), "--shards", *held_out]
    return command


@dataclass(frozen=True)
class Losses:
    policy: float
    value: float


def read_losses(folder: Path) -> Losses | None:
    """Losses of the last evaluation on held-out positions, else of the last training steps."""
    rows = [row for row in read_history(folder / "history.jsonl") if "policy" in row and "value" in row]
    held_out = [row for row in rows if row["kind"] == "validation"]
    chosen = held_out or rows
    return Losses(chosen[-1]["policy"], chosen[-1]["value"]) if chosen else None
