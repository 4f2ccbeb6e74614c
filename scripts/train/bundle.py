#!/usr/bin/env python3
"""Checkpoint → the networks that come with the engine: `bundle.py runs/sardonyx-96x8/last.pt --name "Sardonyx 96x8"`.

Writes `default.onnx` (fp32, for devices), `default-int8.onnx` (for processors) and their entries of `bundled.json`, from
which the engine chooses by backend. An int8 network that loses too much on held-out positions is refused.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from pathlib import Path

import onnx
from export import Positions

from sardonyx_train.checkpoint import CheckpointError, read_checkpoint
from sardonyx_train.config import TrainingConfig
from sardonyx_train.data.shards import ShardError
from sardonyx_train.export.graph import ModelCard, build_network, create_onnx
from sardonyx_train.export.quantise import quantise
from sardonyx_train.export.verify import Verification, verify

MANIFEST = "bundled.json"
_DEVICES = ["cuda", "tensorrt", "dml", "coreml", "webgpu"]
_LARGEST_LOSS = 0.005  # of top-1 as a share, and of the value error


class BundleError(ValueError):
    """What is wrong with a network that was to be bundled."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make the bundled networks of a checkpoint.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--name", help="name inside the files; default: the run's")
    parser.add_argument("--int8-checkpoint", type=Path, help="the fine-tuned one, when the other loses too much in int8")
    parser.add_argument("--shards", nargs="*", default=["runs/shards/test"], help="held-out shards to verify on")
    parser.add_argument("--positions", type=int, default=10_000, help="positions to verify on (default 10,000)")
    parser.add_argument("--calibration", nargs="*", help="shards to calibrate on; default: the run's training shards")
    parser.add_argument("--calibration-positions", type=int, default=2048)
    parser.add_argument("--out", type=Path, default=Path("models"))
    options = parser.parse_args(arguments)
    try:
        for precision, file, backends in (
            ("fp32", "default.onnx", _DEVICES),
            ("int8", "default-int8.onnx", ["cpu"]),
        ):
            place = options.int8_checkpoint if precision == "int8" and options.int8_checkpoint else options.checkpoint
            model, config, result = _create(place, precision, options)
            print(f"{file}: {result.format()}")
            onnx.save(model, options.out / file)
            entry = {"file": file, "precision": precision, "backends": backends}
            write_entry(options.out, {**entry, "input": config.model.input, "policy": config.model.policy})
    except (BundleError, CheckpointError, ShardError) as error:
        print(f"bundle: {error}", file=sys.stderr)
        return 1
    return 0


def _create(
    place: Path, precision: str, options: argparse.Namespace
) -> tuple[onnx.ModelProto, TrainingConfig, Verification]:
    state = read_checkpoint(place)
    network, config = build_network(state)
    progress = state["progress"]
    training = f"{progress['positions']:,} positions in {progress['step']:,} steps"
    model = create_onnx(network, config.model, ModelCard(options.name or config.run.name, config.run.licence, training))
    if precision == "int8":
        places = options.calibration or config.data.train
        data = Positions(places, config, options.calibration_positions, "calibrating")
        model = quantise(model, data, data.value_planes)
    data = Positions(options.shards, config, options.positions, "verifying")
    result = verify(model, network, data, data.value_planes)
    refuse_losses(result)
    return model, config, result


def refuse_losses(result: Verification) -> None:
    top, value = result.accuracy_torch - result.accuracy, result.value_mae - result.value_mae_torch
    if max(top, value) > _LARGEST_LOSS:
        raise BundleError(
            f"rounding costs {top:.2%} of top-1 and {value:.4f} of value error; "
            "fine-tune with run.quantisation_aware and name the result with --int8-checkpoint"
        )


def write_entry(folder: Path, entry: dict[str, object]) -> None:
    """Into the folder's manifest, in place of the entry of the same file; a backend belongs to its latest entry."""
    manifest = folder / MANIFEST
    networks = json.loads(manifest.read_text())["networks"] if manifest.exists() else []
    digest = hashlib.sha256((folder / str(entry["file"])).read_bytes()).hexdigest()
    others = [known for known in networks if known["file"] != entry["file"]]
    for known in others:
        known["backends"] = [name for name in known["backends"] if name not in entry["backends"]]
    manifest.write_text(json.dumps({"networks": [*others, {**entry, "sha256": digest}]}, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
