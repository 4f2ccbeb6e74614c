"""The command `spread`: labelling, analysis and matches on this machine or on a cluster; prints one JSON object."""

import json
import threading
from argparse import Namespace
from contextlib import closing
from dataclasses import asdict
from typing import Any

from ..base.lock import lock_folder
from ..base.progress_display import say
from ..config.loop_config import find_engine, parse_loop_config
from ..loop.gate import rate
from ..spread.spread_tasks import Work, analyse, label, match
from ..tasks.cluster import create_executor
from ..tasks.process import stop_on_signals
from ..tasks.usage import Meter


def spread(options: Namespace) -> int:
    stop = threading.Event()
    stop_on_signals(stop.set)
    cluster = None if options.cluster is None else {"address": options.cluster, "cpus": options.cpus, "gpus": options.gpus}
    config = parse_loop_config({"local": {"tasks": options.tasks}, "cluster": cluster, "engine": options.engine})
    options.out.mkdir(parents=True, exist_ok=True)
    with lock_folder(options.out) as lock, closing(create_executor(config, stop.is_set, lock, Meter(), say)) as executor:
        print(json.dumps(_do(options, Work(executor, options.out, options.minutes), options.engine_flags, find_engine(config)), indent=1))
    return 0


def _do(options: Namespace, work: Work, flags: list[str], engine: list[str]) -> dict[str, Any]:
    if options.work == "label":
        return label(work, options.games, options.games_per_task, options.seed, flags)
    if options.work == "analyse":
        return analyse(work, options.pgn, options.games_per_task, flags)
    return asdict(rate(match(work, options.games, options.games_per_task, options.seed, flags), engine))
