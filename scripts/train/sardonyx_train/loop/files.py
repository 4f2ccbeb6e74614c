"""Files that appear whole or not at all, and survive a power cut."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from .errors import LoopError

PART = ".part"  # ending of folders and files under construction


def write_json(path: Path, data: Any) -> None:
    write_bytes(path, (json.dumps(data, indent=1) + "\n").encode())


def write_bytes(path: Path, data: bytes) -> None:
    temporary = path.with_name(f"{path.name}{PART}")
    with temporary.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    publish(temporary, path)


def publish(made: Path, path: Path) -> None:
    """Gives something finished its final name; a folder's contents are taken to be on their way to the disk."""
    os.replace(made, path)
    _sync_folder(path.parent)


def read_json(path: Path) -> Any:
    """Raises LoopError; what the loop wrote itself is never half there, so damage is worth stopping for."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise LoopError(f"cannot read {path}: {error}") from None


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def compute_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def _sync_folder(folder: Path) -> None:
    with contextlib.suppress(OSError):  # folders cannot be opened on Windows
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
