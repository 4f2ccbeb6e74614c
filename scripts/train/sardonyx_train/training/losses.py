"""Losses and accuracy of one minibatch. All losses are means over the positions that have the target."""

from typing import TypeVar

import torch
from torch.nn import functional as F

from ..config.training_config import LossConfig
from ..data.batch import Batch, PolicyTarget
from ..model.network import MOVES_LEFT_UNIT_PLIES, Outputs

Number = TypeVar("Number", torch.Tensor, float)

_HUBER_DELTA = 0.5  # in units of MOVES_LEFT_UNIT_PLIES: beyond 10 plies the error counts linearly
_ILLEGAL = -1e4


def mask_illegal(logits: torch.Tensor, legal: torch.Tensor) -> torch.Tensor:
    """logits [N, size] with illegal moves pushed to −10,000; legal as in `Batch.legal`."""
    allowed = torch.zeros(logits.numel(), dtype=torch.bool, device=logits.device)
    allowed[legal] = True
    return logits.masked_fill(~allowed.view_as(logits), _ILLEGAL)


def compute_losses(outputs: Outputs, batch: Batch, config: LossConfig) -> dict[str, torch.Tensor]:
    """Training minimises `total`; the rest is for the log."""
    log_policy = _log_softmax(outputs.policy, batch, config)
    losses = {"policy": _cross_entropy(log_policy, batch), "value": _mean(_value_error(outputs.value.float(), batch.wdl), batch.wdl_weight)}
    if outputs.moves_left is not None:
        plies = (outputs.moves_left.float().squeeze(1), batch.plies_left)
        error = F.huber_loss(*(number / MOVES_LEFT_UNIT_PLIES for number in plies), reduction="none", delta=_HUBER_DELTA)
        losses["moves_left"] = _mean(error, batch.plies_weight)
    if outputs.reply is not None:
        losses["reply_policy"] = _cross_entropy(_log_softmax(outputs.reply, batch.reply, config), batch.reply)
    total = sum_losses(losses, config)
    if config.entropy_bonus > 0:
        entropy = -(log_policy.exp() * log_policy).sum(1).mean()
        total = total - config.entropy_bonus * entropy
    return {"total": total, **losses}


def sum_losses(losses: dict[str, Number], config: LossConfig) -> Number:
    """The weighted sum of losses; a network may have no loss of moves left and none of replies."""
    total = config.policy * losses["policy"] + config.value * losses["value"]
    for name, weight in (("moves_left", config.moves_left), ("reply_policy", config.reply_policy)):
        if name in losses:
            total = total + weight * losses[name]
    return total


def compute_l2(weights: list[torch.Tensor]) -> torch.Tensor:
    """Half the sum of the squared weights, in fp32: its gradient is the weights."""
    return 0.5 * torch.stack([weight.float().square().sum() for weight in weights]).sum()


def count_targets(batch: Batch) -> dict[str, torch.Tensor]:
    """The number of positions behind each mean of `compute_losses` and `compute_metrics`."""
    policy, value = batch.policy_probability.sum(), batch.wdl_weight.sum()
    counts = dict.fromkeys(("policy", "accuracy", "policy_floor"), policy) | dict.fromkeys(("value", "value_mae"), value)
    counts["moves_left"] = batch.plies_weight.sum()
    return counts if batch.reply is None else {**counts, "reply_policy": batch.reply.policy_probability.sum()}


def compute_metrics(outputs: Outputs, batch: Batch) -> dict[str, torch.Tensor]:
    """Policy top-1 (network's best legal move = best target move), its entropy floor, and |W − L| error."""
    logits = mask_illegal(outputs.policy.float(), batch.legal)
    has_policy = batch.policy_probability.sum(1)
    hit = (logits.argmax(1) == batch.best_move).float()
    entropy = torch.special.entr(batch.policy_probability).sum(1)
    return {
        "accuracy": _mean(hit, has_policy),
        "policy_floor": _mean(entropy, has_policy),
        "value_mae": _mean((expected_value(outputs.value.float()) - win_minus_loss(batch.wdl)).abs(), batch.wdl_weight),
    }


def expected_value(value: torch.Tensor) -> torch.Tensor:
    """Head output (logits [N, 3] or tanh [N, 1]) → W − L [N]."""
    return win_minus_loss(value if value.shape[1] == 1 else value.softmax(1))


def win_minus_loss(value: torch.Tensor) -> torch.Tensor:
    """W − L itself, [N, 1], or probabilities of win, draw and loss, [N, 3] → W − L [N]."""
    return value.squeeze(1) if value.shape[1] == 1 else value[:, 0] - value[:, 2]


def _log_softmax(logits: torch.Tensor, target: Batch | PolicyTarget, config: LossConfig) -> torch.Tensor:
    logits = logits.float()
    return F.log_softmax(mask_illegal(logits, target.legal) if config.legal_only else logits, dim=1)


def _cross_entropy(log_policy: torch.Tensor, target: Batch | PolicyTarget) -> torch.Tensor:
    errors = -(target.policy_probability * log_policy.gather(1, target.policy_index)).sum(1)
    return _mean(errors, target.policy_probability.sum(1))


def _value_error(value: torch.Tensor, wdl: torch.Tensor) -> torch.Tensor:
    if value.shape[1] == 1:
        return (value.squeeze(1) - win_minus_loss(wdl)).square()
    return -(wdl * F.log_softmax(value, dim=1)).sum(1)


def _mean(x: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
    return (x * weight).sum() / weight.sum().clamp(min=1e-6)
