"""Versions of the network: records of their origin, rollback and promotion, and removal of files that neither needs.

A rollback makes an earlier network the best one again and withdraws the games of later networks: they are no longer trained
on. A promotion makes any network the best one, whatever its gate match said, and the games of its ancestors count again.
Both abandon the current generation; its number stays in the history.
"""

import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..base.errors import TrainError
from ..base.files import compute_digest, copy_file, remove, write_json
from ..base.lock import lock_folder
from ..config.loop_config import LoopConfig
from .game_stream import describe_batches
from .state import STAGES, STATE, Change, Folders, Generation, LoopState, load_state, save_state
from .window import Window


def change_best(folder: Path, kind: str, network: int) -> Change:
    """`kind` is "rollback" or "promote". Raises TrainError when the loop runs, or has no such network."""
    folders = Folders(folder)
    with _open(folder) as state:
        if not (folders.network(network).is_file() and folders.checkpoint(network).is_file()):
            raise TrainError(f"{folder} has no network of generation {network}")
        if network == state.best and not state.plan and all(row.withdrawn or row.base <= network for row in state.generations):
            raise TrainError(f"generation {network} is the best network already, and no generation is under way")
        change = Change(kind, network, state.best, state.current.number, time.time())
        if state.plan:
            if state.current.positions is None:
                state.current.batches = None  # back to the stream
            state.generations.append(state.current)
        for row in state.generations:
            row.withdrawn = row.base > network if kind == "rollback" else row.withdrawn and row.base > network
        following = state.generations[-1].number + 1 if state.generations else 1
        state.best, state.current = network, Generation(following, network)
        state.stage, state.plan = STAGES[0], {}
        state.changes.append(change)
        save_state(folder, state)
        copy_file(folders.network(network), folders.best)
        return change


def describe_change(change: Change) -> str:
    verb = "went back to" if change.kind == "rollback" else "promoted"
    return f"{verb} generation {change.network} (the best was {change.before}) in generation {change.generation}"


def list_left_out(state: LoopState) -> frozenset[int]:
    """Generations that are not trained on: withdrawn, abandoned before their shards were made, or pruned."""
    return frozenset(row.number for row in state.generations if row.withdrawn or row.pruned or row.positions is None)


def write_version(folders: Folders, row: Generation, plan: dict[str, Any], window: Window) -> None:
    """Writes the origin of a finished generation's network: parent, data, configuration and gate match."""
    sources = [
        {"file": str(file.path.relative_to(folders.root)), "positions": file.positions, "copies": copies}
        # Older files have theirs in the record of their own generation.
        | ({"digest": compute_digest(file.path)} if file.generation == row.number else {})
        for file, copies in zip(window.train, window.repeats)
        if copies > 0
    ]
    version = {
        "generation": row.number,
        "parent": row.base,
        "digests": {
            "network": compute_digest(folders.network(row.number)),
            "checkpoint": compute_digest(folders.checkpoint(row.number)),
            "parent": compute_digest(folders.network(row.base)),
        },
        "promoted": row.promoted,
        "gate": None if row.gate is None else asdict(row.gate),
        "losses": {"policy": row.policy_loss, "value": row.value_loss},
        "resolved": row.resolved,
        "data": sources,
        "batches": describe_batches(folders.generation(row.number, "games"), row.batches or []),
        "training": compute_digest(folders.generation(row.number, "training") / "train.yaml"),  # files, their order and the seed
        "config": plan,
    }
    path = folders.version(row.number)
    path.parent.mkdir(parents=True, exist_ok=True)
    write_json(path, version)


def is_finished(config: LoopConfig, state: LoopState) -> bool:
    return state.current.number > config.run.generations


def prune(folder: Path, config: LoopConfig, generations: int) -> tuple[list[Path], int]:
    """Removes files that a rollback to one of the last `generations` does not need. Returns their paths and total bytes.

    It keeps the networks and checkpoints of these generations and of all networks that were ever the best, and the shards in
    the window of one of these generations. It removes the games of all older generations.
    """
    folders = Folders(folder)
    with _open(folder) as state:
        newest = state.current.number
        kept = {row.number for row in state.generations if row.number > newest - 1 - generations} | {newest}
        bases = {row.base for row in state.generations} | {change.network for change in state.changes}
        bests = bases | {0, state.best, *(row.number for row in state.generations if row.promoted)}
        in_window = _list_generations_in_windows(state, kept, config.window.positions)
        doomed: list[Path] = []
        for row in state.generations:
            if row.number in kept:
                continue
            doomed += [folders.generation(row.number, part) for part in ("games", "gate", "measure", "trial")]
            if row.number not in in_window:
                doomed.append(folders.generation(row.number, "shards"))
                row.pruned = True
            if row.number not in bests:
                doomed += [folders.network(row.number), folders.checkpoint(row.number)]
        doomed = [path for path in doomed if path.exists()]
        size = sum(file.stat().st_size for path in doomed for file in (path, *path.rglob("*")) if file.is_file())
        # Save the state first: shards that it calls pruned are not needed, even if removal is interrupted.
        save_state(folder, state)
        for path in doomed:
            remove(path)
        return doomed, size


def _list_generations_in_windows(state: LoopState, kept: Iterable[int], positions: int) -> set[int]:
    """A rollback may withdraw the games of all kept generations, so older games must be enough to fill the window."""
    found: set[int] = set()
    left = positions
    oldest = min(kept)
    for row in reversed(state.generations):
        if row.number >= oldest:
            found.add(row.number)
        elif left > 0 and row.positions is not None and not row.pruned:
            found.add(row.number)
            left -= 0 if row.withdrawn else row.positions
    return found


@contextmanager
def _open(folder: Path) -> Iterator[LoopState]:
    """The state of the loop, whose folder is held as the loop itself holds it while it runs."""
    if not (folder / STATE).exists():
        raise TrainError(f"no loop has begun in {folder}")
    with lock_folder(folder):
        yield load_state(folder)
