"""Activation checkpointing: the backward pass computes a block's activations again, which saves memory."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext

import torch
from torch import nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint


def run_block(block: nn.Module, *arguments: torch.Tensor, is_checkpointed: bool) -> torch.Tensor:
    """Runs the block, in training with checkpointing if `is_checkpointed`. Updates running statistics once, not twice."""
    if not (is_checkpointed and block.training):
        return block(*arguments)
    if torch.compiler.is_compiling():  # the compiler updates buffers only once
        return checkpoint(block, *arguments, use_reentrant=False)

    def create_contexts() -> tuple[AbstractContextManager[None], AbstractContextManager[None]]:
        return nullcontext(), _keep_statistics(block)

    return checkpoint(block, *arguments, use_reentrant=False, context_fn=create_contexts)


@contextmanager
def _keep_statistics(block: nn.Module) -> Iterator[None]:
    """Lets batch norms normalise by the minibatch, but keeps their running statistics and the ranges of fake quantisation."""
    observers = [module for module in block.modules() if hasattr(module, "observes")]
    norms = [module for module in block.modules() if isinstance(module, _BatchNorm) and module.track_running_stats]
    kept = [(norm.momentum, norm.num_batches_tracked.clone()) for norm in norms]
    for norm in norms:
        norm.momentum = 0.0
    for observer in observers:
        observer.observes = False
    try:
        yield
    finally:
        for observer in observers:
            observer.observes = True
        for norm, (momentum, count) in zip(norms, kept, strict=True):
            norm.momentum = momentum
            norm.num_batches_tracked.copy_(count)
