"""Writes files so that they appear complete or not at all, and survive a power cut; reads, hashes and removes them."""

import contextlib
import hashlib
import json
import os
import shutil
from pathlib import Path
from typing import Any

from .errors import TrainError

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


def copy_file(source: Path, target: Path) -> None:
    part = name_part(target)
    shutil.copyfile(source, part)
    publish(part, target)


def write_json(path: Path, data: Any) -> None:
    write_bytes(path, (json.dumps(data, indent=1) + "\n").encode())


def read_json(path: Path) -> Any:
    """Raises TrainError. All such files are written whole, so a damaged one is never a normal state."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TrainError(f"cannot read {path}: {error}") from None


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of JSON objects, none without the file. A line that a kill cut short, or that is being written, is skipped."""
    rows: list[dict[str, Any]] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else ():
        with contextlib.suppress(ValueError):
            rows.append(json.loads(line))
    return rows


def remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def compute_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()[:32]


def _sync(path: Path, mode: int) -> None:
    handle = os.open(path, mode)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
