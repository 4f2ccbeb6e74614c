"""Writes files so that they appear complete or not at all, and survive a power cut."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

PART = ".part"  # ending of folders and files under construction


def name_part(path: Path) -> Path:
    """The temporary name of `path` while it is written. It is always the same, so a killed process leaves at most one file."""
    return path.with_name(f"{path.name}{PART}")


def write_bytes(path: Path, data: bytes) -> None:
    part = name_part(path)
    part.write_bytes(data)
    publish(part, path)


def publish(made: Path, path: Path) -> None:
    """Renames a finished file or folder to its final name. The caller must have flushed a folder's contents."""
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
