#!/usr/bin/env python3
"""The training loop (self-play, training, gate): `loop.py --config configs/loop-mini.yaml`. The same command resumes it."""

from __future__ import annotations

import argparse
import json
import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # torch's threads must not spin beside the engine's

from rich.console import Console
from sardonyx_train.config import ConfigError
from sardonyx_train.data.shards import ShardError
from sardonyx_train.loop.loop_config import describe_loop_config, load_loop_config
from sardonyx_train.loop.loop_files import LoopError, Stopped
from sardonyx_train.loop.page import StatusPage, create_page
from sardonyx_train.loop.rehearsal import describe_plan
from sardonyx_train.loop.replay import replay
from sardonyx_train.loop.runner import Loop, stop_on_signals
from sardonyx_train.loop.versions import change_best, describe_change, describe_status, prune

_STOPPED_STATUS = 130


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Improve a network by playing against itself.")
    parser.add_argument("--config", type=Path, help="YAML file; see configs/ and --describe")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="override one key")
    parser.add_argument("--reduced", action="store_true", help="the file's own variant for two CPU cores, its section `reduced`")
    parser.add_argument("--dry-run", action="store_true", help="check everything, print the plan, and exit")
    parser.add_argument("--status", action="store_true", help="show the state of the loop, and exit")
    parser.add_argument("--json", action="store_true", help="with --status: print the whole state as JSON")
    parser.add_argument(
        "--rollback", type=int, metavar="N", help="make the network of generation N the best, drop games of later networks, and exit"
    )
    parser.add_argument("--promote", type=int, metavar="N", help="make the network of generation N the best one, and exit")
    parser.add_argument(
        "--prune", type=int, metavar="N", help="remove what is not needed to go back to one of the last N generations, and exit"
    )
    parser.add_argument(
        "--replay", type=int, metavar="N", help="train generation N again from its record, compare the weights, and exit"
    )
    parser.add_argument("--describe", action="store_true", help="print every key with its default, and exit")
    options = parser.parse_args(arguments)
    if options.describe:
        print(describe_loop_config())
        return 0
    if options.config is None:
        parser.error("--config is needed")
    actions = [options.status, options.dry_run, *(n is not None for n in (options.rollback, options.promote, options.prune, options.replay))]
    if sum(actions) > 1:
        parser.error("give only one of --status, --dry-run, --rollback, --promote, --prune and --replay")
    if options.json and not options.status:
        parser.error("--json needs --status")
    if options.prune is not None and options.prune < 1:
        parser.error("--prune needs a number from 1")
    try:
        config = load_loop_config(options.config, options.set, options.reduced)
        if options.status and options.json:
            print(json.dumps(describe_status(config), indent=1))
        elif options.status:
            Console().print(create_page(config))
        elif options.rollback is not None:
            print(describe_change(change_best(config.folder, "rollback", options.rollback)))
        elif options.promote is not None:
            print(describe_change(change_best(config.folder, "promote", options.promote)))
        elif options.prune is not None:
            removed, size = prune(config.folder, config, options.prune)
            print(f"removed {len(removed)} files and folders, {size / 1e6:,.1f} MB")
        elif options.replay is not None:
            difference = replay(config, options.replay, lambda text: print(text, file=sys.stderr))
            print("the same weights to the last bit" if difference == 0 else f"the weights differ by at most {difference:.2g}")
        elif options.dry_run:
            print(describe_plan(config))
        else:
            with StatusPage(config, Console(stderr=True)) as page:
                loop = Loop(config, page.say)
                stop_on_signals(loop)
                loop.run()
    except Stopped:
        print("loop: stopped; the same command resumes it", file=sys.stderr)
        return _STOPPED_STATUS
    except (ConfigError, LoopError, ShardError, OSError) as error:
        print(f"loop: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
