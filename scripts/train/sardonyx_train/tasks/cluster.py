"""Runs tasks on a Ray cluster. Ray places, transports, queues and watches over the nodes; this module records the results.

A task is one call of `play_task`, whose answers Ray streams: finished games travel back while it runs, into the same unfinished folder
that a task on this machine has. So a worker or node that dies costs the games it had under way: another one continues the task.
Ray's own retries would begin it anew, so they are off. The folder gets its name when the task is complete: it is there once or not
at all. Input files go into Ray's object store once, compressed; Ray brings them to each node once, and this package too.
"""

import json
import logging
import math
import os
import socket
import threading
import time
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

from ..base.errors import Stopped, TrainError
from ..base.files import name_part, publish, remove, write_json
from ..config.loop_config import ClusterSection, LoopConfig, find_engine
from .local import LocalExecutor
from .node import Piece, play_task
from .task import OUTPUT, RESULTS, Executor, Task, TaskSource
from .usage import Meter

_POLL_SECONDS = 0.2
_POLL_SECONDS_PER_TASK = 0.0005  # a look at a task costs Ray 10 µs, so looking takes the head 2 % of its time at most
_ROOM_SECONDS = 2.0  # between two looks at the nodes
_REACH_SECONDS = 3.0
_SPARE = 1.1  # tasks handed out for each that can run, so that a worker never waits for the head
_FILES_KEPT = 8

Say = Callable[[str], None]


def create_executor(
    config: LoopConfig, is_stopped: Callable[[], bool], lock: int, meter: Meter, say: Say, workers: Path | None = None
) -> Executor:
    """Where the configuration wants tasks to run. `workers`: file for the nodes of a cluster and what they do."""
    if config.cluster is not None:
        return ClusterExecutor(config.cluster, find_engine(config), is_stopped, say, workers)
    return LocalExecutor(find_engine(config), config.local.tasks, is_stopped, lock, meter)


