"""What does the network look at? Maps over the 64 squares for one position, by occlusion and by Grad-CAM.

Occlusion: empty one square in all history planes and see how the answer changes; slow (65 positions) but exact about the
network as it is. Grad-CAM: gradient of the answer times the activations of the body's last layer; fast and blurred.
Both speak of squares as the mover sees them, its own side at the bottom.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import nn

from .losses import expected_value
from .model.network import Network

_PIECES = "PNBRQKpnbrqk"  # planes 0..11 of every encoding: own pieces, then theirs


@dataclass(frozen=True)
class Explanation:
    """Maps [8, 8], rank by rank from the mover's first. Occlusion: answer whole − answer without the square."""

    move_index: int
    move_probability: float
    expected_value: float  # W − L for the mover
    policy_occlusion: np.ndarray
    value_occlusion: np.ndarray
    policy_gradient: np.ndarray
    value_gradient: np.ndarray


def explain(network: Network, planes: torch.Tensor, legal: torch.Tensor, move_index: int | None = None) -> Explanation:
    """planes [1, P, 8, 8]; legal: policy indices of the legal moves; `move_index`: the move to explain, default the best."""
    network.eval()
    mask = torch.full((network(planes).policy.shape[1],), -torch.inf)
    mask[legal] = 0
    with torch.no_grad():
        whole = network(planes)
        probabilities = (whole.policy + mask).softmax(1)
        move = int(probabilities.argmax()) if move_index is None else move_index
        value = expected_value(whole.value)
        hidden = network(_occlude_each_square(planes))
        policy_without = (hidden.policy + mask).softmax(1)[:, move]
        value_without = expected_value(hidden.value)
    return Explanation(
        move,
        float(probabilities[0, move]),
        float(value),
        _as_board(probabilities[0, move] - policy_without),
        _as_board(value - value_without),
        _grad_cam(network, planes, lambda outputs: outputs.policy[0, move]),
        _grad_cam(network, planes, lambda outputs: expected_value(outputs.value)[0]),
    )


def _occlude_each_square(planes: torch.Tensor) -> torch.Tensor:
    """[1, P, 8, 8] → [64, P, 8, 8]: position s without square s. Planes that are full or empty carry no square."""
    copies = planes.repeat(64, 1, 1, 1)
    filled = (planes[0] != 0).sum((1, 2))
    boards = torch.nonzero((filled > 0) & (filled < 64)).squeeze(1)
    for square in range(64):
        copies[square, boards, square // 8, square % 8] = 0
    return copies


def _grad_cam(network: Network, planes: torch.Tensor, answer) -> np.ndarray:  # noqa: ANN001
    kept: list[torch.Tensor] = []

    def keep(_module: nn.Module, _inputs: object, output: torch.Tensor) -> None:
        output.retain_grad()
        kept.append(output)

    handle = network.body.register_forward_hook(keep)
    try:
        with torch.enable_grad():
            answer(network(planes.clone().requires_grad_())).backward()
    finally:
        handle.remove()
        network.zero_grad(set_to_none=True)
    activations = kept[0]
    weights = activations.grad.mean((2, 3), keepdim=True)
    return (weights * activations).sum(1)[0].detach().numpy()


def _as_board(per_square: torch.Tensor) -> np.ndarray:
    return per_square.reshape(8, 8).numpy()


def plot_explanation(explanation: Explanation, planes: torch.Tensor, title: str, path: Path) -> Path:
    """Four boards: policy and value, occlusion and Grad-CAM. Red raises the answer, blue lowers it."""
    from .plots import create_figure, write_figure

    figure, axes = create_figure(2, 2)
    panels = (
        ("policy, occlusion", explanation.policy_occlusion),
        ("value, occlusion", explanation.value_occlusion),
        ("policy, Grad-CAM", explanation.policy_gradient),
        ("value, Grad-CAM", explanation.value_gradient),
    )
    for axis, (name, board) in zip(axes.flat, panels):
        limit = max(float(np.abs(board).max()), 1e-9)
        axis.imshow(board, cmap="coolwarm", vmin=-limit, vmax=limit, origin="lower")
        for square in range(64):
            letter = next((_PIECES[p] for p in range(12) if planes[0, p, square // 8, square % 8] != 0), "")
            axis.text(square % 8, square // 8, letter, ha="center", va="center", fontsize=8)
        axis.set_title(f"{name} (±{limit:.2g})", fontsize=8)
        axis.set_xticks(range(8), "abcdefgh", fontsize=6)
        axis.set_yticks(range(8), range(1, 9), fontsize=6)
    figure.suptitle(title, fontsize=9)
    return write_figure(figure, path)
