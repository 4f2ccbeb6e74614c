#!/usr/bin/env python3
"""Kills the loop, worker processes and whole nodes of a Ray cluster on this machine with SIGKILL, at random moments.

`cluster_kills.py --kills 50`. The loop plays without pause, with an engine and a trainer that only pretend to work. Behind
the last kill it runs to its end. Then every game must be in one generation, in the stream or dropped, none twice, and
every version must be there. Needs `pip install "scripts/train[ray]"`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

TRAIN = Path(__file__).resolve().parents[1] / "train"
sys.path[:0] = [str(TRAIN), str(TRAIN / "tests")]

from sardonyx_train.loop.state import load_state
from train_support.loops import FAKE_LOOP, check_stream_books, create_raw, write_config

_STORE_BYTES = 78 * 2**20


class Machines:
    """A head without CPUs and nodes with a temporary folder each, as if they were machines."""

    def __init__(self, folder: Path, count: int) -> None:
        from ray.cluster_utils import Cluster

        self._folder = folder
        self._made = 0
        head = {"num_cpus": 0, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
        self.cluster: Any = _try_thrice(lambda: Cluster(initialize_head=True, head_node_args=head))
        self.nodes = [self._add() for _ in range(count)]

    def replace_one(self, moments: random.Random) -> None:
        """Kills a node as if its plug were pulled, and starts another."""
        node = self.nodes.pop(moments.randrange(len(self.nodes)))
        self.cluster.remove_node(node, allow_graceful=False)
        self.nodes.append(self._add())

    def find_engines(self) -> list[int]:
        """Processes of engines that play on one of the nodes."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if entry.name.isdigit() and (entry / "cwd").readlink().is_relative_to(self._folder):
                    if b"fake_engine.py\0" in (entry / "cmdline").read_bytes():
                        found.append(int(entry.name))
            except OSError:
                continue
        return found

    def _add(self) -> Any:
        self._made += 1
        folder = self._folder / f"machine-{self._made}"
        folder.mkdir(parents=True)
        variables = {"TMPDIR": str(folder), "FAKE_GAME_SECONDS": "0.2"}
        return _try_thrice(lambda: self.cluster.add_node(num_cpus=1, object_store_memory=_STORE_BYTES, env_vars=variables))


def _try_thrice(start: Callable[[], Any]) -> Any:
    """A busy machine may exceed the time that Ray gives a node to start."""
    for _ in range(2):
        try:
            return start()
        except Exception as error:
            print(f"tries again: {error}", file=sys.stderr)
    return start()


class LoopProcess:
    def __init__(self, config: Path, log: Path) -> None:
        self._command = [*FAKE_LOOP, "--config", str(config)]
        self._log = log
        self.process = self._start()

    def _start(self) -> subprocess.Popen[bytes]:
        with self._log.open("ab") as log:
            return subprocess.Popen(self._command, stdout=log, stderr=log)

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        self.process = self._start()

    def restart_if_ended(self) -> bool:
        """A loop that has lost its cluster says so and ends."""
        if self.process.poll() in (None, 0):
            return False
        self.process = self._start()
        return True

    def finish(self, seconds: float) -> int:
        give_up = time.monotonic() + seconds
        while self.process.poll() is None or self.restart_if_ended():
            if time.monotonic() > give_up:
                raise TimeoutError("the loop has not come to its end")
            time.sleep(1)
        return self.process.returncode


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill a loop, its workers and its nodes at random moments.")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--nodes", type=int, default=2)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=4, help="most seconds between two kills")
    options = parser.parse_args()
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "300"}
    moments = random.Random(options.seed)
    counts = {"head": 0, "worker": 0, "node": 0}
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        machines = Machines(folder / "machines", options.nodes)
        out = folder / "run"
        place = {"address": machines.cluster.address, "report_seconds": 0.5}
        raw = create_raw(out, run={"generations": 1000}, asynchronous={}, cluster=place, selfplay={"games_per_task": 5})
        config = write_config(folder / "loop.yaml", raw)
        loop = LoopProcess(config, folder / "log.txt")
        ended = 0
        while sum(counts.values()) < options.kills:
            time.sleep(moments.uniform(0.5, 1) * options.seconds)
            ended += loop.restart_if_ended()
            kind = moments.choice(("head", "worker", "worker", "node"))
            if kind == "worker" and not (engines := machines.find_engines()):
                continue
            if kind == "head":
                loop.kill()
            elif kind == "worker":
                victim = moments.choice(engines)
                victim = moments.choice((victim, _find_parent(victim)))  # the engine, or Ray's process above it
                _kill(victim)
            else:
                machines.replace_one(moments)
            counts[kind] += 1
            state = load_state(out)
            print(f"{sum(counts.values())}: {kind}; {'-' if state is None else f'generation {state.current.number} {state.stage}'}", flush=True)
        state = load_state(out)
        raw["run"]["generations"] = (1 if state is None else state.current.number) + 1
        loop.process.send_signal(signal.SIGKILL)
        loop.process.wait()
        write_config(config, raw)
        loop.process = loop._start()
        status = loop.finish(1200)
        check_stream_books(out)
        state = load_state(out)
        games = sum(row.games for row in state.generations)
        result = {"kills": counts, "status": status, "generations": len(state.generations), "games": games, "ended by itself": ended}
        print(json.dumps(result))
        machines.cluster.shutdown()
    return 0


def _find_parent(pid: int) -> int:
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[1])
    except OSError:
        return pid


def _kill(pid: int) -> None:
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


if __name__ == "__main__":
    sys.exit(main())