class ClusterExecutor:
    def __init__(
        self, section: ClusterSection, engine: Sequence[str], is_stopped: Callable[[], bool], say: Say, workers: Path | None = None
    ) -> None:
        """Joins the cluster; raises TrainError when Ray or the cluster is missing. `workers`: file for the status page."""
        self._ray = ray = _join_cluster(section.address)
        self._section, self._engine = section, section.engine or list(engine)
        self._is_stopped, self._say, self._workers = is_stopped, say, workers
        self._remote = ray.remote(play_task)
        # By digest and path: a reference to the packed content in the object store.
        self.put = lru_cache(_FILES_KEPT)(lambda _digest, path: ray.put(zlib.compress(path.read_bytes())))
        self._lock = threading.Lock()  # of all that follows: games and gates run at the same time
        self._nodes: dict[Any, str] = {}  # streams of the tasks under way → node, "" as long as that is unknown
        self._heard: dict[str, float] = {}  # node → when it last sent something
        self._games: Counter[str] = Counter()  # by node
        self._room = 0  # tasks that can run at a time
        self._looked = -math.inf
        self._full_since: float | None = None  # since when no node can run a task
        self._members: dict[str, str] = {}  # id of a living node → its name
        self.look()

    def describe(self) -> str:
        nodes = self._list_nodes()
        return f"Ray cluster, {len(nodes)} nodes, {sum(node['Resources'].get('CPU', 0) for node in nodes):.0f} CPUs"

    def close(self) -> None:
        self.put.cache_clear()
        self._ray.shutdown()

    def run(self, tasks: Sequence[Task], folder: Path, files: Mapping[str, Path], is_enough: Callable[[], bool]) -> None:
        with self._fly(folder) as flight:
            for task in [task for task in tasks if not (folder / task.name).exists()]:
                flight.submit(task, files)
            while flight.tasks and not is_enough():
                flight.collect(lambda task: None)
                self.look()
                if self._is_stopped():
                    raise Stopped

    def stream(self, source: TaskSource, folder: Path) -> None:
        """As many tasks at a time as the cluster can run beside those of `run`."""
        with self._fly(folder) as flight:
            while not (source.is_closed() or self._is_stopped()):
                while len(self._nodes) < math.ceil(_SPARE * self.look()) and (given := source.take_task()) is not None:
                    flight.submit(*given)
                flight.collect(source.finish)

    @contextmanager
    def _fly(self, folder: Path) -> Iterator["_Flight"]:
        """Cancels at its end the tasks that are still under way; what they sent stays in their unfinished folders."""
        flight = _Flight(self, folder)
        try:
            try:
                yield flight
            finally:
                for answers in list(flight.tasks):
                    flight.forget(answers)
                    self._ray.cancel(answers, force=True)
        except self._ray.exceptions.RayError as error:
            raise TrainError(f"the Ray cluster is lost: {error}") from None

    def start(self, task: Task, sent: list[tuple[str, str, Any]], earlier: Mapping[str, bytes]) -> Any:
        """Returns the stream of the task's answers."""
        section = self._section
        remote = self._remote.options(name=task.name, num_cpus=section.cpus, num_gpus=section.gpus, num_returns="streaming", max_retries=0)
        answers = remote.remote(task, self._engine, sent, earlier, section.report_seconds)
        with self._lock:
            self._nodes[answers] = ""
        return answers

    def note(self, answers: Any, piece: Piece) -> None:
        with self._lock:
            self._nodes[answers] = piece.node
            self._heard[piece.node] = time.time()
            self._games[piece.node] += sum(content.count(b'"game"') for name, _, content in piece.files if name == RESULTS)

    def end(self, answers: Any) -> None:
        with self._lock:
            del self._nodes[answers]

    def look(self) -> int:
        """How many tasks can run at a time; nodes come and go. Says it once if none can, and raises TrainError after `wait_minutes`."""
        with self._lock:
            if time.monotonic() - self._looked >= _ROOM_SECONDS:
                nodes = self._list_nodes()
                self._report_losses(nodes)
                self._room, self._looked = sum(map(self._count_tasks, nodes)), time.monotonic()
                self._write_workers(nodes)
                self._wait_for_room(nodes)
            return self._room

    def _list_nodes(self) -> list[dict[str, Any]]:
        return [node for node in self._ray.nodes() if node["Alive"]]

    def _report_losses(self, nodes: list[dict[str, Any]]) -> None:
        members = {node["NodeID"]: _name_node(node) for node in nodes}
        for number in self._members.keys() - members.keys():
            self._say(f"node {self._members[number]} has left the cluster; its unfinished games are played again")
        self._members = members

    def _count_tasks(self, node: dict[str, Any]) -> int:
        """How many tasks the node can run at a time."""
        asked = (("CPU", self._section.cpus), ("GPU", self._section.gpus))
        return min(int(node["Resources"].get(kind, 0) / share) for kind, share in asked if share > 0)

    def _wait_for_room(self, nodes: list[dict[str, Any]]) -> None:
        if self._room > 0:
            self._full_since = None
            return
        most = {kind: max((node["Resources"].get(kind, 0) for node in nodes), default=0) for kind in ("CPU", "GPU")}
        wants = f"{self._section.cpus:g} CPUs" + (f" and {self._section.gpus:g} GPUs" if self._section.gpus > 0 else "")
        problem = f"a task asks for {wants} (cluster.cpus, cluster.gpus), and no node of the cluster has them; "
        problem += f"the most are {most['CPU']:g} CPUs and {most['GPU']:g} GPUs"
        if self._full_since is None:
            self._full_since = self._looked
            self._say(f"{problem}: waits {self._section.wait_minutes:g} minutes for one that has")
        if self._looked - self._full_since >= 60 * self._section.wait_minutes:
            raise TrainError(problem)

    def _write_workers(self, nodes: list[dict[str, Any]]) -> None:
        tasks = Counter(self._nodes.values())
        rows = []
        for node in nodes:
            number, resources = node["NodeID"], node["Resources"]
            row = {"name": _name_node(node), "tasks": tasks[number]}
            row |= {"cpus": resources.get("CPU", 0), "gpus": resources.get("GPU", 0)}
            rows.append(row | {"games": self._games[number], "heard": self._heard.get(number)})
        if self._workers is not None:
            write_json(self._workers, {"time": time.time(), "nodes": rows})


def _name_node(node: Mapping[str, Any]) -> str:
    return f"{node['NodeManagerHostname']} ({node['NodeManagerAddress']})"


