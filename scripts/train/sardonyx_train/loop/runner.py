"""Runs the stages of each generation in turn and saves the state after every stage."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from ..base.errors import TrainError
from ..base.files import PART, copy_file, remove, write_bytes
from ..base.lock import lock_folder
from ..config.loop_config import LoopConfig, check_files, find_engine, parse_loop_config
from ..config.training_config import format_config
from ..tasks.cluster import create_executor
from ..tasks.task import Executor
from ..tasks.usage import Meter, describe_usage
from .game_stream import GameStream
from .gate import rate
from .loop_plots import plot_loop
from .page import describe_match, format_match
from .stages import Stages
from .state import STAGES, Folders, Generation, LoopState, Match, load_state, save_state
from .versions import is_finished, write_version

# Sections that may change while a generation runs: they decide where tasks run, not their results.
_FREE_SECTIONS = ("engine", "local", "cluster")


class Loop:
    """`say` receives one line whenever a stage has finished."""

    def __init__(self, config: LoopConfig, say: Callable[[str], None]) -> None:
        self._config = config
        self._say = say
        self.stop = threading.Event()  # set, also in a signal handler, it makes `run` raise Stopped soon
        self._meter = Meter()
        self._stream: GameStream | None = None
        self.folders = Folders(config.folder)

    def run(self) -> None:
        """Runs until the last generation has finished. Raises Stopped and TrainError; finished work is kept."""
        self.folders.root.mkdir(parents=True, exist_ok=True)
        with lock_folder(self.folders.root) as lock:
            state = self.load_state()
            check_files(self._config)
            with self._open(self._config, state, lock) as stages:
                try:
                    self._run(state, stages)
                finally:
                    self._close_stream()

    def _run(self, state: LoopState, stages: Stages) -> None:
        self._say(f"games are played on {stages.executor.describe()}")
        kept, text = self.folders.root / "loop.yaml", format_config(self._config)
        stages.make_first_network()
        if not kept.exists() or kept.read_text(encoding="utf-8") != text:
            for warning in stages.rehearse(self.folders.checkpoint(state.best), self.folders.network(state.best)):
                self._say(warning)
            write_bytes(kept, text.encode())
        self._complete_finish(state)
        while not is_finished(self._config, state):
            self._run_generation(state, stages)
        self._say(f"finished: {len(state.generations)} generations, the best is {state.best}; raise run.generations to go on")

    def rehearse(self) -> list[str]:
        """What `run` does before its first game, in a folder that is removed. Returns the engine's warnings; raises TrainError."""
        state, own = self.load_state(), self.folders
        root = self.folders.root.absolute()
        place = next(path for path in (root, *root.parents) if path.exists())
        try:
            made = TemporaryDirectory(prefix=".rehearsal-", dir=place)
        except OSError as error:
            raise TrainError(f"run.out: the folder {root} cannot be written: {error.strerror}") from None
        with made as folder:
            config = self._config.model_copy(update={"run": self._config.run.model_copy(update={"out": folder})})
            with lock_folder(Path(folder)) as lock, self._open(config, state, lock) as stages:
                if not own.network(state.best).exists():
                    stages.make_first_network()
                    own = stages.folders
                return stages.rehearse(own.checkpoint(state.best), own.network(state.best))

    def try_best(self) -> Match:
        """Lets the best network play generation 0 by the section `gate`, which measures it; the same call goes on where it was stopped."""
        with lock_folder(self.folders.root) as lock:
            state = self.load_state()
            row = Generation(state.best, 0)
            with self._open(self._config, state, lock) as stages:
                stages.gate(row, "trial")
                rate(row.gate, stages.engine)
            for own in state.generations:
                if own.number == state.best and own.promoted:
                    own.measured = row.gate
            save_state(self.folders.root, state)
            return row.gate

    def load_state(self) -> LoopState:
        """A new one if no loop has begun in the folder. Raises TrainError if it is another loop's."""
        state = load_state(self.folders.root) or LoopState(self._config.run.name)
        if state.name != self._config.run.name:
            raise TrainError(f"{self.folders.root} holds the loop '{state.name}', the configuration is of '{self._config.run.name}'")
        return state

    @contextmanager
    def _open(self, config: LoopConfig, state: LoopState, lock: int) -> Iterator[Stages]:
        """The stages, with an executor that is closed when the block ends."""
        executor = create_executor(config, self.stop.is_set, lock, self._meter, self._say, Folders(config.folder).workers)
        with closing(executor):
            yield Stages(config, state, find_engine(config), executor, self.stop.is_set, lock, self._meter)

    def _run_generation(self, state: LoopState, stages: Stages) -> None:
        row = state.current
        plan = self._begin(state)
        self._open_stream(state, plan, stages.executor)
        stages = replace(stages, config=plan)
        for name in STAGES[STAGES.index(state.stage) :]:
            if name != state.stage:  # the one before is finished
                state.stage = name
                save_state(self.folders.root, state)
            started = time.monotonic()
            if name == "selfplay" and plan.asynchronous is not None:
                self._take_games(state, plan)
            else:
                getattr(stages, name)(row)
            row.seconds[name] = round(row.seconds.get(name, 0.0) + time.monotonic() - started, 1)
            row.usage.add(self._meter.lap())
            result = _describe(name, row)
            if name != "measure" or result != "":
                self._say(f"generation {row.number}: {name} done in {time.monotonic() - started:.0f} s{result}")
        write_version(self.folders, row, state.plan, stages.create_window(row))
        self._finish(state)
        if self._config.asynchronous is None:
            self._close_stream()
        elif self._stream is not None:
            self._stream.follow(state)
        self._say(f"generation {row.number}: {'; '.join(filter(None, self._describe_cost(row)))}")

    def _describe_cost(self, row: Generation) -> list[str]:
        seconds, left = round(sum(row.seconds.values())), self._config.run.generations - row.number
        return [
            "" if row.sampling_ratio is None else f"{row.sampling_ratio:.1f} samples for each new position",
            describe_usage(row.usage),
            f"{timedelta(seconds=seconds)} in all"
            + (f", so {timedelta(seconds=left * seconds)} for the {left} to come" if left > 0 else ""),
        ]

    def _open_stream(self, state: LoopState, plan: LoopConfig, executor: Executor) -> None:
        needs_games = plan.asynchronous is not None and state.stage == STAGES[0]
        if self._stream is None and (self._config.asynchronous is not None or needs_games):
            config = self._config if self._config.asynchronous is not None else plan
            self._stream = GameStream(config, executor, state, self._say)
            self._stream.start()

    def _close_stream(self) -> None:
        if self._stream is not None:
            self._stream.close()
            self._stream = None

    def _take_games(self, state: LoopState, plan: LoopConfig) -> None:
        """The state gives the batches to the generation before they move, so that a kill in between loses none."""
        row = state.current
        if row.batches is None:
            row.batches = self._stream.wait_for_games(plan.selfplay.games, plan.selfplay.positions, self.stop.is_set)
            save_state(self.folders.root, state)
        row.games = self._stream.move(row.batches, self.folders.generation(row.number, "games"))

    def _begin(self, state: LoopState) -> LoopConfig:
        """Returns the configuration that the generation began with, and saves it first if it begins now.

        So a configuration that changes in between does not apply to half of a generation.
        """
        if not state.plan:
            state.plan = self._config.model_dump()
            save_state(self.folders.root, state)
        free = {name: value for name, value in self._config.model_dump().items() if name in _FREE_SECTIONS}
        plan = parse_loop_config({**state.plan, **free})
        plan.run.out = self._config.run.out
        if plan.model_dump(exclude={"run"}) != self._config.model_dump(exclude={"run"}):
            number = state.current.number
            self._say(f"generation {number} continues with the configuration that it began with; the new one applies from {number + 1}")
        return plan

    def _finish(self, state: LoopState) -> None:
        """Ends the generation, updates the best network and begins the next generation, in one write."""
        row = state.current
        state.generations.append(row)
        if row.promoted:
            state.best = row.number
        state.current = Generation(row.number + 1, state.best)
        state.stage, state.plan = STAGES[0], {}
        save_state(self.folders.root, state)
        self._complete_finish(state)

    def _complete_finish(self, state: LoopState) -> None:
        """Does what follows from the saved state. Repeated at every start, because the loop may have been killed before it."""
        copy_file(self.folders.network(state.best), self.folders.best)
        if state.generations:
            number = state.generations[-1].number
            # Training checkpoints, and unfinished tasks of a gate that ended early.
            for part, pattern in (("training", "*.pt*"), ("gate", f"*{PART}"), ("games", f"*{PART}")):
                for path in self.folders.generation(number, part).glob(pattern):
                    remove(path)
            plot_loop(self.folders, state, self._config.gate)


def _describe(stage: str, row: Generation) -> str:
    if stage == "selfplay":
        return f": {row.games} games"
    if stage == "shards":
        return f": {row.positions:,} positions"
    if stage == "training" and row.policy_loss is not None:
        return f": policy loss {row.policy_loss:.3f}, value loss {row.value_loss:.3f}"
    if stage == "gate":
        return f": {'promoted' if row.promoted else 'not promoted'}" + (f", {format_match(row.gate)}" if row.gate is not None else "")
    if stage == "measure" and row.measured is not None:
        return f": {describe_match(row.measured)}"
    return ""
