"""What a run begins with: a random network, or another run's averaged weights, grown as configured; and what
of an earlier run's checkpoint a run with another configuration can take over."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..base.errors import TrainError
from ..base.progress_display import say
from ..config.training_config import ModelConfig, TrainingConfig, is_same_shape, read_saved
from ..model.grow import can_grow, grow
from ..model.layers import enable_batch_renorm
from ..model.network import Network, drop_reply, has_reply
from .checkpoint import load_weights, read_checkpoint


def create_network(config: TrainingConfig, is_resuming: bool = False, tell: Callable[[str], None] = say) -> Network:
    """`is_resuming`: the weights come from the run's own checkpoint; `run.start_from` may no longer exist."""
    wants_reply = config.loss.reply_policy > 0
    network = Network(config.model, config.run.checkpoint_activations, wants_reply)
    if config.run.start_from is not None and not is_resuming:
        state = read_checkpoint(Path(config.run.start_from))
        _tell_other_recipe(state["config"], config, tell)
        source_config = read_saved(ModelConfig, state["config"]["model"])
        source = Network(source_config, with_reply=has_reply(state["average"]))
        load_weights(source, state["average"])
        if can_grow(source_config, config.model):
            source, source_config = grow(source, config.model), config.model
        if not is_same_shape(source_config, config.model):
            rule = "only resnet and sight bodies with ReLU and without attention can grow, and only in blocks"
            raise TrainError(f"{config.run.start_from}: holds another network shape than the model section ({rule})")
        weights = source.state_dict()
        if wants_reply and source.reply is None:
            tell(f"{config.run.start_from} has no head for the opponent's replies: it starts from random weights")
            weights = {**network.state_dict(), **weights}
        elif source.reply is not None and not wants_reply:
            tell(f"{config.run.start_from} has a head for the opponent's replies: it is left out, because loss.reply_policy is 0")
            weights = drop_reply(weights)
        network.load_state_dict(weights)
    run = config.run
    if run.renorms:
        enable_batch_renorm(network, run.renorm_max_r, run.renorm_max_d, run.renorm_steps)
    return network


def _tell_other_recipe(before: dict[str, Any], config: TrainingConfig, tell: Callable[[str], None]) -> None:
    """One line for the user where the weights to start from learnt with other targets or another loss than this run has."""
    own = config.model_dump()
    others = [
        (f"{section}.{key} {value}", str(own[section][key]))
        for section in ("loss", "targets")
        for key, value in before.get(section, {}).items()
        if own[section].get(key, value) != value
    ]
    if others:
        learnt, now = (" and ".join(values) for values in zip(*others, strict=True))
        tell(f"{config.run.start_from} learnt with {learnt}; this run has {now}")


def require_resumable(state: dict[str, Any], config: TrainingConfig) -> None:
    """Raises TrainError with one sentence if the run of the checkpoint cannot go on with this configuration."""
    own, anew = state["config"], "begin another run with its weights by run.start_from"
    if not is_same_shape(own["model"], config.model):
        raise TrainError("the checkpoint holds another network shape than the configuration's model section")
    if not {"optimizer", "scaler", "plateau", "random"} <= state.keys():
        raise TrainError("the checkpoint holds weights only: begin a run with them by run.start_from")
    kind = own["optimizer"]["kind"]
    if kind != config.optimizer.kind:
        raise TrainError(f"the checkpoint holds the moments of {kind}, the configuration's optimizer is {config.optimizer.kind}")
    for section, key in (("data", "batch_size"), ("optimizer", "accumulation")):
        before, now = own[section].get(key), getattr(getattr(config, section), key)
        if before != now:
            why = f"its place in the data is counted in minibatches, so {anew}"
            raise TrainError(f"the checkpoint's run has {section}.{key} {before}, the configuration has {now}: {why}")
    if not _has_same_heads(state, config):
        raise TrainError(f"only one of the checkpoint and the configuration has loss.reply_policy: {anew}")


def has_moments(state: dict[str, Any], config: TrainingConfig) -> bool:
    """Whether the checkpoint holds the optimiser's moments of this network and optimiser."""
    is_same_kind = state["config"]["optimizer"]["kind"] == config.optimizer.kind
    is_same_network = is_same_shape(state["config"]["model"], config.model) and _has_same_heads(state, config)
    return "optimizer" in state and is_same_kind and is_same_network


def _has_same_heads(state: dict[str, Any], config: TrainingConfig) -> bool:
    return has_reply(state["network"]) == (config.loss.reply_policy > 0)
