"""Quantisation-aware training: convolutions that round as in int8, while gradients pass through unchanged.

They round as the int8 export does. Weights: 7 bits, symmetric, one scale per output channel. Inputs and outputs: 8 bits,
unsigned, over the range of their values, with a ReLU after the convolution included. The first convolution reads planes in 7
bits with weights in 8. Not rounded: a first convolution with a 1×1 kernel, convolutions behind a gate, the one that computes
the policy logits, the head of the opponent's reply, dense layers and products.
The export may narrow the range of outputs without a ReLU; here the configuration decides by how much (`signed_share`).
"""

import torch
from torch import nn
from torch.nn import functional as F

from ..config.training_config import ModelConfig
from .network import Network

RANGES_KEY = "value_ranges"
_WEIGHT_STEPS = 64
_PLANE_STEPS = 127  # for planes, and for the weights of the first convolution
_RANGE_MOMENTUM = 0.05


class FakeQuantisedConv2d(nn.Conv2d):
    """`value_ranges` [2, 2]: running minimum and maximum of input and output; the range always includes 0."""

    def __init__(self, plain: nn.Conv2d, before_relu: bool, reads_planes: bool, signed_share: float) -> None:
        super().__init__(plain.in_channels, plain.out_channels, plain.kernel_size, padding=plain.padding, bias=plain.bias is not None)
        self.load_state_dict(plain.state_dict())
        self.before_relu = before_relu
        self.reads_planes = reads_planes
        self.signed_share = signed_share
        self.observes = True  # update the ranges in training; false while activations are recomputed
        self.register_buffer(RANGES_KEY, torch.zeros(2, 2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.reads_planes:
            x = (x.float() * _PLANE_STEPS).round() / _PLANE_STEPS
        else:
            x = self._round_values(x.float(), self.value_ranges[0])
        steps = _PLANE_STEPS if self.reads_planes else _WEIGHT_STEPS
        largest = self.weight.detach().abs().amax((1, 2, 3)).float()
        weight = torch.fake_quantize_per_channel_affine(
            self.weight.float(),
            (largest / steps).clamp(min=1e-8),
            torch.zeros(len(largest), dtype=torch.int32, device=largest.device),
            0,
            -steps,
            steps,
        )
        y = F.conv2d(x, weight, self.bias, padding=self.padding).float()
        if self.before_relu:
            return self._round_values(y.relu(), self.value_ranges[1])
        return self._round_values(y, self.value_ranges[1], self.signed_share)

    def _round_values(self, x: torch.Tensor, value_range: torch.Tensor, share: float = 1.0) -> torch.Tensor:
        if self.training and self.observes:
            with torch.no_grad():
                seen = torch.stack([x.amin().clamp(max=0), x.amax().clamp(min=0)])
                value_range.lerp_(seen, _RANGE_MOMENTUM if value_range.any() else 1.0)
        value_range = value_range * share
        scale = ((value_range[1] - value_range[0]) / 255).clamp(min=1e-8)
        zero = (-value_range[0] / scale).round().clamp(0, 255).to(torch.int32)
        return torch.fake_quantize_per_tensor_affine(x, scale, zero, 0, 255)


def enable_fake_quantisation(network: Network, config: ModelConfig, signed_share: float = 1.0) -> None:
    """Replaces the convolutions that the int8 export quantises, in place. Norms must be folded before.

    `signed_share`: factor on the range of outputs without a ReLU.
    """
    logits = getattr(network.policy, "second", None)
    for path, parent in list(network.named_modules()):
        if path.split(".")[0] == "reply":  # it is never exported
            continue
        # All ConvNorms but a block's second are followed by the activation at once.
        before_relu = config.activation == "relu" and not path.endswith(".second")
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.Conv2d) and child is not logits:
                reads_planes = path == "body.stem"
                if path.endswith(".contract") or (reads_planes and child.kernel_size == (1, 1)):
                    continue
                setattr(parent, name, FakeQuantisedConv2d(child, before_relu and name == "conv", reads_planes, signed_share))


def drop_ranges(state: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """State dict of a fake-quantised network → state dict of the plain one."""
    return {name: tensor for name, tensor in state.items() if not name.endswith(f".{RANGES_KEY}")}
