"""The command `spread`: cuts labelling, analysis or a match into tasks, runs them on this machine or on a cluster, joins what came back,
and prints one JSON object.

Files that flags name (networks, books, tables) travel with the tasks: `--weights=net.onnx` becomes a file of the task.
"""

import bz2
import gzip
import json
import re
import threading
from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

from ..base.errors import TrainError
from ..base.files import compute_digest, copy_file, keep_plan, replacing, write_bytes
from ..base.lock import lock_folder
from ..base.progress_display import say
from ..config.loop_config import find_engine, parse_loop_config
from ..loop.games import deal_games, read_match
from ..loop.gate import rate, sum_matches
from ..tasks.cluster import create_executor
from ..tasks.process import stop_on_signals
from ..tasks.task import OUT, RESULTS, Executor, Task, refer_to
from ..tasks.usage import Meter

_PLAN = "plan.json"
_EVENT = b"[Event "


@dataclass(frozen=True)
class Work:
    """What the options ask for, the engine's command on this machine, and where the tasks run."""

    options: Namespace
    engine: Sequence[str]
    executor: Executor

    def run(self, tasks: Sequence[Task], files: Mapping[str, Path]) -> Path:
        """Returns where the folders of the tasks are."""
        place = self.options.out / "tasks"
        place.mkdir(parents=True, exist_ok=True)
        self.executor.run(tasks, place, files, lambda: False)
        return place

    def play(self, create_flags: Callable[[str], Sequence[str]]) -> tuple[list[Task], Path]:
        """Deals the games out to tasks with a seed each and runs them. `create_flags`: further flags of the task with this name.
        Returns the tasks, and where their folders are.
        """
        own = self.options
        plan = {own.work: own.engine_flags, "games": own.games, "per task": own.games_per_task, "seed": own.seed}
        keep_plan(own.out / _PLAN, plan)
        sent, files = send_files(own.engine_flags)
        tasks = []
        for name, count, seed in deal_games(own.work, own.games, own.games_per_task, own.seed):
            arguments = (own.work, f"--games={count}", f"--seed={seed}", "--json", *create_flags(name), *sent)
            tasks.append(Task(name, arguments, tuple(files), own.minutes))
        return tasks, self.run(tasks, files)


def spread(options: Namespace) -> int:
    stop = threading.Event()
    stop_on_signals(stop.set)
    cluster = None if options.cluster is None else {"address": options.cluster, "cpus": options.cpus, "gpus": options.gpus}
    config = parse_loop_config({"local": {"tasks": options.tasks}, "cluster": cluster, "engine": options.engine})
    options.out.mkdir(parents=True, exist_ok=True)
    do = {"label": label, "analyse": analyse, "match": match}[options.work]
    with lock_folder(options.out) as lock, closing(create_executor(config, stop.is_set, lock, Meter(), say)) as executor:
        print(json.dumps(do(Work(options, find_engine(config), executor)), indent=1))
    return 0


def label(work: Work) -> dict[str, Any]:
    """`labels-0000_0000.jsonl.gz` and so on in the folder; every task has a file prefix of its own."""
    tasks, place = work.play(lambda name: (f"--out={OUT}", "--concurrency=1", f"--prefix={name.replace('label', 'labels')}"))
    made = [path for task in tasks for path in sorted((place / task.name).glob("*.jsonl.gz"))]
    for path in made:
        if not (work.options.out / path.name).exists():
            copy_file(path, work.options.out / path.name)
    return {"games": work.options.games, "files": len(made)}


def analyse(work: Work) -> dict[str, Any]:
    """`analysed.pgn` in the folder, with the games in their order."""
    own = work.options
    digests = [compute_digest(path) for path in own.pgn]
    keep_plan(own.out / _PLAN, {"analyse": own.engine_flags, "per task": own.games_per_task, "inputs": digests})
    sent, files = send_files(own.engine_flags)
    tasks = []
    parts = own.out / "parts"
    parts.mkdir(exist_ok=True)
    for index, text in enumerate(split_pgn(own.pgn, own.games_per_task)):
        path = parts / f"{index:05d}.pgn"
        write_bytes(path, text)
        digest = compute_digest(path)
        arguments = ("analyse", refer_to(digest), f"--pgn={OUT}/analysed.pgn", "--json", *sent)
        tasks.append(Task(f"analyse-{index:05d}", arguments, (digest, *files), own.minutes))
        files[digest] = path
    place = work.run(tasks, files)
    target = own.out / "analysed.pgn"
    with replacing(target) as part, part.open("wb") as out:
        for task in tasks:
            out.write((place / task.name / "analysed.pgn").read_bytes().rstrip() + b"\n\n")
    return {"parts": len(tasks), "games": target.read_bytes().count(_EVENT)}


def match(work: Work) -> dict[str, Any]:
    """The result of the first player."""
    if work.options.games % 2 != 0 or work.options.games_per_task % 2 != 0:
        raise TrainError("games and games per task must be even: an opening is played with both colours")
    tasks, place = work.play(lambda _: (f"--results={OUT}/{RESULTS}", f"--pgnout={OUT}/games.pgn", "--rating-interval=0"))
    return asdict(rate(sum_matches(read_match(task, place) for task in tasks), work.engine))


def send_files(words: Sequence[str]) -> tuple[list[str], dict[str, Path]]:
    """Flags and their values, as `--flag=value` or in two words, with each existing file replaced by its digest; and the files.

    An engine is a command of the machine that runs it and does not travel.
    """
    files: dict[str, Path] = {}
    sent = []
    flag = ""
    for word in words:
        name, separator, value = word.partition("=") if word.startswith("-") else ("", "", word)
        flag = name or flag
        if value != "" and flag != "--engine" and Path(value).is_file():
            digest = compute_digest(Path(value))
            files[digest] = Path(value)
            word = f"{name}{separator}{refer_to(digest)}"
        sent.append(word)
    return sent, files


def _open_text(path: Path) -> IO[bytes]:
    if path.suffix in (".zst", ".zip", ".xz"):
        raise TrainError(f"{path}: only plain, .gz and .bz2 files are cut into parts; unpack it first")
    return {".gz": gzip.open, ".bz2": bz2.open}.get(path.suffix, open)(path, "rb")


def split_pgn(inputs: Sequence[Path], per_part: int) -> Iterator[bytes]:
    """Cuts before an Event tag; holds one part in memory. A text without such tags stays in one part."""
    lines: list[bytes] = []
    games = 0
    for path in inputs:
        with _open_text(path) as file:
            for line in file:
                if re.match(rb"\[Event\s", line):
                    if games == per_part:
                        yield b"".join(lines)
                        lines, games = [], 0
                    games += 1
                lines.append(line)
        lines.append(b"\n")
    if b"".join(lines).strip() != b"":
        yield b"".join(lines)
