"""The status page in the terminal. It reads only the loop's folder, so any process can show it."""

import threading
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from datetime import timedelta
from typing import Any, Self

from rich.console import Console, Group
from rich.live import Live
from rich.panel import Panel
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from ..base.errors import TrainError
from ..base.files import read_json
from ..config.loop_config import GateSection, LoopConfig
from ..tasks.usage import describe_usage
from ..training.metrics_log import read_history
from .game_stream import count_stream
from .games import count_games
from .gate import compute_chance
from .state import STAGES, Folders, Generation, LoopState, Match, load_state
from .training import read_planned_steps
from .versions import describe_change, is_finished

_ROWS_SHOWN = 12
_REFRESH_SECONDS = 1.0
_LINES_SHOWN = 5
_SECONDS_BETWEEN_LINES = 30.0  # without a terminal
_CHANGES_SHOWN = 3


class StatusPage:
    """Shows the page while a `with` block runs. If the output is no terminal, it prints the lines of `say`, and the stage's progress."""

    def __init__(self, config: LoopConfig, console: Console) -> None:
        self._config, self._console = config, console
        self._lines: list[str] = []
        self._live = Live(console=console, auto_refresh=False, screen=False) if console.is_terminal else None
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._refresh, daemon=True)

    def __enter__(self) -> Self:
        if self._live is not None:
            self._live.start()
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        if self._live is not None:
            self._update()
            self._live.stop()

    def say(self, text: str) -> None:
        line = f"{time.strftime('%H:%M:%S')} {text}"
        if self._live is None:
            self._console.print(line, highlight=False, markup=False, soft_wrap=True)
        else:
            self._lines = [*self._lines, line][-_LINES_SHOWN:]

    def _refresh(self) -> None:
        while not self._ended.wait(_SECONDS_BETWEEN_LINES if self._live is None else _REFRESH_SECONDS):
            self._update()

    def _update(self) -> None:
        with suppress(TrainError, OSError):  # a folder may vanish while it is read
            if self._live is None:
                state = load_state(self._config.folder)
                if state is not None:
                    text = _measure_progress(state.stage, self._config, Folders(self._config.folder), state.current)[2]
                    self.say(f"generation {state.current.number}: {state.stage}" + (f", {text}" if text else ""))
                return
            page = create_page(self._config, self._console.width)
            self._live.update(Group(page, *(Text(line, style="dim") for line in self._lines)), refresh=True)


def create_page(config: LoopConfig, width: int) -> Panel | Text:
    """`width`: of the terminal, in characters; what does not fit is left out as a whole."""
    folders = Folders(config.folder)
    state = load_state(folders.root)
    if state is None:
        return Text(f"no loop has begun in {folders.root}")
    head = Text(f"best network: generation {state.best}")
    measured = [row for row in state.generations if row.measured is not None]
    if measured:
        network = measured[-1].number if measured[-1].promoted else measured[-1].base
        opponent = "generation 0" if config.measure.opponent == "first" else "the player of random moves"
        head.append(f"\ngeneration {network} against {opponent}: {describe_match(measured[-1].measured)}")
    judged = [row.promoted for row in state.generations if row.promoted is not None]
    abandoned = len(state.generations) - len(judged)
    head.append(f"\n{sum(judged)} of {len(judged)} candidates promoted")
    if abandoned > 0:
        head.append(f", {abandoned} {'generation' if abandoned == 1 else 'generations'} abandoned")
    games = sum(row.games or 0 for row in state.generations)
    positions = sum(row.positions or 0 for row in state.generations)
    head.append(f", {games:,} games, {positions:,} positions to learn from")
    for change in state.changes[-_CHANGES_SHOWN:]:
        head.append(f"\n{time.strftime('%Y-%m-%d %H:%M', time.localtime(change.time))} {describe_change(change)}", "yellow")
    usage = describe_usage(*(row.usage for row in (*state.generations, state.current)))
    if usage != "":
        head.append(f"\n{usage}")
    if config.asynchronous is not None:
        ready, playing, dropped = count_stream(folders)
        head.append(f"\nself-play goes on: {ready} games ready, {playing} in unfinished batches, {dropped} dropped")
    parts = [head, _create_stages(config, folders, state), _create_table(state, width - 4)]
    if config.cluster is not None and folders.workers.exists():
        parts.append(_create_workers(read_json(folders.workers)))
    number, wanted = state.current.number, config.run.generations
    title = f"finished, {wanted} generations" if is_finished(config, state) else f"generation {number} of {wanted}"
    return Panel(Group(*parts), title=f"{state.name}: {title}")


def _create_workers(workers: dict[str, Any]) -> Table:
    """The cluster's nodes, as the loop last saw them."""
    table = _create_columns(("node", "CPUs", "GPUs", "tasks", "games", "last heard"))
    for node in workers["nodes"]:
        heard = "" if node["heard"] is None else f"{_format_seconds(max(0.0, time.time() - node['heard']))} ago"
        table.add_row(node["name"], f"{node['cpus']:g}", f"{node['gpus']:g}", str(node["tasks"]), str(node["games"]), heard)
    return table


def _create_columns(names: Iterable[str]) -> Table:
    table = Table(box=None, padding=(0, 1), header_style="dim")
    for name in names:
        table.add_column(name, justify="left" if name in ("node", "verdict", "gate") else "right", no_wrap=True)
    return table


