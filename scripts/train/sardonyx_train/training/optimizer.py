"""Optimisers behind one small interface: scale the rates, step, save. Adam's decay is a part of the gradient, AdamW's is not.

Muon (orthogonalised momentum) trains the weight matrices; convolutions are flattened to [out, in·k·k]. As its authors advise, AdamW
trains the rest: vectors, matrices with a side below 16, values that a body adds to each square, and modules named `output` (those of
encoder layers too; a policy head's last convolution uses Muon). AdamW also trains a sight body's mixing matrices and the tables of
relative positions, because their first dimension is the heads, and each head is a matrix of its own.

Weight decay applies to weights of products and sums. It does not apply to vectors (biases and norms), values added to
each square, and tables of relative positions.
"""

from typing import Any

import torch
from torch import nn

from ..base.errors import TrainError
from ..config.training_config import OptimizerConfig
from .muon import BatchedMuon


class Optimizer:
    def __init__(self, network: nn.Module, config: OptimizerConfig) -> None:
        self._views: list[tuple[nn.Parameter, nn.Parameter]] = []
        self.parts: list[torch.optim.Optimizer] = []
        decayed: list[nn.Parameter] = []
        plain: list[nn.Parameter] = []
        decays = set(list_decayed(network))
        for name, parameter in network.named_parameters():
            if config.kind == "muon" and parameter in decays and _is_hidden_matrix(name, parameter):
                self._views.append((parameter, nn.Parameter(parameter.data.view(parameter.shape[0], -1))))
            else:
                (decayed if parameter in decays else plain).append(parameter)
        groups = [{"params": decayed, "weight_decay": config.weight_decay}, {"params": plain, "weight_decay": 0.0}]
        rate = config.learning_rate
        if config.kind == "sgd":
            momentum = 0.9 if config.momentum is None else config.momentum
            self.parts.append(torch.optim.SGD(groups, lr=rate, momentum=momentum, nesterov=momentum > 0))
        else:
            adam = torch.optim.Adam if config.kind == "adam" else torch.optim.AdamW
            self.parts.append(adam(groups, lr=rate, betas=(0.9, config.beta2), fused=True))
        if self._views:
            matrices = [flat for _, flat in self._views]
            momentum = 0.95 if config.momentum is None else config.momentum
            self.parts.append(BatchedMuon(matrices, lr=config.muon_learning_rate, momentum=momentum, weight_decay=config.weight_decay))
        for group in self._groups():
            group["first_lr"] = group["lr"]

    def scale_rates(self, factor: float) -> None:
        for group in self._groups():
            group["lr"] = group["first_lr"] * factor

    @property
    def rate(self) -> float:
        return self.parts[0].param_groups[0]["lr"]

    def zero_grad(self) -> None:
        for part in self.parts:
            part.zero_grad(set_to_none=True)
        for parameter, _ in self._views:
            parameter.grad = None

    def prepare(self) -> None:
        """Passes gradients to the flattened views. Call it after backward, before unscaling or step."""
        for parameter, flat in self._views:
            flat.grad = None if parameter.grad is None else parameter.grad.reshape(flat.shape)

    def state_dict(self) -> list[dict[str, Any]]:
        return [part.state_dict() for part in self.parts]

    def load_state_dict(self, state: list[dict[str, Any]]) -> None:
        """Loads the moments; rates, decay and momentum come from this configuration."""
        options = [{key: value for key, value in group.items() if key != "params"} for group in self._groups()]
        try:
            for part, part_state in zip(self.parts, state, strict=True):
                part.load_state_dict(part_state)
        except ValueError:
            why = "the checkpoint's moments are in the order of an earlier program"
            raise TrainError(f"{why}: begin a run with its weights by run.start_from") from None
        for group, own in zip(self._groups(), options, strict=True):
            group.update(own)

    def _groups(self) -> list[dict[str, Any]]:
        return [group for part in self.parts for group in part.param_groups]


def list_decayed(network: nn.Module) -> list[nn.Parameter]:
    """The weights that decay and the L2 loss apply to."""
    return [parameter for name, parameter in network.named_parameters() if parameter.ndim >= 2 and not name.endswith(("square", ".table"))]


def _is_hidden_matrix(name: str, parameter: nn.Parameter) -> bool:
    flat_width = parameter.numel() // parameter.shape[0]
    is_other = ".output." in name or name.endswith(".mixing")
    return min(parameter.shape[0], flat_width) >= 16 and not is_other
