"""The command `try-recipe`: runs a loop for some minutes (its reduced variant unless --full), stops it, and lets the best network play
generation 0 as the gate plays, until a sequential test says whether it is clearly better: elo0 = 0, elo1 = 50. The status is 0 if it is.
"""

import sys
import threading
from argparse import Namespace
from collections.abc import Callable

from rich.console import Console

from ..base.errors import Stopped
from ..config.loop_config import LoopConfig, find_engine, load_loop_config
from ..loop.gate import test
from ..loop.page import StatusPage, create_page, describe_match
from ..loop.runner import Loop
from ..tasks.process import stop_on_signals


def try_recipe(options: Namespace) -> int:
    config = load_loop_config(options.config, options.set, not options.full)
    if options.minutes > 0:
        print(f"the loop runs for {options.minutes:g} minutes in {config.folder}, then its best network plays its first", file=sys.stderr)
        with StatusPage(config, Console(stderr=True)) as page:
            _run_for(config, 60 * options.minutes, page.say)
    games, per_task = options.games + options.games % 2, config.gate.games_per_task + config.gate.games_per_task % 2
    rule = {"rule": "sprt", "elo0": 0.0, "elo1": 50.0, "alpha": 0.05, "beta": 0.05, "games": games, "games_per_task": per_task}
    gate = config.gate.model_copy(update=rule)
    arena = Loop(config.model_copy(update={"gate": gate}), lambda text: print(text, file=sys.stderr))
    state = arena.load_state()
    if state.best == 0:
        print("no network was promoted: nothing to compare with generation 0")
        return 1
    stop_on_signals(arena.stop.set)
    match = arena.try_best()
    console = Console()
    console.print(create_page(config, console.width))
    print(f"generation {state.best} against generation 0: {describe_match(match)}")
    is_better = test(match, gate, find_engine(config)) == "elo1"
    print("clearly better than it began" if is_better else "not clearly better than it began")
    return 0 if is_better else 1


def _run_for(config: LoopConfig, seconds: float, say: Callable[[str], None]) -> None:
    """Raises Stopped after a request to stop, but not when the time is over."""
    running, asked = Loop(config, say), threading.Event()
    stop_on_signals(lambda: (asked.set(), running.stop.set()))
    clock = threading.Timer(seconds, running.stop.set)
    clock.daemon = True
    clock.start()
    try:
        running.run()
    except Stopped:
        if asked.is_set():
            raise
    finally:
        clock.cancel()
