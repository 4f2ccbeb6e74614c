"""Runs tasks on a Ray cluster. Ray transports, queues and watches over the nodes; this module records the results.

A task's finished games travel back while it runs, into the same unfinished folder that a task on this machine has. So a
worker or node that dies costs the games it had under way: another one continues the task. The folder gets its name when
the task is complete, so it is there once or not at all.
Input files go into Ray's object store once, compressed, and are fetched once by each node, which keeps them by digest.
"""

from __future__ import annotations

import json
import logging
import math
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..files import name_part, publish
from .games import RESULTS
from .loop_config import ClusterSection
from .loop_files import LoopError, Stopped, remove
from .node import Piece, play_task
from .task import OUTPUT, Task, TaskSource

_POLL_SECONDS = 0.2
_POLL_SECONDS_PER_TASK = 0.0005  # a look at a task costs Ray 10 µs, so looking takes the head 2 % of its time at most
_ROOM_SECONDS = 5.0  # between two looks at the size of the cluster
_SPARE = 1.1  # tasks handed out for each that can run, so that a worker never waits for the head
_FILES_KEPT = 8
_COMPRESSION = 6


class ClusterExecutor:
    def __init__(
        self, section: ClusterSection, engine: Sequence[str], is_stopped: Callable[[], bool], ray: Any = None
    ) -> None:
        """Joins the cluster; raises LoopError when Ray or the cluster is missing. `ray`: what stands for the module."""
        import sardonyx_train

        ray = ray or _import_ray()
        self._ray = ray
        self._section = section
        self._engine = section.engine or list(engine)
        self._is_stopped = is_stopped
        self._sent: dict[str, Any] = {}  # digest → object reference, the latest last
        self._lock = threading.Lock()  # of the counts below and of _sent: games and gates run at the same time
        self._in_flight = 0
        self._room = (-math.inf, 1)  # when it was read, tasks that can run at a time
        self.travels: dict[str, list[str]] = {}  # digest → nodes that fetched it
        if not ray.is_initialized():
            try:
                ray.init(address=section.address, log_to_driver=False, logging_level=logging.WARNING)
            except (ConnectionError, RuntimeError, ValueError) as error:
                raise LoopError(f"no Ray cluster at {section.address}: {error}") from None
        ray.cloudpickle.register_pickle_by_value(sardonyx_train)
        self._remote = ray.remote(_play)

    def describe(self) -> str:
        nodes = [node for node in self._ray.nodes() if node["Alive"]]
        cpus = sum(node["Resources"].get("CPU", 0) for node in nodes)
        return f"Ray cluster, {len(nodes)} nodes, {cpus:.0f} CPUs"

    def close(self) -> None:
        self._sent.clear()
        self._ray.shutdown()

    def run(
        self,
        tasks: Sequence[Task],
        folder: Path,
        files: Mapping[str, Path],
        is_enough: Callable[[], bool],
    ) -> None:
        """As LocalExecutor.run."""
        missing = iter([task for task in tasks if not (folder / task.name).exists()])
        with _Flight(self, folder) as flight:
            for task in missing:
                flight.submit(task, files)
            while flight.tasks and not is_enough():
                flight.collect(lambda task: None)
                if self._is_stopped():
                    raise Stopped

    def stream(self, source: TaskSource, folder: Path) -> None:
        """As LocalExecutor.stream: as many tasks at a time as the cluster can run beside those of `run`."""
        with _Flight(self, folder) as flight:
            while not (source.is_closed() or self._is_stopped()):
                while self._in_flight < math.ceil(_SPARE * self._count_room()):
                    given = source.take_task()
                    if given is None:
                        break
                    flight.submit(*given)
                flight.collect(source.finish)

    def _count_room(self) -> int:
        """Nodes come and go."""
        read_at, room = self._room
        if time.monotonic() - read_at > _ROOM_SECONDS:
            resources = self._ray.cluster_resources()
            room = int(resources.get("CPU", 0) / self._section.cpus)
            if self._section.gpus > 0:
                room = min(room, int(resources.get("GPU", 0) / self._section.gpus))
            self._room = time.monotonic(), max(1, room)
        return self._room[1]

    def _put(self, digest: str, path: Path) -> Any:
        with self._lock:
            reference = self._sent.pop(digest, None)
            if reference is None:
                reference = self._ray.put(zlib.compress(path.read_bytes(), _COMPRESSION))
            self._sent[digest] = reference
            while len(self._sent) > _FILES_KEPT:
                del self._sent[next(iter(self._sent))]
            return reference


def _import_ray() -> Any:
    try:
        import ray
    except ImportError:
        raise LoopError("the cluster section needs Ray: pip install -r scripts/train/requirements-ray.txt") from None
    return ray


