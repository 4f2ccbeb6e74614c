"""Adds batch norms to a network whose norms were folded. The function stays the same, and training can continue.

The mean and variance of each channel are measured on positions, and the new norm is set to undo them. Folding has also changed
the size of the matrices. Muon's steps all have the same size, so a small matrix would change direction too fast. Therefore
matrices that became small are scaled up to the mean singular value of trained ones; the norm behind them undoes that too.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import torch
from torch import nn

from .layers import NORM_EPSILON, ConvNorm
from .network import Network
from .sight import SightBlock

if TYPE_CHECKING:
    from ..config import ModelConfig

_TRAINED_SINGULAR_VALUE = 3.0  # mean of matrices without a norm after 36,000 steps of Muon at 0.02: 3.3 to 3.6
_SMALLEST_VARIANCE = 1e-8


class _Moments:
    """Computes mean and variance of each channel over all tensors [N, C, 8, 8] that are added."""

    def __init__(self) -> None:
        self._count = 0
        self._sum: torch.Tensor | float = 0.0
        self._squares: torch.Tensor | float = 0.0

    def add(self, x: torch.Tensor) -> None:
        x = x.double()
        self._count += x.numel() // x.shape[1]
        self._sum = self._sum + x.sum((0, 2, 3))
        self._squares = self._squares + x.square().sum((0, 2, 3))

    def compute(self) -> tuple[torch.Tensor, torch.Tensor]:
        mean = self._sum / self._count
        return mean, (self._squares / self._count - mean.square()).clamp(min=_SMALLEST_VARIANCE)


@torch.no_grad()
def unfold_norms(folded: Network, config: ModelConfig, planes: Iterable[torch.Tensor]) -> Network:
    """Returns the network with norms, in evaluation mode.

    `config`: that of the folded network, but with `norm: batch`. `planes`: minibatches [N, P, 8, 8] of some thousand positions.
    """
    places = {name: module for name, module in folded.named_modules() if isinstance(module, ConvNorm)}
    gates = {f"{name}.gate": module.gate for name, module in folded.named_modules() if isinstance(module, SightBlock)}
    moments = _measure(folded.eval(), {**{name: place.conv for name, place in places.items()}, **gates}, planes)
    network = Network(config)
    own = network.state_dict()
    state = {name: tensor for name, tensor in folded.state_dict().items() if name in own}
    for name, place in places.items():
        mean, variance = moments[name].compute()
        scale = _compute_scale(place.conv.weight)
        state[f"{name}.conv.weight"] = place.conv.weight * scale
        # The measured mean includes the bias; a convolution before a norm has no bias.
        mean = (mean - place.conv.bias) * scale
        state |= _describe_norm(f"{name}.norm", mean, variance * scale**2, 1 / scale, place.conv.bias + mean / scale)
    for name, gain in gates.items():
        mean, variance = moments[name].compute()
        factor = gain.weight.flatten()
        state |= _describe_norm(name, mean, variance, factor, gain.bias.flatten() + mean * factor)
    network.load_state_dict({**own, **state})
    return network.eval()


def _measure(network: Network, places: dict[str, nn.Module], planes: Iterable[torch.Tensor]) -> dict[str, _Moments]:
    """Measures the outputs of convolutions and the inputs of gates."""
    moments = {name: _Moments() for name in places}
    hooks = []
    for name, module in places.items():
        is_convolution = isinstance(module, nn.Conv2d)
        hooks.append(
            module.register_forward_hook(
                lambda _, inputs, output, name=name, is_convolution=is_convolution: moments[name].add(
                    output if is_convolution else inputs[0]
                )
            )
        )
    for batch in planes:
        network(batch)
    for hook in hooks:
        hook.remove()
    return moments


def _describe_norm(
    name: str, mean: torch.Tensor, variance: torch.Tensor, factor: torch.Tensor | float, offset: torch.Tensor
) -> dict[str, torch.Tensor]:
    """State of the batch norm with this mean and variance that computes (x − mean) · factor + offset."""
    deviation = (variance + NORM_EPSILON).sqrt()
    return {
        f"{name}.weight": (deviation * factor).float(),
        f"{name}.bias": offset.float(),
        f"{name}.running_mean": mean.float(),
        f"{name}.running_var": variance.float(),
    }


def _compute_scale(weight: torch.Tensor) -> float:
    matrix = weight.flatten(1)
    if min(matrix.shape) < 16:  # trained by AdamW (optimizer.py)
        return 1.0
    return max(1.0, _TRAINED_SINGULAR_VALUE / max(1e-6, float(torch.linalg.svdvals(matrix).mean())))
