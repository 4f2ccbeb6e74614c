"""Self-play without pause: batches of games with the newest promoted network, while the loop trains and gates.

A batch is a task with a ticket in its folder that says which network plays with which seed. It lies in `stream/` until a
generation takes it: the state lists it first, then its folder moves to that generation. So a game belongs to one generation
or to none, wherever a kill comes in between. Which games a generation got depends on timing; the state and the tickets
say which, so its training can be repeated.
Games of networks that a rollback left, or that fell too far behind the best one, are dropped and written down.
"""

import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from ..base.errors import Stopped, TrainError
from ..base.files import PART, compute_digest, name_part, publish, read_json, read_rows, remove, write_json
from ..config.loop_config import LoopConfig
from ..tasks.task import RESULTS, Executor, Task
from .games import Share, adapt_resignation, check_games, count_records, create_seed, create_self_play_task, gather, read_games
from .state import Folders, LoopState, list_lineage, read_as

TICKET = "ticket.json"
_DROPPED = "dropped.jsonl"
_POLL_SECONDS = 0.2


@dataclass(frozen=True)
class Ticket:
    """What a batch was played with."""

    network: int  # generation
    digest: str  # of the network
    book: str | None
    task: Task


class GameStream:
    """Plays from `start` to `close`. The state is read at the start and by `follow`, in the thread of the caller."""

    def __init__(self, config: LoopConfig, executor: Executor, state: LoopState, say: Callable[[str], None]) -> None:
        self._config, self._executor, self._say = config, executor, say
        self._folders = Folders(config.folder)
        self._folder = self._folders.stream
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._failure: BaseException | None = None
        self._waiting: list[Ticket] = []  # begun before a restart
        self._running: dict[str, Ticket] = {}
        self._ready: dict[str, Ticket] = {}
        self._count_records = cache(lambda name: count_records(self._folder / name))  # of finished batches
        self.follow(state)
        self._recover(state)
        self._thread = threading.Thread(target=self._run, name="self-play", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def close(self) -> None:
        """Ends the games under way; the next start continues them."""
        self._closed.set()
        if self._thread.ident is not None:
            self._thread.join()

    def follow(self, state: LoopState) -> None:
        """New batches are played by the best network of the state; games that are too old now are dropped."""
        with self._lock:
            self._lineage = list_lineage(state)
            self._section = adapt_resignation(self._config.selfplay, self._folders, state.current.number - 1)
            for name, ticket in list(self._ready.items()):
                if self._is_stale(ticket):
                    del self._ready[name]
                    self._drop(self._folder / name, ticket)

    def wait_for_games(self, games: int, positions: int | None, is_stopped: Callable[[], bool]) -> list[str]:
        """Names of all finished batches in their order, once they hold so many games or recorded positions.

        Raises Stopped and TrainError.
        """
        while True:
            with self._lock:
                if self._count_generations(self._ready, games, positions) >= 1:
                    return sorted(self._ready)
            if is_stopped():
                raise Stopped
            if self._failure is not None:
                raise self._failure
            time.sleep(_POLL_SECONDS)

    def move(self, names: Sequence[str], folder: Path) -> int:
        """Moves batches that the state has given to a generation to its folder; returns their games."""
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            if (self._folder / name).exists():
                publish(self._folder / name, folder / name)
            with self._lock:
                self._ready.pop(name, None)
        return check_games([read_ticket(folder / name).task for name in names], folder)

    # For the executor.

    def take_task(self) -> tuple[Task, Mapping[str, Path]] | None:
        with self._lock:
            if self._closed.is_set():
                return None
            ticket = self._waiting.pop(0) if self._waiting else self._write_ticket()
            if ticket is None:
                return None
            self._running[ticket.task.name] = ticket
            network = self._folders.network(ticket.network)
            return ticket.task, {name: network if name == ticket.digest else Path(ticket.book or "") for name in ticket.task.files}

    def finish(self, task: Task) -> None:
        with self._lock:
            ticket = self._running.pop(task.name)
            if self._is_stale(ticket):
                self._drop(self._folder / task.name, ticket)
            else:
                self._ready[task.name] = ticket

    def is_closed(self) -> bool:
        return self._closed.is_set()

    def _run(self) -> None:
        try:
            self._executor.stream(self, self._folder)
        except (TrainError, OSError) as error:
            self._failure = error
            self._say(f"self-play has stopped: {error}")

    def _write_ticket(self) -> Ticket | None:
        section, own = self._section, self._config.asynchronous
        if own is None or self._count_generations({**self._ready, **self._running}, section.games, section.positions) >= own.ahead:
            return None
        network = self._lineage[0]
        (digest, *_), book = gather([self._folders.network(network)], section.book)
        # Batches are numbered over the whole loop.
        seed = create_seed(self._config.run.seed, self._next, "stream", 0)
        share = Share(f"games-{self._next:06d}", section.games_per_task, seed)
        task = replace(create_self_play_task(section, share, digest, book), niceness=own.niceness)
        self._next += 1
        ticket = Ticket(network, digest, section.book, task)
        part = name_part(self._folder / task.name)
        part.mkdir(parents=True, exist_ok=True)
        write_json(part / TICKET, asdict(ticket))
        return ticket

    def _count_generations(self, tickets: Mapping[str, Ticket], games: int, positions: int | None) -> float:
        """How many generations these batches would fill."""
        share = sum(ticket.task.games for ticket in tickets.values()) / games
        if positions is None:
            return share
        return max(share, sum(self._count_records(name) for name in tickets if name in self._ready) / positions)

    def _is_stale(self, ticket: Ticket) -> bool:
        own = self._config.asynchronous
        newest = self._lineage if own is None else self._lineage[: own.staleness + 1]
        return ticket.network not in newest

    def _drop(self, folder: Path, ticket: Ticket) -> None:
        """Written down first: a batch that a kill leaves behind is removed at the next start."""
        row = {"batch": ticket.task.name, "network": ticket.network, "games": ticket.task.games, "best": self._lineage[0]}
        with (self._folder / _DROPPED).open("a", encoding="utf-8") as file:
            file.write("\n" + json.dumps({**row, "time": time.time()}) + "\n")  # a line that was cut short stays alone
        remove(folder)

    def _recover(self, state: LoopState) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        taken = {name for row in (*state.generations, state.current) for name in row.batches or []}
        dropped = {row["batch"] for row in read_dropped(self._folders)}
        self._give_back(state)
        for path in sorted(p for p in self._folder.iterdir() if p.is_dir()):
            name = path.name.removesuffix(PART)
            if name in taken and not path.name.endswith(PART):
                continue  # a generation that is about to move it
            if name in taken | dropped or not (path / TICKET).exists():
                remove(path)
                continue
            ticket = read_ticket(path)
            network = self._folders.network(ticket.network)
            if self._is_stale(ticket) or not network.exists() or compute_digest(network) != ticket.digest:
                self._drop(path, ticket)
            elif path.name.endswith(PART):
                self._waiting.append(ticket)
            else:
                self._ready[name] = ticket
        dropped = {row["batch"] for row in read_dropped(self._folders)}
        known = taken | dropped | {path.name.removesuffix(PART) for path in self._folder.iterdir()}
        numbers = [int(name.rpartition("-")[2]) for name in known if name.startswith("games-")]
        self._next = max(numbers, default=0) + 1

    def _give_back(self, state: LoopState) -> None:
        """Batches of a generation that was abandoned before it could learn from them lie in the stream again."""
        for row in (*state.generations, state.current):
            for path in sorted(self._folders.generation(row.number, "games").glob("games-*")):
                if path.name not in (row.batches or []) and (path / TICKET).exists():
                    publish(path, self._folder / path.name)


def read_ticket(folder: Path) -> Ticket:
    return read_as(Ticket, read_json(folder / TICKET), folder / TICKET)


def read_dropped(folders: Folders) -> list[dict[str, Any]]:
    return read_rows(folders.stream / _DROPPED)


def describe_batches(folder: Path, names: Sequence[str]) -> list[dict[str, Any]]:
    """For the record of a generation: who played which games with which seed, and what came of it."""
    rows = []
    for name in names:
        ticket = read_ticket(folder / name)
        seed, results = int(ticket.task.get_flag("seed")), compute_digest(folder / name / RESULTS)
        rows.append({"batch": name, "network": ticket.network, "seed": seed, "games": ticket.task.games, "results": results})
    return rows


def count_stream(folders: Folders) -> tuple[int, int, int]:
    """Games that no generation has taken: ready, finished in batches under way, and dropped."""
    batches = [path for path in folders.stream.glob("*") if path.is_dir()]
    ready, playing = (sum(len(read_games(path)) for path in batches if path.name.endswith(PART) == is_part) for is_part in (False, True))
    return ready, playing, sum(row["games"] for row in read_dropped(folders))
