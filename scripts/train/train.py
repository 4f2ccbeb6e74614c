#!/usr/bin/env python3
"""Train a network from Arrow shards: `train.py --config configs/sardonyx-64x6.yaml`, or under `torchrun` on many GPUs."""

from __future__ import annotations

import argparse
import ctypes.util
import os
import signal
import sys
from pathlib import Path

from sardonyx_train.checkpoint import CheckpointError
from sardonyx_train.config import ConfigError, TrainingConfig, describe_config, load_config
from sardonyx_train.data.shards import ShardError
from sardonyx_train.distributed import join, leave
from sardonyx_train.lock import FolderBusy
from sardonyx_train.trainer import Trainer

# The exit status of an interrupted program, so that the caller does not take the run for finished.
_STOPPED_STATUS = 130


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Train a Sardonyx network from Arrow shards.")
    parser.add_argument("--config", type=Path, help="YAML file; see configs/ and --describe")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="override one key")
    parser.add_argument("--resume", nargs="?", const="auto", metavar="FILE", help="continue from FILE or the run's last.pt")
    parser.add_argument("--overwrite", action="store_true", help="start anew in a folder that holds a run, and delete that run")
    parser.add_argument("--describe", action="store_true", help="print every key with its default, and exit")
    options = parser.parse_args(arguments)
    if options.describe:
        print(describe_config())
        return 0
    if options.config is None:
        parser.error("--config is needed")
    try:
        config = load_config(options.config, options.set)
        resume = None
        if options.resume is not None:
            resume = Path(config.run.out) / "last.pt" if options.resume == "auto" else Path(options.resume)
        is_finished = train(config, resume, options.overwrite)
    except (ConfigError, ShardError, CheckpointError, FolderBusy, ValueError, OSError) as error:
        print(f"train: {error}", file=sys.stderr)
        return 1
    finally:
        leave()
    return 0 if is_finished else _STOPPED_STATUS


def train(config: TrainingConfig, resume: Path | None, overwrite: bool = False) -> bool:
    """Returns whether the run reached its end; False if it was stopped."""
    trainer = Trainer(config, join(config.run.device), resume, overwrite)
    _stop_on_signals(trainer)
    trainer.run()
    trainer.place.wait_for_all()
    return not trainer.is_stopped


def _stop_on_signals(trainer: Trainer) -> None:
    """The first interrupt or termination signal ends the run with a checkpoint, the second at once."""

    def stop(number: int, _frame: object) -> None:
        trainer.request_stop()
        signal.signal(number, signal.SIG_DFL)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)


def _restart_with_tcmalloc() -> None:
    """Loads tcmalloc on Linux, if it is installed: glibc returns every large tensor to the system and faults it in again.

    LD_PRELOAD is read only when a program starts, so this process restarts itself once.
    """
    preload = os.environ.get("LD_PRELOAD", "")
    if not sys.platform.startswith("linux") or "malloc" in preload:
        return
    library = ctypes.util.find_library("tcmalloc_minimal") or ctypes.util.find_library("tcmalloc")
    if library is not None:
        environment = {**os.environ, "LD_PRELOAD": f"{library}:{preload}" if preload else library}
        os.execve(sys.executable, [sys.executable, *sys.argv], environment)


if __name__ == "__main__":
    _restart_with_tcmalloc()
    sys.exit(main())
