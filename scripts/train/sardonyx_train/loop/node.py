"""What a cluster node does: fetch input files once, run a task in a folder of its own, send back what it left.

Standard library only, and shipped by value, so that a node needs nothing but Ray and the engine.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from .task import Task, run_task

ENGINE_VARIABLE = "SARDONYX_ENGINE"
_FILES_KEPT = 16


def play_task(
    task: Task, engine: Sequence[str], files: dict[str, tuple[str, Callable[[], bytes]]]
) -> tuple[dict[str, bytes], list[str]]:
    """`files`: digest → (ending, fetch). Returns everything the task left, and which files had to travel for it.

    A try that is cut short leaves nothing behind that counts: the next one starts afresh.
    """
    own_engine = os.environ.get(ENGINE_VARIABLE, "").split() or list(engine)
    paths: dict[str, Path] = {}
    fetched: list[str] = []
    for digest, (ending, fetch) in files.items():
        paths[digest], is_new = _keep_file(_cache_folder(), digest, ending, fetch)
        if is_new:
            fetched.append(digest)
    folder = Path(tempfile.mkdtemp(prefix=f"sardonyx-{task.name}-"))
    try:
        run_task(task, own_engine, paths, folder)
        left = sorted(path for path in folder.rglob("*") if path.is_file())
        contents = {path.relative_to(folder).as_posix(): path.read_bytes() for path in left}
        return contents, fetched
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _cache_folder() -> Path:
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return Path(tempfile.gettempdir()) / f"sardonyx-files-{user}"


def _keep_file(folder: Path, digest: str, ending: str, fetch: Callable[[], bytes]) -> tuple[Path, bool]:
    """One task fetches, those beside it wait; the oldest files go."""
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
    except ImportError:  # Windows: two tasks may fetch the same file; the last one written stays
        return
    fcntl.flock(handle, fcntl.LOCK_EX)
