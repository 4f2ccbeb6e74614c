"""What a cluster node does: fetch input files once, run a task in a folder of its own, send back what it leaves.

Finished games are sent while the task runs, so that they survive the node. Standard library only, and shipped by value, so
that a node needs nothing but Ray and the engine.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from .task import Task, run_task

ENGINE_VARIABLE = "SARDONYX_ENGINE"
_FILES_KEPT = 16
_INPUTS = "inputs"
_RESULTS = "games.jsonl"


@dataclass(frozen=True)
class Piece:
    """Part of a task's answer: bytes of files behind an offset, input files that had to travel for it, and where it ran."""

    files: list[tuple[str, int, bytes]]
    fetched: list[str]
    node: str
    is_last: bool


def play_task(
    task: Task,
    engine: Sequence[str],
    files: Mapping[str, tuple[str, Callable[[], bytes]]],
    earlier: Mapping[str, bytes],
    report_seconds: float,
    node: str,
) -> Iterator[Piece]:
    """`files`: digest → (ending, fetch). `earlier`: files of a try that was cut short, which is continued."""
    own_engine = os.environ.get(ENGINE_VARIABLE, "").split() or list(engine)
    folder = Path(tempfile.mkdtemp(prefix=f"sardonyx-{task.name}-"))
    ended = threading.Event()
    try:
        (folder / _INPUTS).mkdir()
        paths: dict[str, Path] = {}
        fetched: list[str] = []
        for digest, (ending, fetch) in files.items():
            kept, is_new = _keep_file(_cache_folder(), digest, ending, fetch)
            paths[digest] = Path(_INPUTS) / kept.name
            _link(kept, folder / paths[digest])
            if is_new:
                fetched.append(digest)
        for name, content in earlier.items():
            (folder / name).write_bytes(content)
        outbox = _Outbox(folder, earlier)
        runner = _Runner(task, own_engine, paths, folder, ended)
        runner.start()
        while not runner.wait(report_seconds):
            pieces = outbox.collect(is_last=False)
            if pieces or fetched:
                yield Piece(pieces, fetched, node, is_last=False)
                fetched = []
        yield Piece(outbox.collect(is_last=True), fetched, node, is_last=True)
    finally:
        ended.set()
        shutil.rmtree(folder, ignore_errors=True)


class _Runner(threading.Thread):
    """Runs the engine beside the thread that sends its files."""

    def __init__(
        self, task: Task, engine: Sequence[str], files: Mapping[str, Path], folder: Path, ended: threading.Event
    ) -> None:
        super().__init__(daemon=True)
        self._arguments = (task, engine, files, folder)
        self._ended = ended
        self._failure: BaseException | None = None

    def run(self) -> None:
        try:
            run_task(*self._arguments, self._ended.is_set, is_inside=True)
        except BaseException as error:
            self._failure = error

    def wait(self, seconds: float) -> bool:
        """Whether it is done. Raises what the task raised."""
        self.join(seconds)
        if self._failure is not None:
            raise self._failure
        return not self.is_alive()


class _Outbox:
    """Finds what the other side lacks."""

    def __init__(self, folder: Path, earlier: Mapping[str, bytes]) -> None:
        self._folder = folder
        self._sent = {name: (len(content), _hash(content)) for name, content in earlier.items()}

    def collect(self, *, is_last: bool) -> list[tuple[str, int, bytes]]:
        """Files under way: records of games that the results name, and the results behind them, in whole lines. At the end all."""
        results = self._read(_RESULTS)
        results = results[: results.rfind(b"\n") + 1]
        paths = [path for path in sorted(self._folder.rglob("*")) if path.is_file() and _INPUTS not in path.parts]
        names = [path.relative_to(self._folder).as_posix() for path in paths]
        chosen = [name for name in names if name != _RESULTS and (is_last or is_record(name) or name.endswith(".pgn"))]
        if not is_last:
            chosen = [name for name in chosen if not (is_record(name) and name in self._sent)]
        pieces = [self._cut(name, self._read(name)) for name in chosen]
        if results:
            pieces.append(self._cut(_RESULTS, results))
        return [piece for piece in pieces if piece is not None]

    def _cut(self, name: str, content: bytes) -> tuple[str, int, bytes] | None:
        size, digest = self._sent.get(name, (-1, b""))
        self._sent[name] = len(content), _hash(content)
        if size < 0 or size > len(content) or _hash(content[:size]) != digest:
            return name, 0, content
        return (name, size, content[size:]) if len(content) > size else None

    def _read(self, name: str) -> bytes:
        path = self._folder / name
        return path.read_bytes() if path.exists() else b""


def is_record(name: str) -> bool:
    """A file of one game, written once."""
    return name.startswith("game_") and name.endswith(".gz")


def _hash(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _link(kept: Path, path: Path) -> None:
    """The cache may forget the file while the task uses it."""
    try:
        os.link(kept, path)
    except OSError:
        shutil.copyfile(kept, path)


def _cache_folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"sardonyx-files-{user}"


def _keep_file(folder: Path, digest: str, ending: str, fetch: Callable[[], bytes]) -> tuple[Path, bool]:
    """Returns the cached file and whether it was fetched now. Other tasks of this node wait meanwhile. Removes the oldest files."""
    folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    path = folder / f"{digest}{ending}"
    with (folder / "lock").open("w") as lock:
        _wait_for(lock.fileno())
        if path.exists():
            os.utime(path)
            return path, False
        part = folder / f"{digest}.part"
        part.write_bytes(fetch())
        os.replace(part, path)
        kept = sorted((p for p in folder.iterdir() if p.name != "lock"), key=lambda p: p.stat().st_mtime)
        for old in kept[:-_FILES_KEPT]:
            old.unlink(missing_ok=True)
        return path, True


def _wait_for(handle: int) -> None:
    try:
        import fcntl
    except ImportError:  # Windows has no lock: two tasks may fetch the same file, and one replaces the other's copy
        return
    fcntl.flock(handle, fcntl.LOCK_EX)
