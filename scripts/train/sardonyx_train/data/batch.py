"""Makes a minibatch of tensors from columns of positions. Planes stay packed; the training device expands them."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import torch

from ..base.errors import TrainError
from ..config.encodings import POLICY_SIZES, get_input_encoding, mirror_policy
from ..config.training_config import TargetConfig
from .shards import Columns, Replies, ShardFormat
from .targets import MATE_BASE, policy_from_scores, value_target

DECIDED = 0.98  # from this |W − L| on a game counts as decided
_SHORT_MATE = 2  # moves


class PolicyTarget(NamedTuple):
    """Legal moves and the ones to learn; the tensors are as in `Batch`."""

    legal: torch.Tensor
    policy_index: torch.Tensor
    policy_probability: torch.Tensor


@dataclass
class Batch:
    """N positions. Targets are from the mover's view; unknown ones have weight 0."""

    masks: torch.Tensor  # uint8 [N, planes, 8]
    values: torch.Tensor  # float32 [N, V]
    value_planes: torch.Tensor  # int64 [V]: the planes that `values` are of
    legal: torch.Tensor  # int64 [all legal moves]: row · policy size + policy index
    policy_index: torch.Tensor  # int64 [N, K], padded with 0
    policy_probability: torch.Tensor  # float32 [N, K], padded with 0
    wdl: torch.Tensor  # float32 [N, 3]
    wdl_weight: torch.Tensor  # float32 [N]
    plies_left: torch.Tensor  # float32 [N]
    plies_weight: torch.Tensor  # float32 [N]
    reply: PolicyTarget | None = None  # of the next position in the game, in the opponent's view; None: not asked for

    @property
    def size(self) -> int:
        return len(self.masks)

    @property
    def best_move(self) -> torch.Tensor:
        """Policy index of the target's most probable move, int64 [N]."""
        return self.policy_index.gather(1, self.policy_probability.argmax(1, keepdim=True)).squeeze(1)

    def expand_planes(self, dtype: torch.dtype = torch.float32) -> torch.Tensor:
        """→ [N, planes, 8, 8]; of a mask the byte is the rank, the bit the file."""
        shifts = torch.arange(8, dtype=torch.uint8, device=self.masks.device)
        planes = torch.bitwise_right_shift(self.masks.unsqueeze(-1), shifts).bitwise_and_(1).to(dtype)
        if len(self.value_planes) > 0:
            planes[:, self.value_planes] *= self.values.to(dtype)[:, :, None, None]
        return planes

    def to(self, device: torch.device) -> Self:
        return self._convert(lambda tensor: tensor.to(device, non_blocking=True))

    def pin_memory(self) -> Self:
        return self._convert(torch.Tensor.pin_memory)

    def _convert(self, convert: Callable[[torch.Tensor], torch.Tensor]) -> Self:
        *own, reply = vars(self).values()
        return Batch(*map(convert, own), None if reply is None else PolicyTarget(*map(convert, reply)))


