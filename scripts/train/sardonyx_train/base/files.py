"""Writes files so that they appear complete or not at all, and survive a power cut; reads, hashes and removes them."""

import contextlib
import hashlib
import json
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .errors import TrainError

PART = ".part"  # ending of folders and files under construction


def name_part(path: Path) -> Path:
    """The temporary name of `path` while it is written. It is always the same, so a killed process leaves at most one file."""
    return path.with_name(f"{path.name}{PART}")


@contextlib.contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Gives the temporary name to write to, which becomes `path` when the block ends. Raises TrainError, and `path` stays as it was."""
    part = name_part(path)
    try:
        yield part
        publish(part, path)
    except (OSError, RuntimeError) as error:  # torch's when the disk is full is a RuntimeError
        with contextlib.suppress(OSError):
            part.unlink()
        if getattr(error, "filename", None) is not None:
            raise
        why = getattr(error, "strerror", None) or str(error).partition("strerror: ")[2] or "is the disk full?"
        raise TrainError(f"cannot write {path}: {why}") from None


def write_bytes(path: Path, data: bytes) -> None:
    with replacing(path) as part:
        part.write_bytes(data)


def publish(made: Path, path: Path) -> None:
    """Renames a finished file or folder to its final name. The caller must have flushed a folder's contents."""
    if made.is_file():
        _sync(made, os.O_RDWR)
    os.replace(made, path)
    with contextlib.suppress(OSError):  # folders cannot be opened on Windows
        _sync(path.parent, os.O_RDONLY)


def copy_file(source: Path, target: Path) -> None:
    with replacing(target) as part:
        shutil.copyfile(source, part)


def write_json(path: Path, data: Any) -> None:
    write_bytes(path, (json.dumps(data, indent=1) + "\n").encode())


def keep_plan(path: Path, plan: Any) -> None:
    """Writes down what the folder's results are of, or raises TrainError if that is other work: the same command resumes it."""
    if path.exists() and read_json(path) != plan:
        raise TrainError(f"{path.parent} holds the results of other work: name another --out")
    write_json(path, plan)


def read_json(path: Path) -> Any:
    """Raises TrainError. All such files are written whole, so a damaged one is never a normal state."""
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise TrainError(f"cannot read {path}: {error}") from None


def read_rows(path: Path) -> list[dict[str, Any]]:
    """The lines of a file of JSON objects, none without the file. A line that a kill cut short, or that is being written, is skipped."""
    rows: list[Any] = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else ():
        with contextlib.suppress(ValueError):
            rows.append(json.loads(line))
    return [row for row in rows if isinstance(row, dict)]


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
