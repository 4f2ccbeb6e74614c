"""Runs tasks on a Ray cluster. Ray transports, queues and watches over the nodes; this module records the results.

A task returns all of its files at once, and one rename turns them into its folder. So each game is stored once or not at all.
Ray repeats tasks whose worker or node died; this module repeats tasks that failed, and ignores a second result.
Input files are put into Ray's object store once. Each node fetches a file once and caches it by digest.
"""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..files import name_part, publish
from .loop_config import ClusterSection
from .loop_files import LoopError, Stopped
from .node import play_task
from .task import Task

_POLL_SECONDS = 0.5


class ClusterExecutor:
    def __init__(self, section: ClusterSection, engine: Sequence[str], is_stopped: Callable[[], bool]) -> None:
        """Joins the cluster; raises LoopError when Ray or the cluster is missing."""
        try:
            import ray
        except ImportError:
            raise LoopError("the cluster section needs Ray: pip install -r scripts/train/requirements-ray.txt") from None
        import sardonyx_train

        self._ray: Any = ray
        self._section = section
        self._engine = section.engine or list(engine)
        self._is_stopped = is_stopped
        self._sent: dict[str, Any] = {}  # digest → object reference
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
        ray = self._ray
        self._sent = {digest: self._sent[digest] for digest in files if digest in self._sent}
        for digest, path in files.items():
            if digest not in self._sent:
                self._sent[digest] = ray.put(path.read_bytes())
        failures: dict[str, int] = {}
        pending = {self._submit(task, files): task for task in tasks if not (folder / task.name).exists()}
        try:
            while pending and not is_enough():
                done, _ = ray.wait(list(pending), timeout=_POLL_SECONDS)
                for reference in done:
                    task = pending.pop(reference)
                    try:
                        self._store(ray.get(reference), folder / task.name)
                    except ray.exceptions.RayTaskError as error:
                        failures[task.name] = failures.get(task.name, 0) + 1
                        if failures[task.name] > self._section.retries:
                            where = getattr(error, "ip", "a node")
                            raise LoopError(
                                f"task {task.name} failed on every try, the last time on {where}: {error.cause or error}"
                            ) from None
                        pending[self._submit(task, files)] = task
                if self._is_stopped():
                    raise Stopped
        except ray.exceptions.RayError as error:
            raise LoopError(f"the Ray cluster is lost: {error}") from None
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)

    def _submit(self, task: Task, files: Mapping[str, Path]) -> Any:
        # Ray does not resolve references inside a list, so only a node without the file fetches it.
        sent = [(digest, "".join(files[digest].suffixes), self._sent[digest]) for digest in task.files]
        remote = self._remote.options(
            name=task.name,
            num_cpus=self._section.cpus,
            num_gpus=self._section.gpus,
            max_retries=-1,  # no limit: this counts lost workers and nodes only
            retry_exceptions=False,
        )
        return remote.remote(task, self._engine, sent)

    def _store(self, answer: tuple[dict[str, bytes], list[str], str], folder: Path) -> None:
        contents, fetched, node = answer
        for digest in fetched:
            self.travels.setdefault(digest, []).append(node)
        if folder.exists():
            return
        part = name_part(folder)
        if part.exists():
            shutil.rmtree(part)
        part.mkdir(parents=True)
        for name, content in contents.items():
            path = part / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        publish(part, folder)


def _play(
    task: Task, engine: Sequence[str], sent: list[tuple[str, str, Any]]
) -> tuple[dict[str, bytes], list[str], str]:
    """The remote function. Returns the task's files, the digests that were fetched for it, and the node."""
    import ray

    def fetch_by(reference: Any) -> Callable[[], bytes]:
        return lambda: ray.get(reference)

    files = {digest: (ending, fetch_by(reference)) for digest, ending, reference in sent}
    return *play_task(task, engine, files), ray.get_runtime_context().get_node_id()
