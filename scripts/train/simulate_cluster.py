#!/usr/bin/env python3
"""Measures how many workers the head of a loop can serve: runs its real code against simulated workers, in simulated time.

`simulate_cluster.py --workers 100 300 1000 3000`. The head's own work is real and measured: hand out tasks, receive finished
games, write them to disk, check them and give them to generations. Ray's part is added as measured costs: for each message
(`--ray-ms`), and for each look at a task (`--look-us`). The head is saturated when it is busy for
longer than the simulated time.
"""

from __future__ import annotations

import argparse
import heapq
import json
import os
import random
import tempfile
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from sardonyx_train.loop.cluster import ClusterExecutor
from sardonyx_train.loop.folders import Folders
from sardonyx_train.loop.game_stream import GameStream
from sardonyx_train.loop.games import count_planned
from sardonyx_train.loop.loop_config import parse_loop_config
from sardonyx_train.loop.loop_files import remove
from sardonyx_train.loop.node import Piece
from sardonyx_train.loop.state import LoopState
from sardonyx_train.loop.usage import read_memory_bytes

_NETWORK_BYTES = 2_000_000


class Answers:
    """The answers of a worker: the games that have ended by now, in pieces."""

    def __init__(self, cluster: FakeRay, games: int, earlier: int) -> None:
        self._cluster = cluster
        self._games = games
        self._sent = earlier
        self._offset = 0
        self.begun = cluster.now

    def __next__(self) -> Piece:
        return self._cluster.deliver(self)

    def has_news(self) -> bool:
        return self._cluster.count_finished(self) > self._sent

    def take(self) -> Piece:
        count = min(self._games, self._cluster.count_finished(self))
        record = self._cluster.record
        files = [(f"game_{game:06d}.gz", 0, record) for game in range(self._sent, count)]
        lines = b"".join(b'{"game":%d,"result":"1-0","reason":"checkmate","plies":120}\n' % game for game in range(self._sent, count))
        files.append(("games.jsonl", self._offset, lines))
        self._offset += len(lines)
        self._sent = count
        return Piece(files, [], "node", is_last=count == self._games)


class FakeRay:
    """The part of Ray that the head calls, with workers in simulated time."""

    exceptions = SimpleNamespace(RayError=ConnectionError, RayTaskError=ChildProcessError)

    def __init__(self, options: argparse.Namespace, workers: int) -> None:
        self.cloudpickle = SimpleNamespace(register_pickle_by_value=lambda module: None)
        self.record = random.Random(1).randbytes(options.game_bytes)
        self.now = 0.0
        self.messages = self.games = self.looks = 0
        self.bytes = 0
        self._options = options
        self._workers = workers
        self._reports: list[tuple[float, int, Answers]] = []  # the time of each worker's next report
        self._waiting: list[Answers] = []  # tasks without a worker
        self._news: dict[Answers, None] = {}

    def is_initialized(self) -> bool:
        return True

    def cluster_resources(self) -> dict[str, float]:
        return {"CPU": self._workers}

    def put(self, content: bytes) -> bytes:
        return content

    def get(self, piece: Piece) -> Piece:
        return piece

    def cancel(self, answers: Answers, force: bool) -> None: ...

    def shutdown(self) -> None: ...

    def remote(self, function: Any) -> Any:
        def submit(task: Any, engine: Any, sent: Any, earlier: Any, report_seconds: float) -> Answers:
            answers = Answers(self, count_planned(task), 0)
            if len(self._reports) < self._workers:
                self._start(answers)
            else:
                self._waiting.append(answers)
            return answers

        return SimpleNamespace(options=lambda **_: SimpleNamespace(remote=submit))

    def wait(self, pending: list[Answers], num_returns: int, timeout: float) -> tuple[list[Answers], list[Answers]]:
        """Advances the simulated time by the timeout."""
        self.now += timeout
        self.looks += len(pending)
        while self._reports and self._reports[0][0] <= self.now:
            at, number, answers = heapq.heappop(self._reports)
            if answers.has_news():
                self._news[answers] = None
            heapq.heappush(self._reports, (at + self._options.report_seconds, number, answers))
        return list(self._news), []

    def deliver(self, answers: Answers) -> Piece:
        self._news.pop(answers)
        piece = answers.take()
        self.messages += 1
        self.games += sum(name.startswith("game_") for name, _, _ in piece.files)
        self.bytes += sum(len(content) for _, _, content in piece.files)
        if piece.is_last:
            self._reports = [row for row in self._reports if row[2] is not answers]
            heapq.heapify(self._reports)
            if self._waiting:
                self._start(self._waiting.pop(0))
        return piece

    def count_finished(self, answers: Answers) -> int:
        return int((self.now - answers.begun) / self._options.game_seconds)

    def _start(self, answers: Answers) -> None:
        answers.begun = self.now - random.random() * self._options.game_seconds
        first = self.now + random.random() * self._options.report_seconds
        heapq.heappush(self._reports, (first, id(answers), answers))


