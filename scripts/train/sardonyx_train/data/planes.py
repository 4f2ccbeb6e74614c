"""Packed planes → float planes, on the training device."""

from __future__ import annotations

import torch


def expand_planes(
    masks: torch.Tensor, values: torch.Tensor, value_planes: torch.Tensor, dtype: torch.dtype = torch.float32
) -> torch.Tensor:
    """masks uint8 [N, P, 8] (byte = rank, bit = file), values [N, V] of planes `value_planes` [V] → [N, P, 8, 8]."""
    shifts = torch.arange(8, dtype=torch.uint8, device=masks.device)
    planes = torch.bitwise_right_shift(masks.unsqueeze(-1), shifts).bitwise_and_(1).to(dtype)
    if len(value_planes) > 0:
        planes[:, value_planes] *= values.to(dtype)[:, :, None, None]
    return planes
