"""Tasks: calls of the engine that leave files, on this machine or on a Ray cluster, whose nodes need the standard library only."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ..loop_config import LoopConfig
    from .task import Executor
    from .usage import Meter


def create_executor(
    config: LoopConfig,
    is_stopped: Callable[[], bool],
    lock: int | None,
    meter: Meter | None = None,
    say: Callable[[str], None] = lambda text: print(text, file=sys.stderr),
    workers: Path | None = None,
) -> Executor:
    """Where the configuration wants tasks to run. `workers`: file for the nodes of a cluster and what they do."""
    from ..loop_config import find_engine
    from .cluster import ClusterExecutor
    from .local import LocalExecutor

    engine = find_engine(config)
    if config.cluster is not None:
        return ClusterExecutor(config.cluster, engine, is_stopped, say, workers)
    return LocalExecutor(engine, config.local.tasks, is_stopped, lock, meter)
