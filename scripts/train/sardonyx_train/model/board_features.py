"""Additional planes that the network itself computes from the board, so the input encoding stays the same.

Each layer of a convolutional body sees one square further. Such a body learns slowly which squares a slider attacks, how far a
pawn is from promotion and who has more material. These planes show all three from the start. They are exact (products with a few
constant matrices of zeros and ones) and cost about two percent of the arithmetic of a body with 64 filters.
"""

from itertools import product

import torch
from torch import nn

from ..config.encodings import JUMPS
from .layers import DIRECTIONS, OTHER_CAPTURES, OWN_CAPTURES, LinesOfSight, create_steps

FEATURE_PLANES = 32
_PIECES = "pnbrqk"  # order of the planes of each side, the mover's first
_LARGEST_COUNT = 2  # attackers of one kind are counted up to this
_PIECE_VALUES = (1.0, 3.0, 3.0, 5.0, 9.0, 0.0)
_LARGEST_LEAD = 8.0  # in pawns; larger leads are clipped
_ALL_PIECES = 62.0  # value of both sides' pieces without pawns at the start of a game


def _create_front_spans(rank_step: int) -> torch.Tensor:
    """→ [64, 64]: 1 where a pawn on the row's square can block or attack one on the column's square on its way to promotion."""
    matrix = torch.zeros(64, 64)
    for pawn, other in product(range(64), range(64)):
        is_near = abs(pawn % 8 - other % 8) <= 1
        matrix[other, pawn] = float(is_near and (other // 8 - pawn // 8) * rank_step > 0)
    return matrix


def _create_coordinates() -> torch.Tensor:
    """→ [1, 3, 64]: rank, file, distance of the file from the middle; each in [0, 1]."""
    square = torch.arange(64)
    file, rank = (square % 8).float(), (square // 8).float()
    return torch.stack([rank / 7, file / 7, (file - 3.5).abs() / 3.5]).unsqueeze(0)


class BoardFeatures(nn.Module):
    """planes [N, P ≥ 12, 8, 8] and numbers of men between two squares [N, 64, 64] → [N, 32, 8, 8] in [0, 1].

    The first twelve planes must be the mover's and the opponent's P N B R Q K. The 32 results are:

    - 24 planes that count attackers of each square, 0.5 for each of at most two. For each side: pawns; knights; a knight on the
      king's square; kings; along diagonals bishops, queens, and the king as if it were one; along files and ranks rooks, queens,
      and the king as if it were one; bishops and queens through one man; rooks and queens through one man.
    - 2 planes of passed pawns, the mover's and the opponent's.
    - 3 planes of coordinates: rank, file, distance of the file from the middle.
    - 3 planes of material: the mover's lead, the opponent's lead, and how much of the pieces is left.
    """

    def __init__(self) -> None:
        super().__init__()
        directions = LinesOfSight().directions
        sign = torch.tensor(_PIECE_VALUES)
        pieces = torch.tensor((0.0, *_PIECE_VALUES[1:])) / _ALL_PIECES
        lead = torch.cat([sign, -sign]) / _LARGEST_LEAD
        for name, matrix in (
            ("own_pawn", create_steps(OWN_CAPTURES)),
            ("other_pawn", create_steps(OTHER_CAPTURES)),
            ("jump", create_steps(JUMPS)),
            ("king", create_steps(DIRECTIONS)),
            ("straight", directions[:4].sum(0)),
            ("diagonal", directions[4:].sum(0)),
            ("own_front", _create_front_spans(1)),
            ("other_front", _create_front_spans(-1)),
            ("coordinates", _create_coordinates()),
            ("material", torch.stack([lead, -lead, torch.cat([pieces, pieces])], dim=1)),
        ):
            self.register_buffer(name, matrix, persistent=False)

    @torch.no_grad()
    def forward(self, planes: torch.Tensor, between: torch.Tensor) -> torch.Tensor:
        men = planes[:, :12].reshape(-1, 12, 64)
        features = torch.cat([self._find_attackers(men, between), self._find_passed_pawns(men), self._describe_board(men)], dim=1)
        return features.reshape(-1, FEATURE_PLANES, 8, 8)

    def _find_attackers(self, men: torch.Tensor, between: torch.Tensor) -> torch.Tensor:
        is_free = torch.relu(1 - between)
        is_single = torch.relu(1 - (between - 1).abs())
        own = {piece: men[:, i : i + 1] for i, piece in enumerate(_PIECES)}
        other = {piece: men[:, 6 + i : 7 + i] for i, piece in enumerate(_PIECES)}
        attackers = [
            torch.matmul(own["p"], self.own_pawn.to(men.dtype)),
            torch.matmul(other["p"], self.other_pawn.to(men.dtype)),
            torch.matmul(torch.cat([own["n"], own["k"], other["n"], other["k"]], dim=1), self.jump.to(men.dtype)),
            torch.matmul(torch.cat([own["k"], other["k"]], dim=1), self.king.to(men.dtype)),
        ]
        for lines, pieces in ((self.diagonal, "bqk"), (self.straight, "rqk")):
            sliders = torch.cat([side[piece] for side in (own, other) for piece in pieces], dim=1)
            through = torch.cat([side[pieces[0]] + side["q"] for side in (own, other)], dim=1)
            attackers.append(torch.matmul(sliders, is_free * lines.to(men.dtype)))
            attackers.append(torch.matmul(through, is_single * lines.to(men.dtype)))
        return torch.cat(attackers, dim=1).clamp(max=_LARGEST_COUNT) / _LARGEST_COUNT

    def _find_passed_pawns(self, men: torch.Tensor) -> torch.Tensor:
        own, other = men[:, 0:1], men[:, 6:7]
        own_passed = own * torch.relu(1 - torch.matmul(other, self.own_front.to(men.dtype)))
        other_passed = other * torch.relu(1 - torch.matmul(own, self.other_front.to(men.dtype)))
        return torch.cat([own_passed, other_passed], dim=1)

    def _describe_board(self, men: torch.Tensor) -> torch.Tensor:
        material = torch.matmul(men.sum(2), self.material.to(men.dtype)).clamp(0, 1)
        coordinates = self.coordinates.to(men.dtype) + 0 * men[:, :1]  # broadcast to N without reading N, for the export
        return torch.cat([coordinates, material.unsqueeze(2).expand(-1, -1, 64)], dim=1)
