"""What of an earlier run's checkpoint a run with another configuration can take over."""

from __future__ import annotations

from typing import Any

from .config import TrainingConfig, is_same_shape
from .errors import CheckpointError
from .model.network import has_reply


def require_resumable(state: dict[str, Any], config: TrainingConfig) -> None:
    """Raises CheckpointError with one sentence if the run of the checkpoint cannot go on with this configuration."""
    if not is_same_shape(state["config"]["model"], config.model):
        raise CheckpointError("the checkpoint holds another network shape than the configuration's model section")
    if "optimizer" not in state:
        raise CheckpointError("the checkpoint holds weights only: begin a run with them by run.start_from")
    kind = state["config"]["optimizer"]["kind"]
    if kind != config.optimizer.kind:
        raise CheckpointError(f"the checkpoint holds the moments of {kind}, the configuration's optimizer is {config.optimizer.kind}")
    for section, key in (("data", "batch_size"), ("optimizer", "accumulation")):
        before, now = state["config"][section][key], getattr(getattr(config, section), key)
        if before != now:
            raise CheckpointError(
                f"the checkpoint's run has {section}.{key} {before}, the configuration {now}: its place in the data is counted in "
                "minibatches, so begin another run with its weights by run.start_from"
            )
    was_rounded = state["config"]["run"].get("quantisation_aware", False)
    if was_rounded != config.run.quantisation_aware:
        raise CheckpointError(
            f"the checkpoint is of a run with run.quantisation_aware {was_rounded}, the configuration has "
            f"{config.run.quantisation_aware}: begin another run with its weights by run.start_from"
        )
    if not _has_same_heads(state, config):
        raise CheckpointError(
            "only one of the checkpoint and the configuration has loss.reply_policy: begin another run with its weights by run.start_from"
        )


def has_moments(state: dict[str, Any], config: TrainingConfig) -> bool:
    """Whether the checkpoint holds the optimiser's moments of this network and optimiser."""
    is_same_kind = state["config"]["optimizer"]["kind"] == config.optimizer.kind
    is_same_network = is_same_shape(state["config"]["model"], config.model) and _has_same_heads(state, config)
    return "optimizer" in state and is_same_kind and is_same_network


def _has_same_heads(state: dict[str, Any], config: TrainingConfig) -> bool:
    return has_reply(state["network"]) == (config.loss.reply_policy > 0)