class _Flight:
    """Tasks on their way. Leaving the `with` block cancels them; what they sent stays in their unfinished folders."""

    def __init__(self, cluster: ClusterExecutor, folder: Path) -> None:
        self._cluster = cluster
        self._ray = cluster._ray
        self._folder = folder
        self._failures: dict[str, int] = {}
        self.tasks: dict[Any, tuple[Task, Mapping[str, Path]]] = {}  # by the stream of their answers

    def __enter__(self) -> _Flight:
        return self

    def __exit__(self, *_: object) -> None:
        for answers in list(self.tasks):
            self._forget(answers)
            self._ray.cancel(answers, force=True)

    def submit(self, task: Task, files: Mapping[str, Path]) -> None:
        # References inside a list stay references: only a node that lacks the file asks for it.
        sent = [(digest, "".join(files[digest].suffixes), self._cluster._put(digest, files[digest])) for digest in task.files]
        section = self._cluster._section
        remote = self._cluster._remote.options(
            name=task.name,
            num_cpus=section.cpus,
            num_gpus=section.gpus,
            num_returns="streaming",
            max_retries=0,  # another try continues where this one ended, which Ray does not know
        )
        earlier = _read_earlier(name_part(self._folder / task.name))
        self.tasks[remote.remote(task, self._cluster._engine, sent, earlier, section.report_seconds)] = task, files
        with self._cluster._lock:
            self._cluster._in_flight += 1

    def collect(self, finish: Callable[[Task], None]) -> None:
        """Waits for answers, but not long. Raises LoopError for a task that fails by itself again and again."""
        ray = self._ray
        if not self.tasks:
            time.sleep(_POLL_SECONDS)
            return
        try:
            timeout = max(_POLL_SECONDS, _POLL_SECONDS_PER_TASK * len(self.tasks))
            ready, _ = ray.wait(list(self.tasks), num_returns=len(self.tasks), timeout=timeout)
        except ray.exceptions.RayError as error:
            raise LoopError(f"the Ray cluster is lost: {error}") from None
        for answers in ready:
            task, files = self.tasks[answers]
            try:
                piece: Piece = ray.get(next(answers))
            except ray.exceptions.RayTaskError as error:
                self._forget(answers)
                self._count_failure(task, error)
                self.submit(task, files)
            except (ray.exceptions.RayError, StopIteration):  # its worker or node is gone
                self._forget(answers)
                self.submit(task, files)
            else:
                self._store(task, piece)
                if piece.is_last:
                    self._forget(answers)
                    finish(task)

    def _forget(self, answers: Any) -> None:
        del self.tasks[answers]
        with self._cluster._lock:
            self._cluster._in_flight -= 1

    def _count_failure(self, task: Task, error: Any) -> None:
        """The next try begins anew: what is there may be the cause."""
        self._failures[task.name] = self._failures.get(task.name, 0) + 1
        if self._failures[task.name] > self._cluster._section.retries:
            where = getattr(error, "ip", "a node")
            raise LoopError(f"task {task.name} failed on every try, the last time on {where}: {error.cause or error}")
        for path in _list_engine_files(name_part(self._folder / task.name)):
            remove(path)

    def _store(self, task: Task, piece: Piece) -> None:
        for digest in piece.fetched:
            self._cluster.travels.setdefault(digest, []).append(piece.node)
        part = name_part(self._folder / task.name)
        part.mkdir(parents=True, exist_ok=True)
        for name, offset, content in piece.files:
            path = part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("r+b" if path.exists() else "wb") as file:
                file.seek(offset)
                file.write(content)
                file.truncate()
        if piece.is_last:
            publish(part, self._folder / task.name)


def _list_engine_files(part: Path) -> list[Path]:
    return [path for path in part.iterdir() if path.suffix != ".json" or path.name == OUTPUT] if part.is_dir() else []


def _read_earlier(part: Path) -> dict[str, bytes]:
    """What another node needs to continue: the results in whole lines, and the games of these lines in PGN."""
    results = part / RESULTS
    if not results.exists():
        return {}
    text = results.read_bytes()
    text = text[: text.rfind(b"\n") + 1]
    if text == b"":
        return {}
    earlier = {RESULTS: text}
    last = json.loads(text.splitlines()[-1])
    for path in part.glob("*.pgn"):
        earlier[path.name] = path.read_bytes()[: last.get("pgnBytes") or 0]
    return earlier


def _play(
    task: Task,
    engine: Sequence[str],
    sent: list[tuple[str, str, Any]],
    earlier: dict[str, bytes],
    report_seconds: float,
) -> Iterator[Piece]:
    """The remote function: what the task leaves, as it comes."""
    import ray

    def fetch_by(reference: Any) -> Callable[[], bytes]:
        return lambda: zlib.decompress(ray.get(reference))

    files = {digest: (ending, fetch_by(reference)) for digest, ending, reference in sent}
    node = ray.get_runtime_context().get_node_id()
    yield from play_task(task, engine, files, earlier, report_seconds, node)
