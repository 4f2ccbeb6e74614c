"""Lines of sight: constant matrices that compute from the occupied squares which squares see each other."""

from __future__ import annotations

from itertools import product

import torch
from torch import nn

# Steps in files and ranks. The first four directions are straight, the others diagonal.
DIRECTIONS = ((0, 1), (1, 0), (0, -1), (-1, 0), (1, 1), (1, -1), (-1, -1), (-1, 1))
JUMPS = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))
OWN_CAPTURES = ((-1, 1), (1, 1))
OTHER_CAPTURES = ((-1, -1), (1, -1))


def create_steps(steps: tuple[tuple[int, int], ...]) -> torch.Tensor:
    """→ [64, 64]: 1 where one of the steps leads from the row's square to the column's."""
    matrix = torch.zeros(64, 64)
    for source, (file_step, rank_step) in product(range(64), steps):
        file, rank = source % 8 + file_step, source // 8 + rank_step
        if 0 <= file < 8 and 0 <= rank < 8:
            matrix[source, rank * 8 + file] = 1
    return matrix


class LinesOfSight(nn.Module):
    """`directions` [8, 64, 64]: 1 where the column's square lies in that direction from the row's, straight ones first."""

    def __init__(self) -> None:
        super().__init__()
        between, directions = torch.zeros(64, 64, 64), torch.zeros(8, 64, 64)
        for source, (number, (file_step, rank_step)) in product(range(64), enumerate(DIRECTIONS)):
            path: list[int] = []
            file, rank = source % 8 + file_step, source // 8 + rank_step
            while 0 <= file < 8 and 0 <= rank < 8:
                target = rank * 8 + file
                directions[number, source, target] = 1
                between[path, source, target] = 1
                path.append(target)
                file, rank = file + file_step, rank + rank_step
        self.register_buffer("between", between.flatten(1), persistent=False)
        self.register_buffer("directions", directions, persistent=False)

    @torch.no_grad()
    def forward(self, planes: torch.Tensor) -> torch.Tensor:
        """planes [N, P ≥ 12, 8, 8], those of the men first → [N, 64, 64]: number of men between two squares, 0 off a line."""
        occupied = planes[:, :12].sum(1).flatten(1)
        return torch.matmul(occupied, self.between.to(occupied.dtype)).reshape(-1, 64, 64)
