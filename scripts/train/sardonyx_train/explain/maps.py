"""Importance maps over the 64 squares, in the encoding's view.

Occlusion (Zeiler and Fergus, "Visualizing and Understanding Convolutional Networks", 2014): the change of a move's
probability, or of W − L, when one square is emptied in all planes, past positions included. It needs only inputs and outputs of
the network. A positive number means that the square favours the move, or the player to move.

Grad-CAM (Selvaraju et al., 2017): the sum of the last feature maps, each weighted by the mean gradient of the target with respect
to it, with negative sums set to 0. It is coarser, and shows which squares the network uses, not what changes without them.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import torch

from .loaded_network import Evaluate
from ..model.network import Network
from .position import EncodedPosition


@dataclass(frozen=True)
class Opinion:
    probabilities: np.ndarray  # of the legal moves
    value: float  # W − L for the mover


@dataclass(frozen=True)
class Maps:
    policy: np.ndarray  # [64]
    value: np.ndarray  # [64]


def form_opinions(evaluate: Evaluate, position: EncodedPosition, planes: np.ndarray) -> list[Opinion]:
    """planes [N, P, 64] → one opinion for each of the N inputs."""
    logits, values = evaluate(planes.reshape(len(planes), -1, 8, 8))
    legal = logits[:, position.indices].astype(np.float64)
    shares = np.exp(legal - legal.max(axis=1, keepdims=True))
    shares /= shares.sum(axis=1, keepdims=True)
    return [Opinion(share, float(value)) for share, value in zip(shares, values)]


def occlude(position: EncodedPosition) -> np.ndarray:
    """→ [64, P, 64]: row s has square s empty. Planes that are equal everywhere stay."""
    wiped = np.repeat(position.planes[None], 64, axis=0)
    for square in range(64):
        wiped[square, ~position.is_whole, square] = 0.0
    return wiped


def compute_occlusion(evaluate: Evaluate, position: EncodedPosition, move: int) -> Maps:
    """`move`: index among the legal moves."""
    opinion, *others = form_opinions(evaluate, position, np.concatenate([position.planes[None], occlude(position)]))
    policy = [opinion.probabilities[move] - other.probabilities[move] for other in others]
    value = [opinion.value - other.value for other in others]
    return Maps(np.array(policy), np.array(value))


def compute_grad_cam(network: Network, position: EncodedPosition, move: int) -> Maps:
    """Grad-CAM of the logarithm of the move's probability, and of W − L. The feature maps are the body's output."""
    planes = torch.from_numpy(position.planes.reshape(1, -1, 8, 8))
    kept: list[torch.Tensor] = []
    hook = network.body.register_forward_hook(lambda _module, _inputs, output: kept.append(output))
    try:
        outputs = network(planes)
    finally:
        hook.remove()
    legal = outputs.policy[0, torch.from_numpy(position.indices)]
    value = outputs.value[0]
    win_minus_loss = value[0] if network.scalar_value else (lambda p: p[0] - p[2])(value.softmax(0))
    maps = [_weigh(kept[0], target) for target in (legal.log_softmax(0)[move], win_minus_loss)]
    return Maps(*maps)


def _weigh(features: torch.Tensor, target: torch.Tensor) -> np.ndarray:
    (gradient,) = torch.autograd.grad(target, features, retain_graph=True)
    weighted = (gradient.mean((2, 3), keepdim=True) * features).sum(1).relu()
    return weighted.detach().reshape(64).numpy()
