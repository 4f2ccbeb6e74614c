"""The stages of a generation. Each may be interrupted at any time and started again; it then continues with what is missing."""

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from ..config import format_config
from ..data.shards import read_info
from ..errors import LoopError, Stopped
from ..files import PART, compute_digest, name_part, publish, read_json, remove, write_bytes, write_json
from ..loop_config import LoopConfig
from ..tasks.process import ProcessFailed, ProcessStopped, run_process
from ..tasks.task import Executor, Task
from ..tasks.usage import Meter
from .folders import Folders
from .games import (
    adapt_resignation,
    check_games,
    create_gate_tasks,
    create_measure_tasks,
    create_self_play_tasks,
    read_match,
    read_pairs,
    take_positions,
)
from .gate import compute_llr, judge, sum_matches
from .state import Generation
from .training import (
    create_candidate_config,
    format_export_command,
    format_train_command,
    keep_weights,
    read_losses,
    read_resolved,
    write_first_weights,
)
from .window import INDEX, Window, create_window


class Stages:
    """Each method is a stage of `STAGES`, or a part of one. `config`: plan of the current generation; `left_out`: generations whose games
    are not trained on; `precision`: what `auto` was at the loop's first training."""

    def __init__(
        self,
        config: LoopConfig,
        engine: Sequence[str],
        executor: Executor,
        is_stopped: Callable[[], bool],
        lock: int | None,
        left_out: frozenset[int] = frozenset(),
        precision: str | None = None,
        meter: Meter | None = None,
    ) -> None:
        self._config = config
        self._engine = engine
        self._executor = executor
        self._is_stopped = is_stopped
        self._handles = () if lock is None else (lock,)
        self._left_out = left_out
        self._precision = precision
        self._meter = meter
        self.folders = Folders(config.folder)

    def make_first_network(self) -> None:
        """Generation 0."""
        self.folders.networks.mkdir(parents=True, exist_ok=True)
        if not self.folders.checkpoint(0).exists():
            write_first_weights(self._config, self.folders.checkpoint(0))
        self._export(0, [])

    def selfplay(self, row: Generation) -> None:
        files, book = self._gather([self.folders.network(row.base)], self._config.selfplay.book)
        section = adapt_resignation(self._config.selfplay, self.folders, row.number - 1)
        seed = self._config.run.seed
        tasks = create_self_play_tasks(section, seed, row.number, next(iter(files)), book)
        folder = self.folders.generation(row.number, "games")
        if section.positions is None:
            self._play(tasks, folder, files)
        else:
            self._play(tasks, folder, files, lambda: take_positions(tasks, folder, section.positions) is not None)
            taken = take_positions(tasks, folder, section.positions) or []
            for surplus in tasks[len(taken) :]:  # of a faster machine; what counts must not hang on that
                remove(folder / surplus.name)
            tasks = taken
        row.games = check_games(tasks, folder)

    def shards(self, row: Generation) -> None:
        folder = self.folders.generation(row.number, "shards")
        if not folder.exists():
            self._make_shards(row, folder)
        index: dict[str, dict[str, int]] = read_json(folder / INDEX)
        row.positions = sum(index["train"].values())
        if row.positions == 0:
            raise LoopError(f"the games of generation {row.number} left no position to train on")

    def _make_shards(self, row: Generation, folder: Path) -> None:
        part = name_part(folder)
        remove(part)
        model = self._config.training.sections.model
        held_out = 100 * self._config.window.validation_share
        games = sorted(p for p in self.folders.generation(row.number, "games").iterdir() if p.is_dir() and p.suffix != PART)
        command = [*self._engine, "shards", *map(str, games), "--out", str(part), "--json"]
        command += ["--encoding", model.input, "--policy", model.policy, "--split", f"{100 - held_out:g}/{held_out:g}/0"]
        summary = json.loads(self._run(command, self.folders.generation(row.number), "shards"))
        if summary["damaged"] > 0:
            raise LoopError(f"{summary['damaged']} games of generation {row.number} are damaged; see shards.txt")
        index: dict[str, dict[str, int]] = {"train": {}, "validation": {}}
        for split, listed in index.items():
            for path in sorted((part / split).glob("*.arrow")) if (part / split).is_dir() else []:
                listed[f"{split}/{path.name}"] = sum(read_info(path).rows)
            if sum(listed.values()) != summary["positions"][split]:
                raise LoopError(f"the shards of generation {row.number} hold other numbers of positions than reported")
        write_json(part / INDEX, index)
        publish(part, folder)

    def training(self, row: Generation) -> None:
        folder = self.folders.generation(row.number, "training")
        folder.mkdir(parents=True, exist_ok=True)
        window = self.create_window(row)
        training = create_candidate_config(self._config, window, row.number, self.folders.checkpoint(row.base), folder, self._precision)
        row.window, row.steps = window.positions, training.schedule.max_steps
        row.samples = row.steps * training.data.batch_size * training.optimizer.accumulation * self._config.training.processes
        path, last = folder / "train.yaml", folder / "last.pt"
        write_bytes(path, format_config(training).encode())
        resume = last if last.exists() else None
        self._run(format_train_command(path, resume, self._config.training.processes), folder, "training")
        row.policy_loss, row.value_loss = read_losses(folder)

    def export(self, row: Generation) -> None:
        weights = self.folders.checkpoint(row.number)
        if not weights.exists():
            last = self.folders.generation(row.number, "training") / "last.pt"
            row.resolved = keep_weights(last, weights, self._config.training.sections.model, self._config.training.carry_moments)
        elif row.resolved is None:  # the loop was killed behind the copy
            row.resolved = read_resolved(weights)
        window = self.create_window(row)
        self._export(row.number, [str(file.path) for file in window.validation])

    def create_window(self, row: Generation) -> Window:
        return create_window(self.folders, row.number, self._config.window, self._left_out)

    def _export(self, number: int, held_out: list[str]) -> None:
        path = self.folders.network(number)
        if path.exists():
            return
        part = name_part(path)
        name = f"{self._config.run.name}-{number:04d}"
        folder = self.folders.generation(number)
        folder.mkdir(parents=True, exist_ok=True)
        command = format_export_command(self.folders.checkpoint(number), part, name, self._config, held_out, is_trained=number > 0)
        self._run(command, folder, "export")
        publish(part, path)

    def gate(self, row: Generation) -> None:
        section, seed = self._config.gate, self._config.run.seed
        if section.rule == "always":
            row.promoted = True
            return
        networks = [self.folders.network(row.number), self.folders.network(row.base)]
        files, book = self._gather(networks, section.book)
        candidate, best = (compute_digest(path) for path in networks)
        tasks = create_gate_tasks(section, seed, row.number, candidate, best, book)
        folder = self.folders.generation(row.number, "gate")

        self._play(tasks, folder, files, lambda: judge(read_pairs(tasks, folder), section)[1] is not None)
        row.gate, row.promoted = judge(read_pairs(tasks, folder), section)
        for part in folder.glob(f"*{PART}"):  # of a task that was cut short by the verdict: its games are kept to be looked at
            whole = part.with_name(part.name.removesuffix(PART))
            if not whole.exists():
                publish(part, whole)
        if section.rule == "sprt":
            row.gate.llr = round(compute_llr(row.gate.pairs, section.elo0, section.elo1), 3)

    def measure(self, row: Generation) -> None:
        """Plays the best network against the opponent of the `measure` section, if a measurement is due."""
        measure, gate = self._config.measure, self._config.gate
        if measure.every == 0 or row.number % measure.every != 0:
            return
        best = row.number if row.promoted else row.base
        against_first = measure.opponent == "first"
        if against_first and best == 0:
            return
        networks = [self.folders.network(best), *([self.folders.network(0)] if against_first else [])]
        files, book = self._gather(networks, gate.book)
        digests = [compute_digest(path) for path in networks]
        first = digests[1] if against_first else None
        tasks = create_measure_tasks(measure, gate, self._config.run.seed, row.number, digests[0], first, book)
        folder = self.folders.generation(row.number, "measure")
        self._play(tasks, folder, files)
        row.measured = sum_matches(read_match(task, folder) for task in tasks)

    def _play(self, tasks: Sequence[Task], folder: Path, files: Mapping[str, Path], is_enough: Callable[[], bool] = lambda: False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if not is_enough():
            self._executor.run(tasks, folder, files, is_enough)

    def _gather(self, networks: Sequence[Path], book: str | None) -> tuple[dict[str, Path], str | None]:
        files = {compute_digest(path): path for path in networks}
        if book is None:
            return files, None
        path = Path(book)
        if not path.is_file():
            raise LoopError(f"there is no book {book}")
        digest = compute_digest(path)
        return {**files, digest: path}, digest

    def _run(self, command: Sequence[str], folder: Path, name: str) -> str:
        """Returns the child's output. Its log is NAME.txt in the folder."""
        output, errors = folder / f"{name}.out", folder / f"{name}.txt"
        watch = None if self._meter is None else self._meter.watch(name)
        try:
            run_process(command, output, errors, self._is_stopped, pass_handles=self._handles, watch=watch)
        except ProcessStopped:
            raise Stopped from None
        except ProcessFailed as error:
            raise LoopError(str(error)) from None
        return output.read_text(encoding="utf-8")
