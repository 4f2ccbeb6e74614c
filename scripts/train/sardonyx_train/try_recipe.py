"""The command `try-recipe`: runs a loop for some minutes (its reduced variant unless --full), stops it, and lets the best network play
generation 0 until a sequential test says whether it is clearly better: SPRT, elo0 = 0, elo1 = 50. The status is 0 if it is.
"""

import json
import shlex
import signal
import subprocess
import sys
from argparse import Namespace

from .errors import TrainError
from .loop.folders import Folders
from .loop.games import format_flags
from .loop.gate import estimate_elo
from .loop.state import LoopState, Match, load_state
from .loop_config import LoopConfig, find_engine, load_loop_config
from .tasks.process import OWN_PROGRAM, own_environment

_STOPPED = 130
_SPRT = "elo0=0 elo1=50 alpha=0.05 beta=0.05 model=logistic"


def try_recipe(options: Namespace) -> int:
    if options.config is None:
        raise TrainError("--config is needed")
    config = load_loop_config(options.config, options.set, not options.full)
    variant = [] if options.full else ["--reduced"]
    if options.minutes > 0:
        overrides = [word for text in options.set for word in ("--set", text)]
        status = run_for([*OWN_PROGRAM, "loop", "--config", str(options.config), *variant, *overrides], 60 * options.minutes)
        if status not in (0, _STOPPED):
            return status
    state = load_state(config.folder)
    if state is None or state.best == 0:
        print("no network was promoted: nothing to compare with generation 0")
        return 1
    return report(state, play(config, state, options.games))


def run_for(command: list[str], seconds: float) -> int:
    """Runs the command, sends it an interrupt after `seconds`, and returns its exit status."""
    process = subprocess.Popen(command, env=own_environment())
    try:
        return process.wait(seconds)
    except subprocess.TimeoutExpired:
        pass
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
    return process.wait()


def play(config: LoopConfig, state: LoopState, games: int) -> dict[str, object]:
    """The best network against generation 0, played as the gate plays; the answer of `sardonyx match --json`."""
    folders = Folders(config.folder)
    command = [*find_engine(config), "match", "--json", "--rating-interval=0", f"--games={games}", f"--sprt={_SPRT}"]
    command += [f"--player1.weights={folders.network(state.best)}", "--player1.name=best"]
    command += [f"--player2.weights={folders.network(0)}", "--player2.name=first", *format_flags(config.gate.flags)]
    print(shlex.join(command), file=sys.stderr)
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise TrainError("the match failed")
    return json.loads(done.stdout)


def report(state: LoopState, answer: dict[str, object]) -> int:
    match = Match(answer["wins"], answer["draws"], answer["losses"])  # type: ignore[arg-type]
    promoted = sum(row.promoted is True for row in state.generations)
    played = sum(row.games or 0 for row in state.generations)
    positions = sum(row.positions or 0 for row in state.generations)
    print(f"{len(state.generations)} generations, {promoted} promoted, {played:,} games, {positions:,} positions")
    print(f"generation {state.best} against generation 0: +{match.wins} ={match.draws} -{match.losses}, {estimate_elo(match):+.0f} Elo")
    verdict = answer["sprt"]["verdict"] if isinstance(answer.get("sprt"), dict) else None  # type: ignore[index]
    is_better = verdict == "elo1"
    print("clearly better than it began" if is_better else "not clearly better than it began")
    return 0 if is_better else 1
