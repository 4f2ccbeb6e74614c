"""Allows one loop or trainer per folder. Children inherit the lock, so it is held while children of a killed run still work."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from .errors import TrainError

try:
    import fcntl
except ImportError:  # Windows: no inherited locks there
    fcntl = None  # type: ignore[assignment]

TIMEOUT_SECONDS = 3.0  # children of a killed run need a moment to end


@contextmanager
def lock_folder(folder: Path) -> Iterator[int]:
    """Gives a handle; the lock is held until the block and all children with that handle have ended. Raises TrainError."""
    handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
    try:
        give_up = time.monotonic() + TIMEOUT_SECONDS
        while not _try(handle):
            if time.monotonic() > give_up:
                raise TrainError(f"another run, or a child of one that was killed, is still working in {folder}: stop it first")
            time.sleep(0.1)
        yield handle
    finally:
        os.close(handle)


def _try(handle: int) -> bool:
    try:
        if fcntl is not None:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:  # any other is of a file system without locks
        return not isinstance(error, BlockingIOError)
    return True
