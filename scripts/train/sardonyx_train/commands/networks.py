"""The commands that make networks and checkpoints of others: `export`, `join`, `weights`, `average`."""

import math
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import onnx
import torch

from ..base.errors import TrainError
from ..base.files import write_bytes
from ..base.progress_display import ProgressDisplay
from ..config.training_config import TrainingConfig
from ..data.batch import Batch, BatchMaker
from ..data.shards import find_shards, read_wanted_format, require_rows
from ..data.stream import read_sequentially
from ..export.graph import ModelCard, build_network, convert_to_half, create_onnx
from ..export.passes import pack_tables
from ..export.phases import join_phases
from ..export.quantise import quantise
from ..export.verify import verify
from ..model.network import Network
from ..training.checkpoint import read_checkpoint, write_weights

_BATCH = 128


class Positions:
    """Minibatches of some shards, for calibration or verification; shows its progress."""

    def __init__(self, places: list[str], config: TrainingConfig, count: int, purpose: str) -> None:
        self._files, self._count, self._purpose = find_shards(places), count, purpose
        form = read_wanted_format(self._files, config.model.input, config.model.policy)
        require_rows(self._files)
        self._maker = BatchMaker(form, config.targets, mirror=False)

    def __iter__(self) -> Iterator[Batch]:
        with ProgressDisplay("position", self._count, self._purpose) as progress:
            for batch in read_sequentially(self._files, self._maker, _BATCH, self._count):
                yield batch
                progress.advance(batch.size)


def export(options: Namespace) -> int:
    """Writes the file and prints its size, and with `shards` how it differs from the checkpoint."""
    options.out.parent.mkdir(parents=True, exist_ok=True)
    network, config, model = create_model(options.checkpoint, options.name, options.training)
    if options.precision == "fp16":
        model = convert_to_half(model)
    elif options.precision == "int8":
        measured = Positions(options.calibration or config.data.train, config, options.calibration_positions, "calibrating")
        model = quantise(model, measured, options.keep)
    if options.shards:
        held_out = Positions(options.shards, config, options.positions, "verifying")
        verification = verify(model, network, held_out)
        print(verification.format())
        if not math.isfinite(verification.policy_kl):
            raise ValueError(f"{options.checkpoint} has weights whose outputs are not finite")
    pack_tables(model)
    write_bytes(options.out, model.SerializeToString())
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")
    return 0


def join(options: Namespace) -> int:
    models = [read_model(path) for path in options.networks]
    write_bytes(options.out, join_phases(models, options.men, options.name).SerializeToString())
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")
    return 0


def read_model(path: Path) -> onnx.ModelProto:
    try:
        return onnx.load(path)
    except Exception as error:  # protobuf has many
        raise TrainError(f"cannot read {path}: {error}") from None


def create_model(checkpoint: Path, name: str | None, training: str | None) -> tuple[Network, TrainingConfig, onnx.ModelProto]:
    """The one road to a graph in fp32. `name` and `training`: its metadata; by default the run's name and its length."""
    state = read_checkpoint(checkpoint)
    network, config = build_network(state)
    progress = state["progress"]
    line = training or f"{progress['positions']:,} positions in {progress['step']:,} steps"
    return network, config, create_onnx(network, config.model, ModelCard(name or config.run.name, config.run.licence, line))


def weights(options: Namespace) -> int:
    size = keep_halves(options.checkpoint, options.out)
    print(f"{options.out}: {size:,} bytes; start a run with it by --set run.start_from={options.out}")
    return 0


def keep_halves(checkpoint: Path, out: Path) -> int:
    """Writes the averaged weights alone, in half precision: enough to train on from, in half the size of the exported file. Returns bytes."""
    state = read_checkpoint(checkpoint)
    out.parent.mkdir(parents=True, exist_ok=True)
    write_weights(out, _forget_places(state["config"]), {name: _halve(tensor) for name, tensor in state["average"].items()})
    return out.stat().st_size


def _halve(tensor: torch.Tensor) -> torch.Tensor:
    """A tensor that half precision does not hold stays as it is."""
    half = tensor.half()
    return half if tensor.is_floating_point() and bool(half.isfinite().all()) else tensor


def _forget_places(config: dict[str, Any]) -> dict[str, Any]:
    """Without paths of the machine that trained."""
    data = {**config["data"], "train": [], "validation": []}
    run = {**config["run"], "out": "runs/train", "start_from": None, "start_moments": False, "early_stopping": 0}
    schedule = {**config["schedule"], "kind": "constant"} if config["schedule"]["kind"] == "plateau" else config["schedule"]
    return {**config, "data": data, "run": run, "schedule": schedule}


def average(options: Namespace) -> int:
    """Two short runs with other seeds, or on other data, often make a better network together than either does alone (Wortsman et
    al. 2022, "Model soups"). Runs with different beginnings do not. Judge the result by `assess` and by a match."""
    states = [read_checkpoint(path) for path in options.checkpoints]
    parts = [state["average"] for state in states]
    shapes = [{name: tensor.shape for name, tensor in part.items()} for part in parts]
    if any(other != shapes[0] for other in shapes):
        raise TrainError("the checkpoints hold networks of different shapes")
    # Counts, such as those of steps, are the first network's.
    mean = {
        name: torch.stack([part[name].double() for part in parts]).mean(0).to(tensor.dtype) if tensor.is_floating_point() else tensor
        for name, tensor in parts[0].items()
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    write_weights(options.out, states[0]["config"], mean)
    print(f"{options.out}: the mean of {len(states)} checkpoints")
    return 0