def _create_stages(config: LoopConfig, folders: Folders, state: LoopState) -> Table:
    table = Table.grid(*("", "", ""), padding=(0, 2))
    at = STAGES.index(state.stage)
    if is_finished(config, state):
        return table
    for index, stage in enumerate(STAGES):
        done, total, text = _measure_progress(stage, config, folders, state.current)
        if index < at:
            seconds = state.current.seconds.get(stage)
            table.add_row(Text(stage, "dim"), "done", Text("" if seconds is None else _format_seconds(seconds), "dim"))
        elif index > at:
            table.add_row(Text(stage, "dim"))
        else:
            shown = ProgressBar(total=total, completed=done, width=30) if total > 0 else Text("now", "bold")
            table.add_row(Text(stage, "bold"), shown, text)
    return table


def _measure_progress(stage: str, config: LoopConfig, folders: Folders, row: Generation) -> tuple[float, float, str]:
    """Done, planned (0: not known), and a text."""
    if stage == "training":
        folder = folders.generation(row.number, "training")
        rows = read_history(folder)
        if not rows:
            return 0, 0, ""
        last, planned = rows[-1], read_planned_steps(folder)
        shown = ", ".join(f"{name} {last[name]:.3f}" for name in ("policy", "value") if name in last)
        return last["step"], planned, f"step {last['step']:,} of {planned:,}: {shown}"
    gate, measure = config.gate, config.measure
    counted = {
        "selfplay": ("games", config.selfplay.games),
        "gate": ("gate", 0 if gate.rule == "always" else gate.games),
        "measure": ("measure", 0 if measure.every == 0 else measure.games),
    }
    part, total = counted.get(stage, ("", 0))
    if total == 0:
        return 0, 0, ""
    is_stream = part == "games" and config.asynchronous is not None and row.batches is None
    done = count_stream(folders)[0] if is_stream else count_games(folders.generation(row.number, part))
    return done, total, f"{done} of {total} games"


# Columns of the table of generations; the ones with the highest rank are left out first where the terminal is narrow.
_COLUMNS: tuple[tuple[str, int, Callable[[Generation], Text | str]], ...] = (
    ("gen", 0, lambda row: str(row.number)),
    ("games", 4, lambda row: _show(row.games, ",")),
    ("positions", 2, lambda row: _show(row.positions, ",")),
    ("policy", 1, lambda row: _show(row.policy_loss, ".3f")),
    ("value", 1, lambda row: _show(row.value_loss, ".3f")),
    ("gate", 3, lambda row: format_match(row.gate)),
    ("score", 1, lambda row: "" if row.gate is None else f"{row.gate.score:.1%}"),
    ("verdict", 0, lambda row: _describe_verdict(row)),
    ("Elo", 1, lambda row: _describe_elo(row.measured)),
    ("time", 6, lambda row: _format_seconds(sum(row.seconds.values()))),
    ("ratio", 7, lambda row: _show(row.sampling_ratio, ".1f")),
    ("busy", 8, lambda row: _show(row.usage.busy if row.usage.wall > 0 else None, ".0%")),
)


def _create_table(state: LoopState, width: int) -> Table:
    shown = state.generations[-_ROWS_SHOWN:]
    columns = [(name, rank, [cell(row) for row in shown]) for name, rank, cell in _COLUMNS]
    while sum(max(map(len, (name, *cells))) + 2 for name, _, cells in columns) > width:
        columns.remove(max(columns, key=lambda column: column[1]))
    table = _create_columns([name for name, _, _ in columns])
    for cells in zip(*(cells for _, _, cells in columns)):
        table.add_row(*cells)
    return table


def _describe_verdict(row: Generation) -> Text:
    withdrawn = ", games withdrawn" if row.withdrawn else ""
    if row.promoted is None:
        return Text(f"abandoned{withdrawn}", "dim")
    return Text(f"promoted{withdrawn}", "green") if row.promoted else Text(f"kept the old{withdrawn}", "yellow")


def describe_gate(gate: GateSection) -> str:
    if gate.rule == "always":
        return "every candidate is promoted"
    sign = "≥" if gate.rule == "at-least" else ">"
    rule = f"score {sign} {gate.threshold:.0%} of {gate.games} games"
    if gate.rule == "sprt":
        rule = f"SPRT, Elo {gate.elo0:g} against {gate.elo1:g}, at most {gate.games} games"
    worse, equal, better = (f"{compute_chance(gate, elo):.0%}" for elo in (-30, 0, 30))
    return f"{rule}, which promote an equal network in {equal} of the cases, one of −30 Elo in {worse}, of +30 in {better}"


def format_match(match: Match | None) -> str:
    return "" if match is None else f"+{match.wins} ={match.draws} -{match.losses}"


def describe_match(match: Match) -> str:
    return f"{format_match(match)}, {_describe_elo(match)}"


def _describe_elo(match: Match | None) -> str:
    """With the error; a match that one side won outright has no Elo."""
    if match is None or match.elo is None:
        return "" if match is None else "all won" if match.score == 1 else "all lost"
    error = "∞" if match.elo_error is None else f"{match.elo_error:.0f}"
    return f"{match.elo:+.0f} ± {error} Elo"


def _format_seconds(seconds: float) -> str:
    return str(timedelta(seconds=round(seconds)))


def _show(number: float | None, form: str) -> str:
    return "" if number is None else format(number, form)
