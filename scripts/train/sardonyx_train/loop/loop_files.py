"""Reads, writes, hashes and removes the loop's own files, and defines its errors. JSON files are replaced atomically."""

from __future__ import annotations

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

from ..files import write_bytes


class LoopError(Exception):
    """The loop cannot continue; the text says why, in one sentence or one line for each error."""


class Stopped(Exception):
    """The loop was asked to stop; everything finished so far is on disk."""


def write_json(path: Path, data: Any) -> None:
    write_bytes(path, (json.dumps(data, indent=1) + "\n").encode())


def read_json(path: Path) -> Any:
    """Raises LoopError. The loop writes its files atomically, so a damaged one is never a normal state."""
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
