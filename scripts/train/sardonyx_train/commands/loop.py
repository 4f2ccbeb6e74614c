"""The command `loop`: self-play, training, export and gate in a circle, a look at it or a way back, and a rehearsal of it."""

import math
import shlex
import sys
from argparse import Namespace

from rich.console import Console

from ..config.loop_config import LoopConfig, check_files, describe_loop_config, find_engine, load_loop_config
from ..loop.games import format_flags
from ..loop.page import StatusPage, create_page, describe_gate
from ..loop.replay import replay
from ..loop.runner import Loop
from ..loop.state import load_state
from ..loop.training import plan_steps
from ..loop.versions import change_best, describe_change, prune
from ..tasks.process import stop_on_signals

_PLIES = 130  # of a game of self-play, about what the loops of docs/dev/training-log.md had


def loop(options: Namespace) -> int:
    if options.describe:
        print(*describe_loop_config(), sep="\n")
        return 0
    config = load_loop_config(options.config, options.set, options.reduced)
    if options.status:
        console = Console()
        console.print(create_page(config, console.width))
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
            running = Loop(config, page.say)
            stop_on_signals(running.stop.set)
            running.run()
    return 0


def describe_plan(config: LoopConfig) -> str:
    """Raises TrainError for settings with which the loop would fail at its start."""
    from ..model.network import Network, count_parameters

    check_files(config)
    warnings = Loop(config, lambda _: None).rehearse()
    training = config.training.sections
    state = load_state(config.folder)
    selfplay, window, model = config.selfplay, config.window, training.model
    tasks = math.ceil(selfplay.games / selfplay.games_per_task)
    own = config.training
    plans = ((own.steps, "steps"), (own.sampling_ratio, "samples for each new position"), (own.passes, "passes"))
    amount, unit = next((amount, unit) for amount, unit in plans if amount is not None)
    where = "this machine" if config.cluster is None else f"the Ray cluster at {config.cluster.address}"
    if config.asynchronous is not None:
        where += ", without pause"
    wanted = f"{selfplay.games} games"
    if selfplay.positions is not None:
        wanted = f"{selfplay.positions:,} positions, {wanted} at most"
    of = "" if window.generations is None else f" of {window.generations} generations"
    lines = [
        f"engine      {shlex.join(find_engine(config))}",
        f"network     {count_parameters(Network(model)):,} parameters, {model.input} → {model.policy}, {model.value}",
        f"start       {config.training.start or 'random weights'}",
        f"self-play   {wanted} in {tasks} tasks on {where}: {' '.join(format_flags(selfplay.flags))}",
        (
            f"window      {window.positions:,} positions{of}, ≥ {window.recent_weight:.0%} of samples from the newest "
            f"{window.recent_generations} generation(s), {window.validation_share:.0%} of games held out"
        ),
        f"training    {amount:g} {unit} a generation, batch {training.data.batch_size}, {training.optimizer.kind}",
        f"generation  {describe_generation(config)}",
        f"gate        {describe_gate(config.gate)}: {' '.join(format_flags(config.gate.flags))}",
        f"folder      {config.folder}: "
        + ("nothing there yet" if state is None else f"goes on with generation {state.current.number}, {state.stage}"),
        *(f"warning     {warning}" for warning in warnings),
    ]
    return "\n".join(lines)


def describe_generation(config: LoopConfig) -> str:
    """What a generation is worth: its new positions and its steps, with the window of the first one and with a full one."""
    selfplay, window, training = config.selfplay, config.window, config.training
    plies = min(_PLIES, int(selfplay.flags.get("max-plies", _PLIES)))
    share = float(selfplay.flags.get("full-search-share", 0.25)) if "fast-visits" in selfplay.flags else 1.0
    new = min(selfplay.positions or math.inf, round(selfplay.games * plies * share))
    full = max(new, min(window.positions, new * (window.generations or math.inf)))
    size = training.sections.optimizer.accumulation * training.processes
    (batch, first), (_, last) = plan_steps(config, new, new), plan_steps(config, new, full)
    steps = f"{first:,}" if first == last else f"{first:,} to {last:,}"
    return f"about {new:,} new positions (games of {plies} plies), {steps} steps of {batch * size:,}, {first * batch * size / new:.1f} samples for each"
