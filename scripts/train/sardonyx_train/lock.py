"""Allows one loop or trainer per folder. Children inherit the lock, so it is held while children of a killed run still work."""

from __future__ import annotations

import os
import time
from pathlib import Path

from .errors import FolderBusy

try:
    import fcntl
except ImportError:  # Windows: no inherited locks there
    fcntl = None  # type: ignore[assignment]

_PATIENCE_SECONDS = 3.0  # children of a killed run need a moment to end


class FolderLock:
    """The lock is held until the process and all children with `handle` have ended."""

    def __init__(self, folder: Path, patience_seconds: float | None = None) -> None:
        self.handle = os.open(folder / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        give_up = time.monotonic() + (_PATIENCE_SECONDS if patience_seconds is None else patience_seconds)
        while not self._try():
            if time.monotonic() > give_up:
                os.close(self.handle)
                raise FolderBusy(f"another run, or a child of one that was killed, is still working in {folder}")
            time.sleep(0.1)

    def _try(self) -> bool:
        if fcntl is None:
            return True
        try:
            fcntl.flock(self.handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        except OSError:  # a file system without locks
            return True
        return True

    def release(self) -> None:
        os.close(self.handle)
