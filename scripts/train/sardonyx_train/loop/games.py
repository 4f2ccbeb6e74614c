"""Plans games as tasks and reads their results. Only games in the folders of finished tasks count.

The rate of false resignations is kept low after AlphaGo Zero (Silver et al. 2017) and lc0's resign_report: of the games that were played
through in the last generations, at most a wanted share may be won or drawn by a side that would have resigned.
"""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from ..base.errors import TrainError
from ..base.files import PART, compute_digest, name_part, read_json, read_rows
from ..config.loop_config import Flag, GateSection, SelfPlaySection
from ..tasks.task import OUT, OUTPUT, RESULTS, Task, refer_to
from .state import Folders, Match

_RECORD_BYTES = 8356  # of lc0's V6


class Share(NamedTuple):
    """A task's part of the games."""

    name: str
    games: int
    seed: int


def gather(networks: Sequence[Path], book: str | None) -> tuple[dict[str, Path], str | None]:
    """The files of a task by digest, in this order, and the book's digest."""
    files = {compute_digest(path): path for path in networks}
    if book is None:
        return files, None
    if not Path(book).is_file():
        raise TrainError(f"there is no book {book}")
    digest = compute_digest(Path(book))
    return {**files, digest: Path(book)}, digest


def create_self_play_tasks(section: SelfPlaySection, seed: int, generation: int, network: str, book: str | None) -> list[Task]:
    """`network` and `book` are digests."""
    shares = deal_games("games", section.games, section.games_per_task, seed, generation)
    return [create_self_play_task(section, share, network, book) for share in shares]


def create_self_play_task(section: SelfPlaySection, share: Share, network: str, book: str | None) -> Task:
    fixed = [f"--weights={refer_to(network)}", "--training", f"--out={OUT}", f"--pgnout={OUT}/games.pgn", "--json"]
    return _create_task("selfplay", section, share, fixed, (network,), book)


def create_match_tasks(
    section: GateSection, games: int, kind: str, seed: int, generation: int, players: dict[str, str | None], book: str | None
) -> list[Task]:
    """`players`: two names with the digests of their networks; None is the player of random moves."""
    fixed: list[str] = []
    for number, (name, network) in enumerate(players.items(), 1):
        own = [f"weights={refer_to(network)}", f"name={name}"] if network is not None else ["type=random"]
        fixed += [f"--player{number}.{word}" for word in own]
    fixed += [f"--results={OUT}/{RESULTS}", f"--pgnout={OUT}/games.pgn", "--rating-interval=0", "--json"]
    files = tuple(network for network in players.values() if network is not None)
    shares = deal_games(kind, games, section.games_per_task, seed, generation)
    return [_create_task("match", section, share, fixed, files, book) for share in shares]


def _create_task(
    command: str, section: SelfPlaySection | GateSection, share: Share, fixed: list[str], files: tuple[str, ...], book: str | None
) -> Task:
    opening = [] if book is None else [f"--openings-pgn={refer_to(book)}"]
    own = [f"--games={share.games}", f"--seed={share.seed}", *opening, *format_flags(section.flags)]
    given = files if book is None else (*files, book)
    return Task(share.name, (command, *fixed, *own), tuple(dict.fromkeys(given)), section.task_minutes)


def format_flags(flags: dict[str, Flag]) -> list[str]:
    return [f"--{name}={str(value).lower() if isinstance(value, bool) else value}" for name, value in flags.items()]


def create_seed(seed: int, generation: int, kind: str, index: int) -> int:
    """A 31-bit hash of the arguments, so that tasks have different seeds."""
    text = f"{seed}/{generation}/{kind}/{index}".encode()
    return int.from_bytes(hashlib.sha256(text).digest()[:4], "big") >> 1


def check_games(tasks: Sequence[Task], folder: Path) -> int:
    """Checks that every task has each of its games once. Returns the number of games; raises TrainError."""
    total = 0
    for task in tasks:
        played = [row["game"] for row in read_games(folder / task.name)]
        if sorted(played) != list(range(task.games)):
            raise TrainError(f"{folder / task.name} has {len(played)} games ({len(set(played))} different), not {task.games}")
        total += len(played)
    return total


