"""Speaks the engine's selfplay, shards and match commands without any chess: outcomes follow from seed and number.

What the loop must not lose or double is all there: games numbered in games.jsonl, one record file a game that says
which network and seed made it, shards with a known number of positions a game. FAKE_GAME_SECONDS slows games down,
FAKE_FAILURE names a command that fails, FAKE_JOURNAL a file that gets the seed of every self-play run begun.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import random
import sys
import time
from pathlib import Path

POSITIONS = 12  # a game
HELD_OUT = 3  # of them
RESULTS = "games.jsonl"


def main() -> None:
    if sys.argv[1:] == ["--version"]:
        print("fake")
        return
    command, *rest = sys.argv[1:]
    if command == "elo":  # the real one, which the build has
        os.execvp("node", ["node", str(Path(__file__).parents[4] / "dist/cli/main.js"), command, *rest])
    flags: dict[str, str] = {}
    others: list[str] = []
    words = iter(rest)
    for word in words:
        if not word.startswith("--"):
            others.append(word)
        elif "=" in word:
            flags.update([word[2:].split("=", 1)])
        else:
            flags[word[2:]] = "" if word[2:] in ("training", "json") else next(words)
    if "vizits" in flags:
        sys.exit("Unknown flag --vizits")
    is_trial = flags.get("games") in ("1", "2")
    if os.environ.get("FAKE_FAILURE") == command and not is_trial:
        sys.exit(f"{command} fails as it was told to")
    {"selfplay": play_self, "shards": make_shards, "match": play_match, "label": label_games, "analyse": analyse_games}[command](
        flags, others
    )


def play_self(flags: dict[str, str], _: list[str]) -> None:
    folder = Path(flags["out"])
    network = digest(Path(flags["weights"]))
    if "FAKE_JOURNAL" in os.environ and flags["games"] != "1":
        add_line(Path(os.environ["FAKE_JOURNAL"]), {"seed": int(flags["seed"])})
    for game in missing_games(folder / RESULTS, flags):
        made = {"seed": int(flags["seed"]), "game": game, "network": network}
        part = folder / f"game_{game:06d}.gz.tmp"
        part.write_bytes(gzip.compress(json.dumps(made).encode(), mtime=0))
        part.rename(folder / f"game_{game:06d}.gz")
        add_line(folder / RESULTS, {"game": game})
    print(json.dumps({"games": int(flags["games"])}))


def play_match(flags: dict[str, str], _: list[str]) -> None:
    results = Path(flags["results"])
    first = digest(Path(flags["player1.weights"]))
    for game in missing_games(results, flags):
        roll = random.Random(f"{flags['seed']}/{game}/{first}").random()
        points = 1 if roll < 0.55 else 0.5 if roll < 0.8 else 0
        name = flags.get("player1.name", "first") if game % 2 == 0 else "other"
        result = {1: "1-0", 0.5: "1/2-1/2", 0: "0-1"}[points if game % 2 == 0 else 1 - points]
        add_line(results, {"game": game, "points": points, "white": name, "result": result})
    points = {row["game"]: row["points"] for row in read_lines(results) if "game" in row}
    counts = [list(points.values()).count(p) for p in (1, 0.5, 0)]
    pairs = [0] * 5
    for game in range(0, len(points), 2):
        pairs[int(2 * (points[game] + points[game + 1]))] += 1
    print(json.dumps({**dict(zip(("wins", "draws", "losses"), counts)), "pentanomial": pairs}))


def label_games(flags: dict[str, str], _: list[str]) -> None:
    path = Path(flags["out"]) / f"{flags['prefix']}_0000.jsonl.gz"
    path.write_bytes(gzip.compress(f"{flags['seed']} {flags['games']}".encode(), mtime=0))
    print(json.dumps({"games": int(flags["games"])}))


def analyse_games(flags: dict[str, str], inputs: list[str]) -> None:
    text = Path(inputs[0]).read_text().replace("1. e4 1-0", "1. e4 {analysed} 1-0")
    Path(flags["pgn"]).write_text(text)
    print(json.dumps([]))


def make_shards(flags: dict[str, str], inputs: list[str]) -> None:
    sys.path.insert(0, str(Path(__file__).parents[2]))
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from train_support.synthetic import write_shard

    totals = {"train": 0, "validation": 0, "test": 0}
    games = 0
    for number, place in enumerate(inputs):
        records = sorted(Path(place).glob("game_*.gz"))
        games += len(records)
        seed = int(hashlib.sha256(b"".join(map(gzip.decompress, (r.read_bytes() for r in records)))).hexdigest()[:7], 16)
        for split, each in (("train", POSITIONS - HELD_OUT), ("validation", HELD_OUT)):
            folder = Path(flags["out"]) / split
            folder.mkdir(parents=True, exist_ok=True)
            write_shard(folder / f"{number:04d}-000.arrow", seed, 1, each * len(records))
            totals[split] += each * len(records)
    print(json.dumps({"games": games, "damaged": 0, "positions": totals}))


def missing_games(results: Path, flags: dict[str, str]):
    """Goes on behind what an earlier run left, as the engine does."""
    conditions = {"conditions": {name: flags[name] for name in sorted(flags) if name not in ("games", "out", "results")}}
    lines = read_lines(results)
    if lines and lines[0] != conditions:
        sys.exit(f"{results} belongs to a run under other conditions")
    results.write_text("".join(json.dumps(line) + "\n" for line in lines or [conditions]))
    done = {line["game"] for line in lines if "game" in line}
    for game in range(int(flags["games"])):
        if game not in done:
            time.sleep(float(os.environ.get("FAKE_GAME_SECONDS", "0")))
            yield game


def read_lines(results: Path) -> list[dict]:
    if not results.exists():
        return []
    text = results.read_text()
    return [json.loads(line) for line in text[: text.rfind("\n") + 1].splitlines()]


def add_line(results: Path, row: dict) -> None:
    with results.open("a") as file:
        file.write(json.dumps(row) + "\n")


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()[:16]


if __name__ == "__main__":
    main()
