"""What a cluster node does: run a task in a folder of its own, and send back what it leaves.

Finished games are sent while the task runs, so that they survive the node. Standard library and Ray only: Ray brings this package to
the nodes, which need nothing else but the engine.
"""

import os
import shutil
import socket
import tempfile
import threading
import zlib
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .process import ProcessFailed
from .task import RESULTS, Task, run_task

ENGINE_VARIABLE = "SARDONYX_ENGINE"
_INPUTS = "inputs"


@dataclass(frozen=True)
class Piece:
    """Part of a task's answer: bytes of files behind an offset, and where it ran."""

    files: list[tuple[str, int, bytes]]
    node: str
    is_last: bool


def play_task(
    task: Task, engine: Sequence[str], inputs: Sequence[tuple[str, str, Any]], earlier: Mapping[str, bytes], report_seconds: float
) -> Iterator[Piece]:
    """`inputs`: digest, ending of the file's name, and Ray's reference to the packed content, which a node fetches once.
    `earlier`: files of a try that was cut short, which is continued."""
    import ray

    own_engine = os.environ.get(ENGINE_VARIABLE, "").split() or list(engine)
    node = ray.get_runtime_context().get_node_id()
    folder = Path(tempfile.mkdtemp(prefix=f"sardonyx-{task.name}-"))
    ended = threading.Event()
    thread = ThreadPoolExecutor(1)  # the engine runs beside the thread that sends its files
    try:
        (folder / _INPUTS).mkdir()
        paths = {digest: Path(_INPUTS) / f"{digest}{ending}" for digest, ending, _ in inputs}
        for digest, _, reference in inputs:
            (folder / paths[digest]).write_bytes(zlib.decompress(ray.get(reference)))
        for name, content in earlier.items():
            (folder / name).write_bytes(content)
        outbox = _Outbox(folder, earlier)
        run = thread.submit(run_task, task, own_engine, paths, folder, ended.is_set, is_inside=True)
        while not wait([run], report_seconds).done:
            pieces = outbox.collect(is_last=False)
            if pieces:
                yield Piece(pieces, node, is_last=False)
        run.result()
        yield Piece(outbox.collect(is_last=True), node, is_last=True)
    except ProcessFailed as error:
        raise ProcessFailed(f"on {socket.gethostname()}: {error}") from None
    finally:
        ended.set()
        thread.shutdown()
        shutil.rmtree(folder, ignore_errors=True)


class _Outbox:
    """Finds what a task has written and its node has not yet sent to the loop."""

    def __init__(self, folder: Path, earlier: Mapping[str, bytes]) -> None:
        self._folder = folder
        self._sent = dict(earlier)

    def collect(self, *, is_last: bool) -> list[tuple[str, int, bytes]]:
        """While the task runs its PGN files and records of games, at its end all files. The results are read first and sent last, in whole
        lines, so every game that they name is with them."""
        results = self._read(RESULTS)
        results = results[: results.rfind(b"\n") + 1]
        paths = [path for path in sorted(self._folder.rglob("*")) if path.is_file() and _INPUTS not in path.parts]
        names = [path.relative_to(self._folder).as_posix() for path in paths]
        records = {name for name in names if name.startswith("game_") and name.endswith(".gz")}  # of one game, written once
        under_way = {name for name in names if name.endswith(".pgn")} | records - self._sent.keys()
        chosen = [name for name in names if name != RESULTS and (is_last or name in under_way)]
        pieces = [self._cut(name, self._read(name)) for name in chosen]
        if results:
            pieces.append(self._cut(RESULTS, results))
        return [piece for piece in pieces if piece is not None]

    def _cut(self, name: str, content: bytes) -> tuple[str, int, bytes] | None:
        sent = self._sent.get(name)
        self._sent[name] = content
        if sent is None or not content.startswith(sent):
            return name, 0, content
        return (name, len(sent), content[len(sent) :]) if len(content) > len(sent) else None

    def _read(self, name: str) -> bytes:
        path = self._folder / name
        return path.read_bytes() if path.exists() else b""
