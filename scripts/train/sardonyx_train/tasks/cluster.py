"""Runs tasks on a Ray cluster. Ray transports, queues and watches over the nodes; this module records the results.

A task's finished games travel back while it runs, into the same unfinished folder that a task on this machine has. So a
worker or node that dies costs the games it had under way: another one continues the task. The folder gets its name when
the task is complete, so it is there once or not at all.
Input files go into Ray's object store once, compressed; Ray brings them to each node once, and this package too.
"""

from __future__ import annotations

import json
import logging
import math
import os
import socket
import threading
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..errors import LoopError, Stopped
from ..files import name_part, publish, read_json, remove, write_json
from ..loop.games import RESULTS
from ..loop_config import ClusterSection
from .node import Piece, play_task
from .task import OUTPUT, Task, TaskSource

_POLL_SECONDS = 0.2
_POLL_SECONDS_PER_TASK = 0.0005  # a look at a task costs Ray 10 µs, so looking takes the head 2 % of its time at most
_ROOM_SECONDS = 2.0  # between two looks at the nodes
_REACH_SECONDS = 3.0
_SPARE = 1.1  # tasks handed out for each that can run, so that a worker never waits for the head
_FILES_KEPT = 8
_COMPRESSION = 6


class ClusterExecutor:
    def __init__(
        self,
        section: ClusterSection,
        engine: Sequence[str],
        is_stopped: Callable[[], bool],
        say: Callable[[str], None] = lambda _text: None,
        workers: Path | None = None,
    ) -> None:
        """Joins the cluster; raises LoopError when Ray or the cluster is missing. `workers`: file for the status page."""
        self._ray = ray = _join_cluster(section.address)
        self._section = section
        self._engine = section.engine or list(engine)
        self._is_stopped = is_stopped
        self._say = say
        self._workers = workers
        self._sent: dict[str, Any] = {}  # digest → object reference, the latest last
        self._lock = threading.Lock()  # of what follows and of _sent: games and gates run at the same time
        self._in_flight = 0
        self._room = 1  # tasks that can run at a time
        self._looked = -math.inf  # when the room was counted
        self._full_since: float | None = None  # since when no node can run a task
        self._heard: dict[str, tuple[float, int]] = {}  # node → when it last sent something, and its games so far
        self._playing: dict[Any, str] = {}  # task's answers → node
        self._remote = ray.remote(play_task)
        self.look()

    def describe(self) -> str:
        nodes = self._list_nodes()
        cpus = sum(node["Resources"].get("CPU", 0) for node in nodes)
        return f"Ray cluster, {len(nodes)} nodes, {cpus:.0f} CPUs"

    def close(self) -> None:
        self._sent.clear()
        self._ray.shutdown()

    def look(self) -> int:
        """How many tasks can run at a time; nodes come and go. Says it once if none can, and raises LoopError after `wait_minutes`."""
        with self._lock:
            if time.monotonic() - self._looked < _ROOM_SECONDS:
                return self._room
            nodes = self._list_nodes()
            self._room, self._looked = sum(self._count_tasks(node["Resources"]) for node in nodes), time.monotonic()
            self._write_workers(nodes)
        if self._room > 0:
            self._full_since = None
            return self._room
        most = {kind: max((node["Resources"].get(kind, 0) for node in nodes), default=0) for kind in ("CPU", "GPU")}
        wants = f"{self._section.cpus:g} CPUs" + (f" and {self._section.gpus:g} GPUs" if self._section.gpus > 0 else "")
        problem = f"a task asks for {wants} (cluster.cpus, cluster.gpus), and no node of the cluster has them; the most are {most['CPU']:g} CPUs and {most['GPU']:g} GPUs"
        if self._full_since is None:
            self._full_since = time.monotonic()
            self._say(f"{problem}: waits {self._section.wait_minutes:g} minutes for one that has")
        if time.monotonic() - self._full_since >= 60 * self._section.wait_minutes:
            raise LoopError(problem)
        return 0

    def note(self, answers: Any, piece: Piece) -> None:
        games = sum(content.count(b'"game"') for name, _, content in piece.files if name == RESULTS)
        with self._lock:
            self._playing[answers] = piece.node
            self._heard[piece.node] = time.time(), self._heard.get(piece.node, (0.0, 0))[1] + games

    def begin(self) -> None:
        with self._lock:
            self._in_flight += 1

    def end(self, answers: Any) -> None:
        with self._lock:
            self._in_flight -= 1
            self._playing.pop(answers, None)

    def _list_nodes(self) -> list[dict[str, Any]]:
        try:
            return [node for node in self._ray.nodes() if node["Alive"]]
        except self._ray.exceptions.RayError as error:
            raise LoopError(f"the Ray cluster is lost: {error}") from None

    def _count_tasks(self, resources: Mapping[str, float]) -> int:
        """That a node can run at a time."""
        by_cpu = int(resources.get("CPU", 0) / self._section.cpus)
        return by_cpu if self._section.gpus == 0 else min(by_cpu, int(resources.get("GPU", 0) / self._section.gpus))

    def _write_workers(self, nodes: list[dict[str, Any]]) -> None:
        if self._workers is None:
            return
        rows = []
        for node in nodes:
            heard, games = self._heard.get(node["NodeID"], (None, 0))
            resources = node["Resources"]
            rows.append(
                {
                    "name": f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})",
                    "cpus": resources.get("CPU", 0),
                    "gpus": resources.get("GPU", 0),
                    "tasks": list(self._playing.values()).count(node["NodeID"]),
                    "games": games,
                    "heard": heard,
                }
            )
        write_json(self._workers, {"time": time.time(), "nodes": rows})

    def run(self, tasks: Sequence[Task], folder: Path, files: Mapping[str, Path], is_enough: Callable[[], bool]) -> None:
        missing = iter([task for task in tasks if not (folder / task.name).exists()])
        with _Flight(self, folder) as flight:
            for task in missing:
                flight.submit(task, files)
            while flight.tasks and not is_enough():
                flight.collect(lambda task: None)
                self.look()
                if self._is_stopped():
                    raise Stopped

    def stream(self, source: TaskSource, folder: Path) -> None:
        """As many tasks at a time as the cluster can run beside those of `run`."""
        with _Flight(self, folder) as flight:
            while not (source.is_closed() or self._is_stopped()):
                while self._in_flight < math.ceil(_SPARE * self.look()):
                    given = source.take_task()
                    if given is None:
                        break
                    flight.submit(*given)
                flight.collect(source.finish)

    def _put(self, digest: str, path: Path) -> Any:
        with self._lock:
            reference = self._sent.pop(digest, None)
            if reference is None:
                reference = self._ray.put(zlib.compress(path.read_bytes(), _COMPRESSION))
            self._sent[digest] = reference
            while len(self._sent) > _FILES_KEPT:
                del self._sent[next(iter(self._sent))]
            return reference


