#!/usr/bin/env python3
"""Exports a checkpoint to ONNX: `export.py runs/sardonyx-64x6/last.pt --out models/default.onnx --shards runs/shards/test`."""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Iterator
from pathlib import Path

import torch

from sardonyx_train.checkpoint import CheckpointError, read_checkpoint
from sardonyx_train.config import TrainingConfig
from sardonyx_train.data.batch import Batch, BatchMaker
from sardonyx_train.data.shards import ShardError, find_shards, read_wanted_format
from sardonyx_train.data.stream import read_sequentially
from sardonyx_train.export.graph import ModelCard, build_network, convert_to_half, create_onnx
from sardonyx_train.export.quantise import quantise
from sardonyx_train.export.verify import verify
from sardonyx_train.files import write_bytes
from sardonyx_train.progress_display import ProgressDisplay

_BATCH = 128


class Positions:
    """Minibatches of some shards, for calibration or verification; shows its progress."""

    def __init__(self, places: list[str], config: TrainingConfig, count: int, purpose: str) -> None:
        self._files = find_shards(places)
        self._count = count
        self._purpose = purpose
        form = read_wanted_format(self._files, config.model.input, config.model.policy)
        self._maker = BatchMaker(form, config.targets, mirror=False)
        self.value_planes = torch.tensor(form.value_planes, dtype=torch.int64)

    def __iter__(self) -> Iterator[Batch]:
        with ProgressDisplay("position", self._count, self._purpose) as progress:
            for batch in read_sequentially(self._files, self._maker, _BATCH, self._count):
                yield batch
                progress.advance(batch.size)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Export a checkpoint's averaged network to ONNX and verify it.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="ONNX file to write")
    parser.add_argument("--precision", choices=["fp32", "fp16", "int8"], default="fp32")
    parser.add_argument("--name", help="name inside the file; default: the run's")
    parser.add_argument("--training", help="one line on data and recipe; default: from the checkpoint")
    parser.add_argument("--shards", nargs="*", default=[], help="held-out shards to verify on")
    parser.add_argument("--positions", type=int, default=10_000, help="positions to verify on (default 10,000)")
    parser.add_argument("--calibration", nargs="*", help="int8: shards to calibrate on; default: the run's training shards")
    parser.add_argument("--calibration-positions", type=int, default=2048, help="int8: positions to calibrate on (default 2,048)")
    parser.add_argument("--keep", nargs="*", default=[], metavar="PART", help="int8: convolutions to leave fp32, e.g. stem")
    options = parser.parse_args(arguments)
    try:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        state = read_checkpoint(options.checkpoint)
        network, config = build_network(state)
        progress = state["progress"]
        training = options.training or f"{progress['positions']:,} positions in {progress['step']:,} steps"
        model = create_onnx(network, config.model, ModelCard(options.name or config.run.name, config.run.licence, training))
        if options.precision == "fp16":
            model = convert_to_half(model)
        elif options.precision == "int8":
            places = options.calibration or config.data.train
            positions = Positions(places, config, options.calibration_positions, "calibrating")
            model = quantise(model, positions, positions.value_planes, options.keep)
        if options.shards:
            positions = Positions(options.shards, config, options.positions, "verifying")
            verification = verify(model, network, positions, positions.value_planes)
            print(verification.format())
            if not math.isfinite(verification.policy_kl):
                raise ValueError(f"{options.checkpoint} has weights whose outputs are not finite")
        write_bytes(options.out, model.SerializeToString())
    except (CheckpointError, ShardError, ValueError, OSError) as error:
        print(f"export: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