class BatchMaker:
    """Holds the tables of an encoding and a configuration; `make` is called for every minibatch."""

    def __init__(
        self, form: ShardFormat, targets: TargetConfig, mirror: bool, history_dropout: float = 0.0, with_replies: bool = False
    ) -> None:
        """`with_replies`: minibatches hold the opponent's replies; `make` then needs columns that hold them."""
        if form.policy not in POLICY_SIZES:
            raise ValueError(f"unknown policy encoding '{form.policy}', known: {', '.join(POLICY_SIZES)}")
        self._targets = targets
        self._policy_size = POLICY_SIZES[form.policy]
        self._value_planes = torch.tensor(form.value_planes, dtype=torch.int64)
        encoding = get_input_encoding(form.input)
        self._history_dropout, self._history = history_dropout, encoding.history if history_dropout > 0 else ()
        self._castling, self._mirrored = encoding.castling, mirror_policy(form.policy) if mirror else None
        self.with_replies = with_replies
        if history_dropout > 0 and not encoding.history:
            raise ValueError(f"data.history_dropout: '{form.input}' has no history to drop")
        if mirror and encoding.castling is None:
            raise ValueError(f"data.mirror: not known which planes of '{form.input}' hold castling rights")
        if with_replies and encoding.is_turned:
            raise ValueError(f"loss.reply_policy: '{form.input}' turns the boards, each position in its own way")

    def find_decided(self, columns: Columns) -> np.ndarray:
        """[rows]: whether the search's value or score (not the game's result) says that the game is decided."""
        unknown = np.full(columns.rows, np.nan, np.float32)
        wdl = value_target(unknown, columns.cp, columns.q, columns.d, self._targets)
        return np.abs(wdl[:, 0] - wdl[:, 2]) >= DECIDED  # False for NaN (unknown)

    @staticmethod
    def find_short_mates(columns: Columns) -> np.ndarray:
        """[rows]: whether the score says that the mover mates in one or two moves."""
        return columns.cp >= MATE_BASE - 2 * _SHORT_MATE  # False for NaN (unknown)

    @staticmethod
    def find_mistakes(columns: Columns, policy_kl: float, value_error: float) -> np.ndarray:
        """[rows]: whether the labelling network's first impression was at least so far from the label, in policy or in value."""
        return (columns.policy_kl >= policy_kl) | (columns.value_error >= value_error)  # False for NaN (unknown)

    def make(
        self, columns: Columns, rows: np.ndarray, random: np.random.Generator | None = None, outcome_weight: np.ndarray | None = None
    ) -> Batch:
        """`random` decides which rows are mirrored and which lose their history; without it none are. `outcome_weight`
        [columns' rows]: weight of value and plies left, 1 by default."""
        count = len(rows)
        masks = columns.masks[rows].reshape(count, -1, 8)
        flip = np.zeros(count, bool)
        if self._mirrored is not None and random is not None:
            flip = (masks[:, list(self._castling)] == 0).all(axis=(1, 2)) & (random.random(count) < 0.5)
            masks[flip] = _REVERSED_BITS[masks[flip]]
        if self._history and random is not None:
            self._drop_history(masks, random)
        policy = self._make_policy(columns, rows, np.arange(count), flip)
        reply = None
        if self.with_replies:
            places = np.flatnonzero(columns.replies.is_known[rows])
            reply = self._make_policy(columns.replies, rows[places], places, flip)
        wdl = value_target(columns.result[rows], columns.cp[rows], columns.q[rows], columns.d[rows], self._targets)
        plies = columns.plies_left[rows]
        weight = 1.0 if outcome_weight is None else outcome_weight[rows]
        return Batch(
            torch.from_numpy(masks),
            torch.from_numpy(columns.values[rows]),
            self._value_planes,
            *policy,
            torch.from_numpy(np.nan_to_num(wdl)),
            torch.from_numpy((~np.isnan(wdl[:, 0]) * weight).astype(np.float32)),
            torch.from_numpy(np.nan_to_num(plies)),
            torch.from_numpy((~np.isnan(plies) * weight).astype(np.float32)),
            reply,
        )

    def _make_policy(self, moves: Columns | Replies, rows: np.ndarray, places: np.ndarray, flip: np.ndarray) -> PolicyTarget:
        """`places`: where `rows` stand in the minibatch, the others get no target. `flip` [N]: positions with mirrored files."""
        legal, legal_lengths = moves.legal.take(rows)
        index, lengths = moves.policy_index.take(rows)
        if max(legal.max(initial=0), index.max(initial=0)) >= self._policy_size:
            raise TrainError(f"the shards are damaged: they hold moves beyond the {self._policy_size} of their policy encoding")
        row_of_legal, row_of_target = np.repeat(places, legal_lengths), np.repeat(places, lengths)
        if flip.any():
            legal = np.where(flip[row_of_legal], self._mirrored[legal], legal)
            index = np.where(flip[row_of_target], self._mirrored[index], index)
        shape = len(flip), max(1, int(lengths.max(initial=0)))
        column_of_target = np.arange(len(index)) - np.repeat(np.cumsum(lengths) - lengths, lengths)

        def pad(flat: np.ndarray, filler: np.number) -> np.ndarray:
            """→ [N, K] of the filler's type."""
            out = np.full(shape, filler)
            out[row_of_target, column_of_target] = flat
            return out

        weight, cp = (pad(column.take(rows)[0], np.float32(np.nan)) for column in (moves.policy_weight, moves.policy_cp))
        made = row_of_legal * self._policy_size + legal, pad(index, np.int64(0)), self._policy(weight, cp)
        return PolicyTarget(*map(torch.from_numpy, made))

    def _drop_history(self, masks: np.ndarray, random: np.random.Generator) -> None:
        """Blanks the boards before a random ply, in place, because games begin without history and FENs have none."""
        boards = [*pairwise(self._history)]
        kept = random.integers(len(boards), size=len(masks))
        dropped = random.random(len(masks)) < self._history_dropout
        for number, (first, end) in enumerate(boards):
            masks[dropped & (kept <= number), first:end] = 0

    def _policy(self, weight: np.ndarray, cp: np.ndarray) -> np.ndarray:
        """From [N, K] weights and scores (NaN: none) to probabilities. Rows without a target are all zero."""
        given = np.nan_to_num(weight)
        probability = given / np.maximum(given.sum(axis=1, keepdims=True), 1e-9)
        scored = ~np.isnan(cp[:, 0]) & np.isnan(weight[:, 0])
        if scored.any():
            probability[scored] = policy_from_scores(cp[scored], self._targets)
        if self._targets.policy_one_hot:
            best = probability.argmax(axis=1)
            probability = np.eye(probability.shape[1], dtype=np.float32)[best] * (probability.sum(axis=1) > 0)[:, None]
        return probability.astype(np.float32)


_REVERSED_BITS = np.array([int(f"{b:08b}"[::-1], 2) for b in range(256)], dtype=np.uint8)
