"""Repeats the training of a finished generation from its record: the same files in the same order, seed and precision.

On the same processor with the same number of threads the weights come out the same to the last bit; elsewhere sums may be
rounded in another order, so the largest difference is told.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import yaml

from ..base.errors import TrainError
from ..base.files import compute_digest, read_json, remove, write_bytes
from ..config.loop_config import LoopConfig
from ..tasks.process import run_process
from .state import Folders
from .training import format_train_command


def replay(config: LoopConfig, generation: int, say: Callable[[str], None]) -> float:
    """Returns the largest difference of a weight. Raises TrainError for what is missing or no longer the same."""
    folders = Folders(config.folder)
    path = folders.version(generation)
    if not path.is_file():
        raise TrainError(f"{config.folder} has no record of generation {generation}")
    version = read_json(path)
    _check(folders, generation, version)
    out = folders.root / "replays" / f"{generation:04d}"
    remove(out)
    out.mkdir(parents=True)
    training = yaml.safe_load((folders.generation(generation, "training") / "train.yaml").read_text(encoding="utf-8"))
    resolved = version["resolved"]  # `auto` may choose otherwise today
    if resolved is None:
        raise TrainError(f"{path} does not say in which precision generation {generation} was trained")
    training["run"] |= {"out": str(out), "precision": resolved["precision"], "threads": resolved["threads"]}
    write_bytes(out / "train.yaml", yaml.safe_dump(training).encode())
    say(f"trains generation {generation} again from {sum(row['positions'] for row in version['data']):,} positions")
    command = format_train_command(out / "train.yaml", None, version["config"]["training"]["processes"])
    run_process(command, out / "training.out", out / "training.txt")
    return _compare(out / "last.pt", folders.checkpoint(generation))


def _check(folders: Folders, generation: int, version: dict[str, Any]) -> None:
    wanted = [(folders.checkpoint(generation), version["digests"]["checkpoint"]), (folders.checkpoint(version["parent"]), None)]
    wanted += [(folders.generation(generation, "training") / "train.yaml", version.get("training"))]
    wanted += [(folders.root / row["file"], row.get("digest")) for row in version["data"]]
    for path, digest in wanted:
        if not path.is_file():
            raise TrainError(f"generation {generation} cannot be repeated: {path} is gone")
        if digest is not None and compute_digest(path) != digest:
            raise TrainError(f"generation {generation} cannot be repeated: {path} has changed since")


def _compare(made: Path, kept: Path) -> float:
    from ..training.checkpoint import read_checkpoint

    first, second = (read_checkpoint(path)["average"] for path in (made, kept))
    return max(float((first[name].double() - second[name].double()).abs().max()) for name in second if second[name].numel() > 0)
