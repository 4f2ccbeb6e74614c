"""Loads the network to explain: a checkpoint of train.py, or an ONNX file that the engine can use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch

from ..checkpoint import read_checkpoint
from ..export.graph import ExportNetwork, build_network
from ..export.verify import create_session
from ..model.network import Network
from .position import ExplainError

# planes [N, P, 8, 8] → (policy logits [N, moves], W − L [N]), both for the mover
Evaluate = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class ExplainedNetwork:
    name: str
    input: str
    policy: str
    evaluate: Evaluate
    torch_network: Network | None  # None for ONNX files, which have no gradients


def load_network(path: Path) -> ExplainedNetwork:
    """Raises ExplainError, CheckpointError."""
    if not path.is_file():
        raise ExplainError(f"there is no network file {path}")
    return _load_onnx(path) if path.suffix == ".onnx" else _load_checkpoint(path)


def win_minus_loss(value: np.ndarray) -> np.ndarray:
    return value[:, 0] if value.shape[1] == 1 else value[:, 0] - value[:, 2]


def _load_checkpoint(path: Path) -> ExplainedNetwork:
    network, config = build_network(read_checkpoint(path))
    exported = ExportNetwork(network).eval()

    @torch.no_grad()
    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        policy, value, *_ = exported(torch.from_numpy(planes))
        return policy.numpy(), win_minus_loss(value.numpy())

    return ExplainedNetwork(config.run.name, config.model.input, config.model.policy, evaluate, network)


def _load_onnx(path: Path) -> ExplainedNetwork:
    try:
        model = onnx.load(path)
    except Exception as error:  # protobuf raises many kinds for damaged files
        raise ExplainError(f"{path} is not a readable ONNX file ({error})") from None
    told = {entry.key: entry.value for entry in model.metadata_props}
    session = create_session(model)
    planes_input = session.get_inputs()[0]
    dtype = np.float16 if "float16" in planes_input.type else np.float32
    outputs = {output.name: output.shape[-1] for output in session.get_outputs()}
    policy = next((name for name, size in outputs.items() if isinstance(size, int) and size > 100), None)
    value = next((n for n in outputs if "wdl" in n), None) or next((n for n in outputs if "value" in n), None)
    if policy is None or value is None:
        raise ExplainError(f"{path} has no policy or no value output, but {', '.join(outputs)}")

    def evaluate(planes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        logits, values = session.run([policy, value], {planes_input.name: planes.astype(dtype)})
        return logits.astype(np.float32), win_minus_loss(values.astype(np.float32))

    # lc0's own exports have no such metadata and use these encodings.
    encoding, numbering = told.get("sardonyx.input", "lc0-112"), told.get("sardonyx.policy", "lc0-1858")
    return ExplainedNetwork(told.get("sardonyx.name", path.stem), encoding, numbering, evaluate, None)
