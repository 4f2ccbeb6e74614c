"""Reads the weights back from an ONNX file of `create_onnx`, for networks whose checkpoint is lost.

The exporter renames, transposes and folds weights. To find each weight, this module exports a network of the same shape with
random weights and looks for their numbers in that file.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import onnx
import torch
from onnx import numpy_helper

from ..config import ModelConfig
from ..model.fold import compute_gain, fold_norms
from ..model.layers import NORM_EPSILON
from ..model.network import Network
from .graph import ModelCard, create_onnx

# Forms of a weight in the file: unchanged, transposed, or one number per channel.
_FORMS: tuple[Callable[[np.ndarray], np.ndarray], ...] = (lambda x: x, lambda x: x.T, lambda x: x.reshape(1, -1, 1, 1))
_STATISTICS = ("weight", "bias", "running_mean", "running_var")


def recover(model: onnx.ModelProto, config: ModelConfig) -> Network:
    """Returns the network with its norms folded (`norm: none`), in evaluation mode; `config` must say `norm: batch`.

    Raises ValueError if the file was not exported from such a network in fp32.
    """
    probe = _create_probe(config)
    written = {i.name: numpy_helper.to_array(i) for i in create_onnx(probe, config, ModelCard("", "", "")).graph.initializer}
    given = {i.name: numpy_helper.to_array(i) for i in model.graph.initializer}
    if {name: x.shape for name, x in written.items()} != {name: x.shape for name, x in given.items()}:
        raise ValueError("the file does not contain the weights of such a network in fp32, or an earlier sardonyx-train export wrote it")
    folded, folded_config = fold_norms(probe, config)
    state = dict(folded.state_dict())
    for name in folded.state_dict():
        state[name] = _find_gain(name, given) if ".gate." in name else _find(name, state[name].numpy(), written, given)
    network = Network(folded_config)
    network.load_state_dict(state)
    return network.eval()


@torch.no_grad()
def _create_probe(config: ModelConfig) -> Network:
    network = Network(config).eval()
    for tensor in network.state_dict().values():
        if tensor.is_floating_point():
            tensor.copy_(torch.rand(tensor.shape) + 0.5)
    return network


def _find(name: str, wanted: np.ndarray, written: dict[str, np.ndarray], given: dict[str, np.ndarray]) -> torch.Tensor:
    for place, numbers in written.items():
        for form in _FORMS:
            formed = form(numbers)
            if formed.shape == wanted.shape and np.allclose(formed, wanted, rtol=1e-4, atol=1e-6):
                return torch.from_numpy(form(given[place]).copy())
    raise ValueError(f"{name} is not in the file")


def _find_gain(name: str, given: dict[str, np.ndarray]) -> torch.Tensor:
    """A gate's norm is in the file under its own name, because there is no convolution to fold it into."""
    gate, _, part = name.rpartition(".")
    numbers = (torch.from_numpy(given[f"network.{gate}.{key}"].copy()) for key in _STATISTICS)
    return dict(zip(("weight", "bias"), compute_gain(*numbers, NORM_EPSILON)))[part]
