"""Runs a task on a node of the cluster: fetches missing input files, runs the task in its own folder, returns its files.

It uses only the standard library and is sent to the nodes by value, so nodes need only Ray and the engine.
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
    """`files`: digest → (file name suffix, fetch). Returns the task's files and the digests that were fetched for it.

    Nothing is kept of a task that was interrupted; the next try starts from the beginning.
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
