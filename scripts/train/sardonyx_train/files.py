"""Files that appear whole or not at all, and survive a power cut."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

PART = ".part"  # ending of folders and files under construction


def name_part(path: Path) -> Path:
    """Where `path` is made before it gets its name; the same at every try, so that a killed one leaves no litter."""
    return path.with_name(f"{path.name}{PART}")


def write_bytes(path: Path, data: bytes) -> None:
    part = name_part(path)
    part.write_bytes(data)
    publish(part, path)


def publish(made: Path, path: Path) -> None:
    """Gives something finished its final name; a folder's contents are taken to be on their way to the disk."""
    if made.is_file():
        _sync(made, os.O_RDWR)
    os.replace(made, path)
    with contextlib.suppress(OSError):  # folders cannot be opened on Windows
        _sync(path.parent, os.O_RDONLY)


def _sync(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