def simulate(options: argparse.Namespace, workers: int, folder: Path) -> dict[str, Any]:
    folders = Folders(folder)
    folders.networks.mkdir(parents=True)
    folders.network(0).write_bytes(random.Random(2).randbytes(_NETWORK_BYTES))
    games = options.games_per_generation
    config = parse_loop_config(
        {
            "run": {"out": str(folder)},
            "selfplay": {"games": games, "games_per_task": options.games_per_task},
            "asynchronous": {"ahead": 1000},
            "cluster": {"report_seconds": options.report_seconds},
        }
    )
    ray = FakeRay(options, workers)
    executor = ClusterExecutor(config.cluster, ["sardonyx"], lambda: False, ray)
    stream = GameStream(config, executor, LoopState("loop"), print)
    source = _Timed(stream, ray, options.seconds)
    begun = time.perf_counter()
    cpu = time.process_time()
    generations = 0
    memory = []

    def finish(task: Any) -> None:
        nonlocal generations
        stream.finish(task)
        if sum(ticket.games for ticket in stream._ready.values()) >= games:
            generations += 1
            stream.move(stream.wait_for_games(games, None, lambda: False), folders.games(generations))
            memory.append(read_memory_bytes(os.getpid()))
            remove(folders.generation(generations))

    source.finish = finish
    executor.stream(source, folders.stream)
    wall, cpu = time.perf_counter() - begun, time.process_time() - cpu
    ray_seconds = ray.messages * options.ray_ms / 1e3 + ray.looks * options.look_us / 1e6
    return {
        "workers": workers,
        "games/s": round(ray.games / options.seconds, 1),
        "messages/s": round(ray.messages / options.seconds, 1),
        "MB/s": round(ray.bytes / options.seconds / 1e6, 2),
        "CPU ms/game": round(1000 * cpu / max(ray.games, 1), 2),
        "head busy": round((cpu + ray_seconds) / options.seconds, 3),
        "by the clock": round((wall + ray_seconds) / options.seconds, 3),
        "memory MB": [round(size / 1e6, 1) for size in (memory[0], memory[-1])] if memory else [],
    }


class _Timed:
    """The stream, closed when the simulated time is over."""

    def __init__(self, stream: GameStream, ray: FakeRay, seconds: float) -> None:
        self._stream = stream
        self._ray = ray
        self._seconds = seconds
        self.take_task = stream.take_task

    def is_closed(self) -> bool:
        return self._ray.now >= self._seconds


def main() -> None:
    parser = argparse.ArgumentParser(description="Simulate a cluster, to see where the head of a loop saturates.")
    parser.add_argument("--workers", type=int, nargs="+", default=[100, 1000])
    parser.add_argument("--seconds", type=float, default=600, help="simulated time")
    parser.add_argument("--game-seconds", type=float, default=40, help="time of a worker for one game")
    parser.add_argument("--games-per-task", type=int, default=5)
    parser.add_argument("--games-per-generation", type=int, default=5000)
    parser.add_argument("--report-seconds", type=float, default=5)
    parser.add_argument("--game-bytes", type=int, default=18_000, help="size of a game's compressed records")
    parser.add_argument("--look-us", type=float, default=10.0, help="CPU time that Ray takes to look at a task")
    parser.add_argument("--ray-ms", type=float, default=1.0, help="CPU time of the head that Ray itself takes for a message")
    options = parser.parse_args()
    for workers in options.workers:
        with tempfile.TemporaryDirectory() as folder:
            print(json.dumps(simulate(options, workers, Path(folder))), flush=True)


if __name__ == "__main__":
    main()