def _join_cluster(address: str) -> Any:
    """Ray's module, connected. Its nodes get this package, and its state dumps stay out of our stderr."""
    host, colon, port = address.rpartition(":")
    if colon != "" and port.isdigit() and "//" not in address:
        try:
            socket.create_connection((host, int(port)), _REACH_SECONDS).close()
        except OSError as error:
            raise LoopError(f"no Ray cluster at {address}: {error.strerror or error}") from None
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        import ray
    except ImportError:
        raise LoopError('the cluster section needs Ray: pip install "scripts/train[ray]"') from None
    if ray.is_initialized():
        return ray
    import sardonyx_train

    try:
        environment = {"py_modules": [str(Path(sardonyx_train.__file__).parent)], "excludes": ["**/__pycache__"]}
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, runtime_env=environment)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise LoopError(f"no Ray cluster at {address}: {str(error).splitlines()[0]}") from None
    return ray


def read_workers(path: Path) -> dict[str, Any] | None:
    """What the executor wrote last; None where no cluster played."""
    return read_json(path) if path.exists() else None


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
        self._cluster.begin()

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
                self._cluster.note(answers, piece)
                self._store(task, piece)
                if piece.is_last:
                    self._forget(answers)
                    finish(task)

    def _forget(self, answers: Any) -> None:
        del self.tasks[answers]
        self._cluster.end(answers)

    def _count_failure(self, task: Task, error: Any) -> None:
        """The next try begins anew: what is there may be the cause."""
        self._failures[task.name] = self._failures.get(task.name, 0) + 1
        if self._failures[task.name] > self._cluster._section.retries:
            raise LoopError(f"task {task.name} failed on every try, the last time {error.cause or error}")
        for path in _list_engine_files(name_part(self._folder / task.name)):
            remove(path)

    def _store(self, task: Task, piece: Piece) -> None:
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
