#!/usr/bin/env python3
"""Makes the bundled networks of a checkpoint: `bundle.py runs/sardonyx-96x8/last.pt --name "Sardonyx 96x8"`.

It writes `default.onnx` (fp32), `default-int8.onnx` (for CPUs) and their entries in `bundled.json`, from which the engine chooses
by backend. If the int8 network loses too much on held-out positions, compared with fp32, nothing is written. With `--large` the
checkpoint becomes `default-large.onnx`, for devices; with `--light` it becomes `light.onnx`, for pages. The others stay as they
are. `--light` also takes an exported network: `bundle.py runs/light.onnx --light` copies the file and writes its entry.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx
from export import Positions

from sardonyx_train.checkpoint import CheckpointError, read_checkpoint
from sardonyx_train.config import TrainingConfig
from sardonyx_train.data.shards import ShardError
from sardonyx_train.export.graph import ModelCard, build_network, create_onnx
from sardonyx_train.export.quantise import quantise
from sardonyx_train.export.verify import Verification, verify
from sardonyx_train.files import name_part, publish, write_bytes
from sardonyx_train.model.network import Network

MANIFEST = "bundled.json"
_DEVICES = ["cuda", "tensorrt", "dml", "coreml", "webgpu"]
_LIGHT = {"file": "light.onnx", "precision": "fp32", "backends": ["wasm"]}
_LARGEST_LOSS = 0.005  # of top-1 as a share, and of the value error


class BundleError(ValueError):
    """The network cannot be bundled; the text says why."""


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make the bundled networks of a checkpoint.")
    parser.add_argument("checkpoint", type=Path, help="with --light also an exported .onnx network")
    parser.add_argument("--name", help="name inside the files; default: the run's")
    parser.add_argument("--training", help="one line on data and recipe inside the files; default: from the checkpoint")
    parser.add_argument("--int8-checkpoint", type=Path, help="fine-tuned checkpoint for int8, if the other loses too much")
    parser.add_argument("--large", action="store_true", help="make only the larger network, for devices")
    parser.add_argument("--light", action="store_true", help="make only the light network, for pages")
    parser.add_argument("--shards", nargs="*", default=["runs/shards/test"], help="held-out shards to verify on")
    parser.add_argument("--positions", type=int, default=10_000, help="positions to verify on (default 10,000)")
    parser.add_argument("--calibration", nargs="*", help="shards to calibrate on; default: the run's training shards")
    parser.add_argument("--calibration-positions", type=int, default=2048)
    parser.add_argument("--out", type=Path, default=Path("models"))
    options = parser.parse_args(arguments)
    try:
        networks = make_networks(options)
        write_bundle(options.out, networks)
    except (CheckpointError, ShardError, ValueError, OSError) as error:
        print(f"bundle: {error}", file=sys.stderr)
        return 1
    return 0


@dataclass(frozen=True)
class Bundled:
    """A network and its entry in the manifest; the entry has no digest yet."""

    model: onnx.ModelProto
    entry: dict[str, Any]


def make_networks(options: argparse.Namespace) -> list[Bundled]:
    """The networks that the options ask for. Raises BundleError if one of them is not good enough."""
    if not (options.large or options.light):
        return make_default_networks(options)
    if options.large and options.light:
        raise BundleError("--large and --light make one network each: choose one")
    if options.int8_checkpoint is not None:
        raise BundleError("--large and --light make no int8 network: leave out --int8-checkpoint")
    if options.large:
        return [make_single_network(options, {"file": "default-large.onnx", "precision": "fp32", "backends": _DEVICES})]
    if options.checkpoint.suffix == ".onnx":
        return [take_exported_network(options.checkpoint)]
    return [make_single_network(options, _LIGHT)]


def make_default_networks(options: argparse.Namespace) -> list[Bundled]:
    """Both networks, verified on the same positions and targets."""
    network, config, model = _export(options.checkpoint, options)
    held_out = Positions(options.shards, config, options.positions, "verifying")
    exact = verify(model, network, held_out, held_out.value_planes)
    refuse_losses(exact.accuracy_torch, exact.value_mae_torch, exact)
    entry = {"input": config.model.input, "policy": config.model.policy}
    fp32 = Bundled(model, {"file": "default.onnx", "precision": "fp32", "backends": _DEVICES, **entry})
    if options.int8_checkpoint is not None:
        network, config, model = _export(options.int8_checkpoint, options)
        if entry != {"input": config.model.input, "policy": config.model.policy}:
            raise BundleError(f"{options.int8_checkpoint} has another input or policy format than {options.checkpoint}")
    data = Positions(options.calibration or config.data.train, config, options.calibration_positions, "calibrating")
    small = quantise(model, data, data.value_planes)
    rounded = verify(small, network, held_out, held_out.value_planes)
    refuse_losses(exact.accuracy, exact.value_mae, rounded)
    int8 = Bundled(small, {"file": "default-int8.onnx", "precision": "int8", "backends": ["cpu"], **entry})
    for made, result in ((fp32, exact), (int8, rounded)):
        print(f"{made.entry['file']}: {result.format()}")
    return [fp32, int8]


def make_single_network(options: argparse.Namespace, entry: dict[str, Any]) -> Bundled:
    """In fp32; devices that are faster in fp16 convert it themselves. Raises BundleError if the export differs."""
    network, config, model = _export(options.checkpoint, options)
    held_out = Positions(options.shards, config, options.positions, "verifying")
    exact = verify(model, network, held_out, held_out.value_planes)
    refuse_losses(exact.accuracy_torch, exact.value_mae_torch, exact)
    print(f"{entry['file']}: {exact.format()}")
    return Bundled(model, {**entry, "input": config.model.input, "policy": config.model.policy})


def take_exported_network(place: Path) -> Bundled:
    """A light network as `export.py` wrote and verified it. Raises BundleError if it is not one of ours in fp32."""
    try:
        model = onnx.load(place)
    except Exception as error:  # protobuf has many
        raise BundleError(f"{place} is not an ONNX file: {error}") from error
    metadata = {prop.key: prop.value for prop in model.metadata_props}
    is_exact = all(weights.data_type != onnx.TensorProto.FLOAT16 for weights in model.graph.initializer)
    if not is_exact or not {"sardonyx.input", "sardonyx.policy"} <= metadata.keys() or "sardonyx.precision" in metadata:
        raise BundleError(f"{place} is not a network in single precision that export.py wrote")
    return Bundled(model, {**_LIGHT, "input": metadata["sardonyx.input"], "policy": metadata["sardonyx.policy"]})


def _export(place: Path, options: argparse.Namespace) -> tuple[Network, TrainingConfig, onnx.ModelProto]:
    state = read_checkpoint(place)
    network, config = build_network(state)
    progress = state["progress"]
    training = options.training or f"{progress['positions']:,} positions in {progress['step']:,} steps"
    card = ModelCard(options.name or config.run.name, config.run.licence, training)
    return network, config, create_onnx(network, config.model, card)


def refuse_losses(accuracy: float, value_mae: float, result: Verification) -> None:
    """`accuracy`, `value_mae`: figures of the original network on the same positions and targets."""
    top, value = accuracy - result.accuracy, result.value_mae - value_mae
    if not max(top, value) <= _LARGEST_LOSS:  # refuses NaN too
        raise BundleError(
            f"rounding costs {top:.2%} of top-1 and {value:.4f} of value error; "
            "fine-tune with run.quantisation_aware and name the result with --int8-checkpoint"
        )


def write_bundle(folder: Path, networks: list[Bundled]) -> None:
    """Writes all files under temporary names, then renames them and writes the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    for made in networks:
        onnx.save(made.model, name_part(folder / made.entry["file"]))
    for made in networks:
        publish(name_part(folder / made.entry["file"]), folder / made.entry["file"])
    write_entries(folder, [made.entry for made in networks])


def write_entries(folder: Path, entries: list[dict[str, Any]]) -> None:
    """Puts the entries into the manifest. A known file keeps its place, its backends, and fields that only the manifest has, such as
    `eloAtEqualNodes`: measure that anew after a new training. A new file takes its backends from the others.
    """
    manifest = folder / MANIFEST
    content = json.loads(manifest.read_text()) if manifest.exists() else {"networks": []}
    networks = content["networks"]
    for entry in entries:
        digest = hashlib.sha256((folder / entry["file"]).read_bytes()).hexdigest()
        known = next((network for network in networks if network["file"] == entry["file"]), None)
        if known is not None:
            known.update({**entry, "backends": known["backends"], "sha256": digest})
            continue
        for other in networks:
            other["backends"] = [name for name in other["backends"] if name not in entry["backends"]]
        networks.append({**entry, "sha256": digest})
    write_bytes(manifest, (json.dumps(content, indent=2) + "\n").encode())


if __name__ == "__main__":
    sys.exit(main())
