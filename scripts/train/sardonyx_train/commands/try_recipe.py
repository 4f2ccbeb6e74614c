"""The command `try-recipe`: runs a loop for some minutes (its reduced variant unless --full), stops it, and lets the best network play
generation 0 until a sequential test says whether it is clearly better: SPRT, elo0 = 0, elo1 = 50. The status is 0 if it is.
"""

import json
import math
import os
import shlex
import signal
import subprocess
import sys
import threading
import time
from argparse import Namespace
from typing import Any

from rich.console import Console

from ..base.errors import STOPPED_STATUS, Stopped, TrainError
from ..config.loop_config import LoopConfig, check_files, find_engine, load_loop_config
from ..loop.games import format_flags
from ..loop.gate import estimate_elo
from ..loop.page import create_page, format_match
from ..loop.state import Folders, LoopState, Match, load_state
from ..tasks.process import OWN_PROGRAM, own_environment, stop_on_signals

_POLL_SECONDS = 0.1
_SPRT = "elo0=0 elo1=50 alpha=0.05 beta=0.05 model=logistic"


def try_recipe(options: Namespace) -> int:
    config = load_loop_config(options.config, options.set, not options.full)
    check_files(config)
    variant = [] if options.full else ["--reduced"]
    if options.minutes > 0:
        print(f"the loop runs for {options.minutes:g} minutes in {config.folder}, then its best network plays its first", file=sys.stderr)
        overrides = [word for text in options.set for word in ("--set", text)]
        status, _ = run_for([*OWN_PROGRAM, "loop", "--config", str(options.config), *variant, *overrides], 60 * options.minutes)
        if status not in (0, STOPPED_STATUS):
            return status  # the loop has said why
    state = load_state(config.folder)
    if state is None or state.best == 0:
        print("no network was promoted: nothing to compare with generation 0")
        return 1
    answer = play(config, state, options.games)
    console = Console()
    console.print(create_page(config, console.width))
    match = Match(answer["wins"], answer["draws"], answer["losses"])
    print(f"generation {state.best} against generation 0: {format_match(match)}, {estimate_elo(match):+.0f} Elo")
    is_better = (answer.get("sprt") or {}).get("verdict") == "elo1"
    print("clearly better than it began" if is_better else "not clearly better than it began")
    return 0 if is_better else 1


def run_for(command: list[str], seconds: float, stdout: int | None = None) -> tuple[int, str]:
    """Runs the command, and interrupts it after `seconds` or a request to stop. Returns its exit status and its output in a pipe.

    Raises Stopped after a request to stop. The command has a process group of its own, so that of Ctrl-C it gets only our interrupt: a
    second one would end it at once.
    """
    stop = threading.Event()
    stop_on_signals(stop.set)
    group = 0 if os.name == "posix" else None
    settings = {"text": True, "errors": "replace", "env": own_environment(), "process_group": group}
    with subprocess.Popen(command, stdout=stdout, **settings) as process:
        give_up = time.monotonic() + seconds
        while process.poll() is None and not stop.is_set() and time.monotonic() < give_up:
            stop.wait(_POLL_SECONDS)
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
        output = process.communicate()[0]
    if stop.is_set():
        raise Stopped
    return process.returncode, output or ""


def play(config: LoopConfig, state: LoopState, games: int) -> dict[str, Any]:
    """The best network against generation 0, played as the gate plays; the answer of `sardonyx match --json`."""
    folders = Folders(config.folder)
    command = [*find_engine(config), "match", "--json", "--rating-interval=0", f"--games={games}", f"--sprt={_SPRT}"]
    command += [f"--player1.weights={folders.network(state.best)}", "--player1.name=best"]
    command += [f"--player2.weights={folders.network(0)}", "--player2.name=first", *format_flags(config.gate.flags)]
    print(shlex.join(command), file=sys.stderr)
    status, output = run_for(command, math.inf, subprocess.PIPE)
    try:
        # Libraries of a device may write to stdout, too.
        answer = json.loads(output.strip().rpartition("\n")[2])
    except ValueError:
        answer = None
    if status != 0 or not isinstance(answer, dict):
        raise TrainError("the match failed")
    return answer
