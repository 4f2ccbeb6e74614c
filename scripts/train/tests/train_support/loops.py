"""Configures and runs tiny loops over the fake engine, and reads their results in comparable form."""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import yaml
from sardonyx_train.base.files import PART, compute_digest
from sardonyx_train.loop.game_stream import TICKET, read_dropped, read_ticket
from sardonyx_train.loop.state import Folders, load_state

SUPPORT = Path(__file__).parent
FAKE_ENGINE = [sys.executable, str(SUPPORT / "fake_engine.py")]
FAKE_LOOP = [sys.executable, str(SUPPORT / "fake_loop.py")]


def create_raw(out: Path, **sections: dict[str, Any]) -> dict[str, Any]:
    raw: dict[str, Any] = {
        "run": {"name": "tiny", "out": str(out), "generations": 3},
        "engine": FAKE_ENGINE,
        "selfplay": {"games": 10, "games_per_task": 4},
        "window": {"positions": 200},
        "training": {"steps": 12, "sections": {"model": {"filters": 8, "blocks": 1, "heads": 2}}},
        "gate": {"games": 12, "games_per_task": 4, "rule": "at-least", "threshold": 0.5},
        "measure": {"every": 0},
    }
    for name, keys in sections.items():
        raw[name] = {**raw.get(name, {}), **keys}
    return raw


def write_config(path: Path, raw: dict[str, Any]) -> Path:
    path.write_text(yaml.safe_dump(raw))
    return path


def run_loop(config: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*FAKE_LOOP, "--config", str(config), *arguments], capture_output=True, text=True, timeout=600, env={**os.environ, **environment}
    )


def describe_outcome(out: Path) -> dict[str, Any]:
    """Everything that must not depend on how often the loop was killed."""
    state = load_state(out)
    assert state is not None
    rows = [asdict(row) | {"seconds": None, "usage": None} for row in state.generations]
    records = {str(path.relative_to(out)): json.loads(gzip.decompress(path.read_bytes())) for path in sorted(out.rglob("game_*.gz"))}
    # Of a gate the games up to the verdict count, and they are in its row; how many more were played depends on the moment.
    results = {
        str(path.relative_to(out)): [line for line in path.read_text().splitlines() if '"game"' in line]
        for path in sorted(out.rglob("games.jsonl"))
        if "gate" not in path.parts
    }
    histories = {str(path.relative_to(out)): path.read_text() for path in sorted(out.rglob("history.jsonl"))}
    networks = {path.name: path.read_bytes() for path in sorted((out / "networks").iterdir())}
    shards = {str(path.relative_to(out)): path.read_bytes() for path in sorted(out.rglob("*.arrow"))}
    return {
        "best": state.best,
        "rows": rows,
        "records": records,
        "results": results,
        "histories": histories,
        "networks": networks,
        "shards": shards,
    }


def check_stream_books(out: Path) -> None:
    """Every batch of self-play without pause is in one generation, in the stream or dropped; no game is there twice."""
    state = load_state(out)
    assert state is not None
    folders = Folders(out)
    rows = [row for row in (*state.generations, state.current) if row.batches]
    places = [name for row in rows for name in row.batches]
    places += [row["batch"] for row in read_dropped(folders)]
    places += [path.name.removesuffix(PART) for path in folders.stream.iterdir() if (path / TICKET).exists()]
    assert sorted(places) == [f"games-{number:06d}" for number in range(1, len(places) + 1)]
    for row in rows:
        moved = [name for name in row.batches if (folders.generation(row.number, "games") / name).exists()]
        assert moved == row.batches or row is state.current
        tickets = [read_ticket(folders.generation(row.number, "games") / name) for name in moved]
        if row.games is not None:
            assert row.games == sum(ticket.task.games for ticket in tickets)
        for name, ticket in zip(moved, tickets):
            assert ticket.network <= row.base
            records = [
                json.loads(gzip.decompress(p.read_bytes())) for p in (folders.generation(row.number, "games") / name).glob("game_*.gz")
            ]
            assert len(records) == ticket.task.games
            assert {record["network"] for record in records} == {compute_digest(folders.network(ticket.network))[:16]}
    games = [json.loads(gzip.decompress(path.read_bytes())) for path in out.rglob("game_*.gz")]
    assert len({(game["seed"], game["game"]) for game in games}) == len(games)
    for row in state.generations:
        if row.promoted is not None:
            assert folders.network(row.number).exists() and folders.version(row.number).exists()
