"""The stages of a generation. Each may be interrupted at any time and started again; it then continues with what is missing."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..base.errors import TrainError
from ..base.files import PART, compute_digest, name_part, publish, read_json, remove, replacing, write_bytes, write_json
from ..config.loop_config import Flag, LoopConfig
from ..config.training_config import format_config
from ..data.shards import count_rows, list_pieces
from ..tasks.process import ProcessFailed, run_process
from ..tasks.task import ERRORS, Executor, Task
from ..tasks.usage import Meter
from .games import (
    adapt_resignation,
    check_games,
    create_match_tasks,
    create_self_play_tasks,
    gather,
    read_match,
    read_pairs,
    take_positions,
)
from .gate import judge, rate, sum_matches
from .state import Folders, Generation, LoopState, find_precision, list_lineage
from .training import (
    check_training,
    create_candidate_config,
    format_export_command,
    format_train_command,
    keep_weights,
    read_losses,
    read_resolved,
    write_first_weights,
)
from .versions import list_left_out
from .window import INDEX, Window, create_window

_ONE_PLY = "7k/8/8/8/8/8/1q6/K7 w - - 0 1\n"  # White must take the queen, and bare kings are a draw


@dataclass(frozen=True)
class Stages:
    """Each method without an underscore is a stage of `STAGES`, or a part of one."""

    config: LoopConfig  # plan of the current generation
    state: LoopState
    engine: Sequence[str]
    executor: Executor
    is_stopped: Callable[[], bool]
    lock: int
    meter: Meter

    @property
    def folders(self) -> Folders:
        return Folders(self.config.folder)

    def make_first_network(self) -> None:
        """Generation 0."""
        self.folders.networks.mkdir(parents=True, exist_ok=True)
        if not self.folders.checkpoint(0).exists():
            write_first_weights(self.config, self.folders.checkpoint(0))
        self._export(0, [])

    def rehearse(self, weights: Path, network: Path) -> list[str]:
        """Tries what would fail only later: the devices and weights of the training, the flags and books of the games, by games of
        one ply. Returns the engine's warnings, such as of a backend that is not there. Raises TrainError."""
        check_training(self.config, weights)
        config, gate, folder = self.config, self.config.gate, self.folders.root / "rehearsal"
        remove(folder)
        folder.mkdir(parents=True)
        one_ply, own, seed = folder / "one-ply.epd", compute_digest(network), config.run.seed
        write_bytes(one_ply, _ONE_PLY.encode())
        games = config.selfplay.model_copy(update={"games": 1})

        def plan_match(kind: str, flags: dict[str, Flag]) -> Callable[[str], list[Task]]:
            section = gate.model_copy(update={"flags": flags, "games_per_task": 2})
            return lambda book: create_match_tasks(section, 2, kind, seed, 0, {"candidate": own, "best": own}, book)

        trials = {"selfplay.flags": (str(one_ply), lambda book: create_self_play_tasks(games, seed, 0, own, book))}
        if gate.rule != "always" or config.measure.every > 0:
            trials["gate.flags"] = str(one_ply), plan_match("gate", gate.flags)
        books = {"selfplay.book": config.selfplay.book, "gate.book": gate.book}
        trials |= {key: (book, plan_match(key, {"nodes": 1, "max-plies": 1})) for key, book in books.items() if book is not None}
        warnings: dict[str, None] = {}
        for key, (book, create) in trials.items():
            files, digest = gather([network], book)
            (task,) = create(digest)
            try:
                self._play([task], folder, files)
            except ProcessFailed as error:
                raise TrainError(f"{key}: {error.said}") from None
            lines = (folder / task.name / ERRORS).read_text(encoding="utf-8", errors="replace").splitlines()
            warnings |= {f"{key}: {line}": None for line in lines if not line.startswith("Finished game")}
        remove(folder)
        return [*warnings]

    def selfplay(self, row: Generation) -> None:
        files, book = gather([self.folders.network(row.base)], self.config.selfplay.book)
        section = adapt_resignation(self.config.selfplay, self.folders, row.number - 1)
        tasks = create_self_play_tasks(section, self.config.run.seed, row.number, next(iter(files)), book)
        folder = self.folders.generation(row.number, "games")
        if section.positions is None:
            self._play(tasks, folder, files)
        else:
            self._play(tasks, folder, files, lambda: take_positions(tasks, folder, section.positions) is not None)
            taken = take_positions(tasks, folder, section.positions)
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
            raise TrainError(f"the games of generation {row.number} left no position to train on")

    def _make_shards(self, row: Generation, folder: Path) -> None:
        part = name_part(folder)
        remove(part)
        model = self.config.training.sections.model
        held_out = 100 * self.config.window.validation_share
        games = sorted(p for p in self.folders.generation(row.number, "games").iterdir() if p.is_dir() and p.suffix != PART)
        command = [*self.engine, "shards", *map(str, games), "--out", str(part), "--json"]
        command += ["--encoding", model.input, "--policy", model.policy, "--split", f"{100 - held_out:g}/{held_out:g}/0"]
        summary = json.loads(self._run(command, self.folders.generation(row.number), "shards"))
        if summary["damaged"] > 0:
            raise TrainError(f"{summary['damaged']} games of generation {row.number} are damaged; see shards.txt")
        index: dict[str, dict[str, int]] = {"train": {}, "validation": {}}
        for split, listed in index.items():
            for path in sorted((part / split).glob("*.arrow")) if (part / split).is_dir() else []:
                listed[f"{split}/{path.name}"] = count_rows(list_pieces([path]))
            if sum(listed.values()) != summary["positions"][split]:
                raise TrainError(f"the shards of generation {row.number} hold other numbers of positions than reported")
        write_json(part / INDEX, index)
        publish(part, folder)

    def training(self, row: Generation) -> None:
        folder = self.folders.generation(row.number, "training")
        folder.mkdir(parents=True, exist_ok=True)
        window = self.create_window(row)
        start = self.folders.checkpoint(row.base)
        precision, trained = find_precision(self.state), len(list_lineage(self.state)) - 1
        training = create_candidate_config(self.config, window, row.number, start, folder, precision, trained)
        row.window, row.steps = window.positions, training.schedule.max_steps
        row.samples = row.steps * training.data.batch_size * training.optimizer.accumulation * self.config.training.processes
        path, last = folder / "train.yaml", folder / "last.pt"
        write_bytes(path, format_config(training).encode())
        resume = last if last.exists() else None
        self._run(format_train_command(path, resume, self.config.training.processes), folder, "training")
        row.policy_loss, row.value_loss = read_losses(folder)

    def export(self, row: Generation) -> None:
        weights = self.folders.checkpoint(row.number)
        if not weights.exists():
            last = self.folders.generation(row.number, "training") / "last.pt"
            keep_weights(last, weights, self.config.training.sections.model, self.config.training.carry_moments)
        row.resolved = read_resolved(weights)
        self._export(row.number, [str(file.path) for file in self.create_window(row).validation])

    def create_window(self, row: Generation) -> Window:
        return create_window(self.folders, row.number, self.config.window, list_left_out(self.state))

    def _export(self, number: int, held_out: list[str]) -> None:
        path = self.folders.network(number)
        if path.exists():
            return
        name = f"{self.config.run.name}-{number:04d}"
        folder = self.folders.generation(number)
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(path) as part:
            command = format_export_command(self.folders.checkpoint(number), part, name, self.config, held_out, is_trained=number > 0)
            self._run(command, folder, "export")

    def gate(self, row: Generation, kind: str = "gate") -> None:
        """`kind`: of the tasks and of their folder."""
        section = self.config.gate
        if section.rule == "always":
            row.promoted = True
            return
        players = {"candidate": self.folders.network(row.number), "best": self.folders.network(row.base)}
        tasks, files, folder = self._plan_match(kind, row, section.games, players)
        self._play(tasks, folder, files, lambda: judge(read_pairs(tasks, folder), section, self.engine)[1] is not None)
        row.gate, row.promoted = judge(read_pairs(tasks, folder), section, self.engine)
        for part in folder.glob(f"*{PART}"):  # of a task that was cut short by the verdict: its games are kept to be looked at
            whole = part.with_name(part.name.removesuffix(PART))
            if not whole.exists():
                publish(part, whole)

    def measure(self, row: Generation) -> None:
        """Plays the best network against the opponent of the `measure` section under the gate's conditions, if a measurement is due."""
        measure = self.config.measure
        best = row.number if row.promoted else row.base
        is_due = measure.every > 0 and (row.number % measure.every == 0 or row.number == self.config.run.generations)
        if not is_due or (measure.opponent == "first" and best == 0):
            return
        opponent = self.folders.network(0) if measure.opponent == "first" else None
        tasks, files, folder = self._plan_match("measure", row, measure.games, {"best": self.folders.network(best), "first": opponent})
        self._play(tasks, folder, files)
        row.measured = rate(sum_matches(read_match(task, folder) for task in tasks), self.engine)

    def _plan_match(
        self, kind: str, row: Generation, games: int, players: dict[str, Path | None]
    ) -> tuple[list[Task], dict[str, Path], Path]:
        files, book = gather([path for path in players.values() if path is not None], self.config.gate.book)
        digests = {name: None if path is None else compute_digest(path) for name, path in players.items()}
        tasks = create_match_tasks(self.config.gate, games, kind, self.config.run.seed, row.number, digests, book)
        return tasks, files, self.folders.generation(row.number, kind)

    def _play(self, tasks: Sequence[Task], folder: Path, files: Mapping[str, Path], is_enough: Callable[[], bool] = lambda: False) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        if not is_enough():
            self.executor.run(tasks, folder, files, is_enough)

    def _run(self, command: Sequence[str], folder: Path, name: str) -> str:
        """Returns the child's output. Its log is NAME.txt in the folder."""
        output, errors = folder / f"{name}.out", folder / f"{name}.txt"
        try:
            run_process(command, output, errors, self.is_stopped, pass_handles=(self.lock,), watch=self.meter.watch(name))
        except ProcessFailed as error:
            raise TrainError(f"{name}: {error.said}; its log is {errors}") from None
        return output.read_text(encoding="utf-8")
