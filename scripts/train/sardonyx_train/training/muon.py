"""Muon whose matrices of one shape are orthogonalised together.

torch.optim.Muon takes them one by one: 528 calls a step of the 96x8 network, for each of which a GPU starts one kernel or more. Here they
are 154, with the same results; moments, options and saved state are torch's own. On a CPU both take the same time (lab book, 2026-11-27).
"""

from collections import defaultdict
from typing import Any

import torch


class BatchedMuon(torch.optim.Muon):
    @torch.no_grad()
    def step(self, closure: None = None) -> None:
        """Parameters are matrices; those without a gradient stay as they are."""
        for group in self.param_groups:
            self._step_group(group)

    def _step_group(self, group: dict[str, Any]) -> None:
        matrices, grads, moments = [], [], []
        self._init_group(group, matrices, grads, moments)
        if not matrices:
            return
        torch._foreach_lerp_(moments, grads, 1 - group["momentum"])
        updates = torch._foreach_lerp(grads, moments, group["momentum"])
        torch._foreach_mul_(matrices, 1 - group["lr"] * group["weight_decay"])
        alike: dict[tuple[int, int], list[int]] = defaultdict(list)
        for number, update in enumerate(updates):
            alike[tuple(sorted(update.shape))].append(number)
        for numbers in alike.values():
            wide = [updates[n].T if updates[n].shape[0] > updates[n].shape[1] else updates[n] for n in numbers]
            orthogonal = orthogonalise(torch.stack(wide), group["ns_coefficients"], group["ns_steps"], group["eps"]).float().unbind()
            # As torch's `adjust_lr_fn` "original": a matrix with more rows than columns moves farther.
            for n, step in zip(numbers, orthogonal, strict=True):
                rows, columns = matrices[n].shape
                matrices[n].add_(step.T if rows > columns else step, alpha=-group["lr"] * max(1, rows / columns) ** 0.5)


def orthogonalise(stack: torch.Tensor, coefficients: tuple[float, float, float], steps: int, eps: float) -> torch.Tensor:
    """[N, rows ≤ columns] matrices → about the nearest ones with orthogonal rows, in bf16: Newton and Schulz's iteration (Jordan 2024)."""
    a, b, c = coefficients
    x = stack.bfloat16()
    x = x / x.norm(dim=(1, 2), keepdim=True).clamp(min=eps)
    for _ in range(steps):
        gram = x @ x.mT
        x = torch.baddbmm(x, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), x, beta=a)
    return x