def take_positions(tasks: Sequence[Task], folder: Path, positions: int) -> list[Task] | None:
    """The first tasks that together recorded so many positions; None while those that are finished in order have too few."""
    recorded = 0
    for count, task in enumerate(tasks, 1):
        if not (folder / task.name).exists():
            return None
        recorded += count_records(folder / task.name)
        if recorded >= positions:
            return list(tasks[:count])
    return list(tasks)


def count_records(folder: Path) -> int:
    """Training records of a finished self-play task, by the unpacked sizes at the ends of its gzip files."""
    return sum(int.from_bytes(path.read_bytes()[-4:], "little") for path in folder.glob("game_*.gz")) // _RECORD_BYTES


def read_match(task: Task, folder: Path) -> Match:
    answer = read_json(folder / task.name / OUTPUT)
    match = Match(answer["wins"], answer["draws"], answer["losses"], list(answer["pentanomial"]))
    if match.games != check_games([task], folder):
        raise TrainError(f"{folder / task.name} reports {match.games} games, not {task.games}")
    return match


def read_pairs(tasks: Sequence[Task], folder: Path) -> list[tuple[float, float]]:
    """The first player's points in the pairs of games before the first unfinished one, in the order of tasks and games: so no
    verdict depends on what is faster. Games of unfinished tasks count."""
    pairs: list[tuple[float, float]] = []
    for task in tasks:
        place = folder / task.name
        points = _read_points(task, place if place.exists() else name_part(place))
        for game in range(0, task.games, 2):
            if game not in points or game + 1 not in points:
                return pairs
            pairs.append((points[game], points[game + 1]))
    return pairs


def _read_points(task: Task, folder: Path) -> dict[int, float]:
    name = task.get_flag("player1.name")
    white_points = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}
    rows = [row for row in read_games(folder) if row.get("result") in white_points]
    return {row["game"]: white_points[row["result"]] if row["white"] == name else 1 - white_points[row["result"]] for row in rows}


def count_games(folder: Path) -> int:
    """Number of finished games, including those of unfinished tasks on this machine; for display."""
    tasks = {path.name.removesuffix(PART): path for path in sorted(folder.glob("*/"), reverse=True)}  # finished ones last
    return sum(len(read_games(path)) for path in tasks.values())


def read_games(task_folder: Path) -> list[dict[str, Any]]:
    return [row for row in read_rows(task_folder / RESULTS) if "game" in row]


def deal_games(kind: str, games: int, per_task: int, seed: int, generation: int = 0) -> list[Share]:
    firsts = enumerate(range(0, games, per_task))
    return [Share(f"{kind}-{i:04d}", min(per_task, games - first), create_seed(seed, generation, kind, i)) for i, first in firsts]


PERCENTAGE = "resign-percentage"
_GENERATIONS = 3
_LEAST_GAMES = 20  # below this number the configured percentage stands
_MOST_PERCENT = 20.0


def adapt_resignation(section: SelfPlaySection, folders: Folders, newest: int) -> SelfPlaySection:
    """The section with the percentage that the games of the generations up to `newest` allow."""
    if section.resign_false_positives is None:
        return section
    thresholds = [
        t for number in range(newest, max(0, newest - _GENERATIONS), -1) for t in _read_thresholds(folders.generation(number, "games"))
    ]
    percent = choose_percentage(thresholds, section.resign_false_positives)
    if percent is None:
        return section
    return section.model_copy(update={"flags": {**section.flags, PERCENTAGE: percent}})


def choose_percentage(thresholds: Iterable[float], false_positives: float) -> float | None:
    """The highest percentage that misjudges no more than this share of the games; None with too few games.

    `thresholds`: of each game that was played through, the win probability above which a resignation would have been wrong.
    """
    rows = sorted(thresholds)
    if len(rows) < _LEAST_GAMES:
        return None
    allowed = rows[min(int(false_positives * len(rows)), len(rows) - 1)]
    return min(_MOST_PERCENT, int(1000 * allowed) / 10)


def _read_thresholds(games: Path) -> Iterable[float]:
    rows = [row for path in sorted(games.glob(f"*/{RESULTS}")) for row in read_rows(path)]
    return [row["falsePositiveThreshold"] for row in rows if row.get("falsePositiveThreshold") is not None]
