#!/usr/bin/env python3
"""Compares the root statistics of two UCI engines that print lc0's VerboseMoveStats.

For every position both engines search the same number of nodes; the script reports how often all visits agree but for one
(lc0 may search one node more than it was asked for), how often the best moves agree, the mean total variation distance of
the visit distributions, and the largest differences of prior, value and draw. With `--nodes 1` it compares the networks
alone. Needs only the standard library.

    scripts/compare/visits.py --a "lc0 --weights=net.pb.gz --backend=blas --threads=1 --minibatch-size=1" \\
        --b "sardonyx --weights=net.pb.gz --threads=1 --minibatch-size=1" --positions positions.txt --nodes 400

The positions file has one UCI `position` argument a line: `startpos moves e2e4`, `fen … moves …`, or a bare FEN. After it
may follow options and moves for this position alone: `startpos | Contempt=100 | MultiPV=3 | searchmoves e2e4 d2d4`.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from dataclasses import dataclass, field

from uci_engine import UciEngine

MOVE_LINE = re.compile(
    r"info string (?P<label>\S+)\s+\(\s*\d+\s*\) N:\s*(?P<visits>\d+) \(\+\s*\d+\) \(P:\s*(?P<prior>[\d.]+)%\)"
)
NODE_WL = re.compile(r"\(WL:\s*(-?[\d.]+)\)")
NODE_DRAW = re.compile(r"\(D:\s*(-?[\d.]+)\)")


@dataclass
class RootStatistics:
    """What one engine says of one position: percentages for priors, the mover's view for values."""

    best_move: str = ""
    visits: dict[str, int] = field(default_factory=dict)
    prior_percent: dict[str, float] = field(default_factory=dict)
    value: float | None = None
    draw: float | None = None


class Engine(UciEngine):
    def __init__(self, command: str, options: list[str]) -> None:
        super().__init__(command, ["VerboseMoveStats=true", *options])

    def search(self, position: str, nodes: int, limits: str) -> RootStatistics:
        statistics = RootStatistics()
        for line in self.search_lines(position, nodes, limits):
            match = MOVE_LINE.match(line)
            if line.startswith("bestmove"):
                statistics.best_move = line.split()[1]
            elif match and match["label"] == "node":
                wl, draw = NODE_WL.search(line), NODE_DRAW.search(line)
                statistics.value = float(wl[1]) if wl else None
                statistics.draw = float(draw[1]) if draw else None
            elif match:
                statistics.visits[match["label"]] = int(match["visits"])
                statistics.prior_percent[match["label"]] = float(match["prior"])
        has_visits = nodes == 1 or any(statistics.visits.values())
        if statistics.value is None or statistics.draw is None or not statistics.prior_percent or not has_visits:
            raise RuntimeError(f"no VerboseMoveStats with a node line (WL, D) and moves: {position}")
        return statistics


def total_variation(a: dict[str, int], b: dict[str, int]) -> float:
    """Half the L1 distance of two visit distributions; 0 = equal, 1 = disjoint."""
    total_a, total_b = max(1, sum(a.values())), max(1, sum(b.values()))
    return 0.5 * sum(abs(a.get(move, 0) / total_a - b.get(move, 0) / total_b) for move in a.keys() | b.keys())


def are_equal(a: dict[str, int], b: dict[str, int]) -> bool:
    """Whether the visits are the same, but for one visit that one engine has made and the other has not."""
    return sum(abs(a.get(move, 0) - b.get(move, 0)) for move in a.keys() | b.keys()) <= 1


def largest(differences: list[float]) -> float:
    return max(differences, default=0.0)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--a", required=True, help="command line of the first engine (the reference)")
    parser.add_argument("--b", required=True, help="command line of the second engine")
    parser.add_argument("--positions", required=True, help="file with one UCI position argument a line")
    parser.add_argument("--nodes", type=int, default=400)
    parser.add_argument("--limit", type=int, default=0, help="only the first so many positions")
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE, set in both engines; repeatable")
    parser.add_argument("--worst", type=int, default=5, help="how many of the most different positions to list")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()

    with open(arguments.positions, encoding="utf8") as file:
        positions = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    if arguments.limit > 0:
        positions = positions[: arguments.limit]
    pair = [Engine(command, arguments.option) for command in (arguments.a, arguments.b)]
    rows = []
    for index, position in enumerate(positions):
        argument, *extras = (part.strip() for part in position.split("|"))
        limits = " ".join(extra for extra in extras if extra.startswith("searchmoves"))
        options = [extra for extra in extras if not extra.startswith("searchmoves")]
        engines = pair
        if options:
            engines = [Engine(command, [*arguments.option, *options]) for command in (arguments.a, arguments.b)]
        try:
            a, b = (engine.search(argument, arguments.nodes, limits) for engine in engines)
        except RuntimeError as error:
            print(f"\nvisits: {error}", file=sys.stderr)
            return 1
        moves = a.prior_percent.keys() | b.prior_percent.keys()
        rows.append(
            {
                "position": position,
                "equal": are_equal(a.visits, b.visits),
                "best": [a.best_move, b.best_move],
                "distance": total_variation(a.visits, b.visits),
                "prior": largest([abs(a.prior_percent.get(m, -1) - b.prior_percent.get(m, -1)) for m in moves]),
                "value": abs(a.value - b.value),
                "draw": abs(a.draw - b.draw),
            }
        )
        if options:
            for engine in engines:
                engine.quit()
        print(f"\r{index + 1}/{len(positions)}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for engine in pair:
        engine.quit()

    same = sum(row["best"][0] == row["best"][1] for row in rows)
    summary = {
        "positions": len(rows),
        "nodes": arguments.nodes,
        "equal_visits": sum(row["equal"] for row in rows),
        "same_best_move": same / max(1, len(rows)),
        "mean_distance": sum(row["distance"] for row in rows) / max(1, len(rows)),
        "largest_prior_difference_percent": largest([row["prior"] for row in rows]),
        "largest_value_difference": largest([row["value"] for row in rows]),
        "largest_draw_difference": largest([row["draw"] for row in rows]),
    }
    worst = sorted(rows, key=lambda row: (row["distance"], row["prior"]), reverse=True)[: arguments.worst]
    if arguments.json:
        print(json.dumps({**summary, "worst": worst}, indent=2))
    else:
        for name, value in summary.items():
            print(f"{name:34} {value:.6g}")
        for row in worst:
            print(f"  distance {row['distance']:.4f} prior {row['prior']:.3f} best {row['best']} {row['position']}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
