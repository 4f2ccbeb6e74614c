"""The command `loop`: self-play, training, export and gate in a circle, and a look at it or a way back."""

from __future__ import annotations

import sys
from argparse import Namespace

from rich.console import Console

from ..errors import ConfigError
from ..loop_config import describe_loop_config, load_loop_config
from .page import StatusPage, create_page
from .rehearsal import describe_plan
from .replay import replay
from .runner import Loop, stop_on_signals
from .versions import change_best, describe_change, prune


def loop(options: Namespace) -> int:
    if options.describe:
        print(*describe_loop_config(), sep="\n")
        return 0
    if options.config is None:
        raise ConfigError("--config is needed")
    config = load_loop_config(options.config, options.set, options.reduced)
    if options.status:
        console = Console()
        console.print(create_page(config, console.width))
    elif options.rollback is not None:
        print(describe_change(change_best(config.folder, "rollback", options.rollback)))
    elif options.promote is not None:
        print(describe_change(change_best(config.folder, "promote", options.promote)))
    elif options.prune is not None:
        if options.prune < 1:
            raise ConfigError("--prune needs a number from 1")
        removed, size = prune(config.folder, config, options.prune)
        print(f"removed {len(removed)} files and folders, {size / 1e6:,.1f} MB")
    elif options.replay is not None:
        difference = replay(config, options.replay, lambda text: print(text, file=sys.stderr))
        print("the same weights to the last bit" if difference == 0 else f"the weights differ by at most {difference:.2g}")
    elif options.dry_run:
        print(describe_plan(config))
    else:
        with StatusPage(config, Console(stderr=True)) as page:
            running = Loop(config, page.say)
            stop_on_signals(running)
            running.run()
    return 0