def _join_cluster(address: str) -> Any:
    """Ray's module, connected. Its nodes get this package, and its state dumps stay out of our stderr."""
    host, colon, port = address.rpartition(":")
    if colon != "" and port.isdigit() and "//" not in address:
        try:
            socket.create_connection((host, int(port)), _REACH_SECONDS).close()
        except (OSError, OverflowError) as error:
            raise TrainError(f"no Ray cluster at {address}: {getattr(error, 'strerror', None) or error}") from None
    os.environ.setdefault("RAY_BACKEND_LOG_LEVEL", "fatal")
    try:
        import ray
    except ImportError:
        raise TrainError('the cluster section needs Ray: pip install "scripts/train[ray]"') from None
    package = str(Path(__file__).parents[1])
    environment = {"py_modules": [package], "excludes": ["**/__pycache__"]}
    try:
        if not ray.is_initialized():
            ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, runtime_env=environment)
    except (ConnectionError, RuntimeError, ValueError) as error:
        raise TrainError(f"no Ray cluster at {address}: {str(error).splitlines()[0]}") from None
    # Ray prints the last lines of a lost node's log whatever `log_to_driver` says; `_report_losses` says it in a sentence.
    ray._private.worker.print_to_stdstream = lambda *_, **__: None
    return ray


class _Flight:
    """Tasks on their way to one folder."""

    def __init__(self, cluster: ClusterExecutor, folder: Path) -> None:
        self._cluster = cluster
        self._ray = cluster._ray
        self._folder = folder
        self._failures: Counter[str] = Counter()
        self.tasks: dict[Any, tuple[Task, Mapping[str, Path]]] = {}  # by the stream of their answers

    def submit(self, task: Task, files: Mapping[str, Path]) -> None:
        # References inside a list stay references: only a node that lacks the file asks for it.
        sent = [(digest, "".join(files[digest].suffixes), self._cluster.put(digest, files[digest])) for digest in task.files]
        earlier = _read_earlier(name_part(self._folder / task.name))
        self.tasks[self._cluster.start(task, sent, earlier)] = task, files

    def forget(self, answers: Any) -> tuple[Task, Mapping[str, Path]]:
        self._cluster.end(answers)
        return self.tasks.pop(answers)

    def collect(self, finish: Callable[[Task], None]) -> None:
        """Waits for answers, but not long. Raises TrainError for a task that fails by itself again and again."""
        ray = self._ray
        if not self.tasks:
            time.sleep(_POLL_SECONDS)
            return
        timeout = max(_POLL_SECONDS, _POLL_SECONDS_PER_TASK * len(self.tasks))
        ready, _ = ray.wait(list(self.tasks), num_returns=len(self.tasks), timeout=timeout)
        for answers in ready:
            task = self.tasks[answers][0]
            try:
                piece: Piece = ray.get(next(answers))
            except ray.exceptions.RayTaskError as error:
                self._clear_failure(task, error)
                self.submit(*self.forget(answers))
            except (ray.exceptions.RayError, StopIteration):  # its worker or node is gone
                self.submit(*self.forget(answers))
            else:
                self._cluster.note(answers, piece)
                self._store(name_part(self._folder / task.name), piece)
                if piece.is_last:
                    publish(name_part(self._folder / task.name), self._folder / task.name)
                    self.forget(answers)
                    finish(task)

    def _clear_failure(self, task: Task, error: Any) -> None:
        """The next try begins anew: what is there may be the cause."""
        self._failures[task.name] += 1
        if self._failures[task.name] > self._cluster._section.retries:
            raise TrainError(f"task {task.name} failed on every try, the last time {error.cause or error}")
        for path in name_part(self._folder / task.name).glob("*"):
            if path.suffix != ".json" or path.name == OUTPUT:
                remove(path)

    def _store(self, part: Path, piece: Piece) -> None:
        for name, offset, content in piece.files:
            path = part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("r+b" if path.exists() else "wb") as file:
                file.seek(offset)
                file.write(content)
                file.truncate()


def _read_earlier(part: Path) -> dict[str, bytes]:
    """What another node needs to continue: the results in whole lines, and the games of these lines in PGN."""
    results = part / RESULTS
    lines = results.read_bytes().splitlines(keepends=True) if results.exists() else []
    whole = [line for line in lines if line.endswith(b"\n")]
    if not whole:
        return {}
    size = json.loads(whole[-1]).get("pgnBytes") or 0
    return {RESULTS: b"".join(whole), **{path.name: path.read_bytes()[:size] for path in part.glob("*.pgn")}}
