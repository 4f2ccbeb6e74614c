"""The command `bundle`: makes the bundled networks of a checkpoint.

It writes `default.onnx` (fp32), `default-int8.onnx` (for CPUs) and their entries in `bundled.json`, from which the engine chooses
by backend; and `default.pt`, the weights to train on from. If the int8 network loses too much on held-out positions, compared with
fp32, nothing is written. With `--large` the checkpoint becomes `default-large.onnx`, for devices; with `--light` it becomes
`light.onnx`, for pages, or another file that is named. The others stay as they are.
"""

import hashlib
import json
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import onnx

from ..base.errors import TrainError
from ..base.files import name_part, publish, read_json, write_bytes
from ..export.passes import pack_tables
from ..export.quantise import quantise
from ..export.verify import Verification, verify
from .networks import Positions, create_model, keep_halves

MANIFEST = "bundled.json"
_DEVICES = ["cuda", "tensorrt", "dml", "coreml", "webgpu"]
_LARGEST_LOSS = 0.005  # of top-1 as a share, and of the value error


def bundle(options: Namespace) -> int:
    read_manifest(options.out)  # a damaged one is said before the work
    networks = make_networks(options)
    write_bundle(options.out, networks)
    name = Path(networks[0].entry["file"]).with_suffix(".pt")
    size = keep_halves(options.checkpoint, options.out / name)
    print(f"{name}: {size:,} bytes, the weights of {networks[0].entry['file']} to train on from")
    return 0


@dataclass(frozen=True)
class Bundled:
    """A network and its entry in the manifest; the entry has no digest yet."""

    model: onnx.ModelProto
    entry: dict[str, Any]


def make_networks(options: Namespace) -> list[Bundled]:
    """The networks that the options ask for. Raises TrainError if one of them is not good enough."""
    if options.large and options.light:
        raise TrainError("--large and --light make one network each: choose one")
    network, config, model = create_model(options.checkpoint, options.name, options.training)
    held_out = Positions(options.shards, config, options.positions, "verifying")
    exact = verify(model, network, held_out)
    refuse_losses(exact.accuracy_torch, exact.value_mae_torch, exact)
    name = "default-large.onnx" if options.large else options.light or "default.onnx"
    form = {"input": config.model.input, "policy": config.model.policy}
    # Devices that are faster in fp16 convert the network themselves.
    entry = {"file": name, "precision": "fp32", "backends": ["wasm"] if options.light else _DEVICES, **form}
    print(f"{name}: {exact.format()}")
    if options.large or options.light:
        return [Bundled(model, entry)]
    data = Positions(options.calibration or config.data.train, config, options.calibration_positions, "calibrating")
    small = quantise(model, data)
    rounded = verify(small, network, held_out)
    refuse_losses(exact.accuracy, exact.value_mae, rounded)
    print(f"default-int8.onnx: {rounded.format()}")
    return [Bundled(model, entry), Bundled(small, {"file": "default-int8.onnx", "precision": "int8", "backends": ["cpu"], **form})]


def refuse_losses(accuracy: float, value_mae: float, result: Verification) -> None:
    """`accuracy`, `value_mae`: figures of the original network on the same positions and targets."""
    top, value = accuracy - result.accuracy, result.value_mae - value_mae
    if not max(top, value) <= _LARGEST_LOSS:  # refuses NaN too
        advice = "calibrate it on more positions (--calibration-positions)"
        raise TrainError(f"rounding costs {top:.2%} of top-1 and {value:.4f} of value error: {advice}")


def write_bundle(folder: Path, networks: list[Bundled]) -> None:
    """Writes all files under temporary names, then renames them and writes the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    for made in networks:
        pack_tables(made.model)
        onnx.save(made.model, name_part(folder / made.entry["file"]))
    for made in networks:
        publish(name_part(folder / made.entry["file"]), folder / made.entry["file"])
    write_entries(folder, [made.entry for made in networks])


def write_entries(folder: Path, entries: list[dict[str, Any]]) -> None:
    """Puts the entries into the manifest. A known file keeps its place, its backends, and fields that only the manifest has, such as
    `processor`. A new file takes its backends from the others.
    """
    content = read_manifest(folder)
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
    write_bytes(folder / MANIFEST, (json.dumps(content, indent=2) + "\n").encode())


def read_manifest(folder: Path) -> dict[str, Any]:
    return read_json(folder / MANIFEST) if (folder / MANIFEST).exists() else {"networks": []}
