#!/usr/bin/env python3
"""Compares two UCI engines, A (the reference) and B. Needs only the standard library. (Games on a clock: `sardonyx match --tc`, fastchess.)

    engines.py speed --a "lc0 --weights=net.pb.gz --threads=2" --b "sardonyx --weights=net.pb.gz --threads=2" --nodes 4000
    engines.py visits --a … --b … --positions FILE --nodes 400

`speed`: nodes a second, by each engine's last `info` line before `bestmove`. Both search each position to the same number of nodes, in
turns, several times over: a machine that is busy for a while slows both.

`visits`: what lc0's VerboseMoveStats say of the root: how often all visits agree but for one (lc0 may search one node more than it was
asked for), how often the best moves agree, the mean total variation distance of the visits, and the largest differences of prior (in
percent), value and draw. With `--nodes 1` it compares the networks alone.

A file of positions has one argument of UCI's `position` a line, or a FEN. Behind it, for `visits`, may stand `| searchmoves e2e4 …` and
`| OPTION=VALUE`, which both engines get anew for this position. Smart pruning is off, so that all nodes asked for are searched.
"""

import argparse
import json
import re
import shlex
import statistics
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

POSITIONS = """startpos
r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1
r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10"""
SPEED = re.compile(r"(?=.*\bnodes (?P<nodes>\d+))info .*\btime (?P<time>\d+)\b")
MOVE = re.compile(r"info string (?P<label>\S+)\s+\(\s*\d+\s*\) N:\s*(?P<visits>\d+) \(\+\s*\d+\) \(P:\s*(?P<prior>[\d.]+)%\)")
VALUE = re.compile(r"\((WL|D):\s*(-?[\d.]+)\)")


class Engine:
    def __init__(self, command: str, options: list[str]) -> None:
        """`options`: NAME=VALUE."""
        self._process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self._ask("uci", "uciok")
        for option in ["SmartPruningFactor=0", *options]:
            self._send("setoption name {} value {}".format(*option.split("=", 1)))
        self._ask("isready", "readyok")

    def search(self, position: str, nodes: int, *limits: str) -> list[str]:
        """What the engine says of a new game's position, `bestmove` last."""
        self._send("ucinewgame")
        self._send(f"position {position if position.startswith(('startpos', 'fen ')) else f'fen {position}'}")
        return self._ask(" ".join(("go nodes", str(nodes), *limits)), "bestmove")

    def quit(self) -> None:
        self._process.communicate("quit\n", timeout=10)

    def _send(self, line: str) -> None:
        print(line, file=self._process.stdin, flush=True)

    def _ask(self, line: str, first_word: str) -> list[str]:
        self._send(line)
        lines = []
        for answer in self._process.stdout:
            lines.append(answer.rstrip("\n"))
            if answer.split(maxsplit=1)[:1] == [first_word]:
                return lines
        sys.exit(f"the engine ended before it said {first_word}")


def compare_speed(arguments: Namespace) -> dict[str, Any]:
    rows = []
    for _ in range(arguments.repeats):
        speeds = []
        for command in (arguments.a, arguments.b):
            engine = Engine(command, arguments.option)  # anew each time: threads, caches and clocks
            said = [
                [match for line in engine.search(place, arguments.nodes) if (match := SPEED.match(line))] for place in arguments.positions
            ]
            engine.quit()
            speeds.append(1000 * sum(int(lines[-1]["nodes"]) for lines in said) / max(1, sum(int(lines[-1]["time"]) for lines in said)))
        rows.append((*speeds, speeds[1] / speeds[0]))
        print(f"a {speeds[0]:.0f}  b {speeds[1]:.0f} nodes/s  b/a {rows[-1][2]:.2f}", file=sys.stderr)
    return {"positions": len(arguments.positions), "medians": dict(zip(("a", "b", "b/a"), map(statistics.median, zip(*rows))))}


def read_root(lines: list[str]) -> dict[str, Any]:
    """Visits, priors in percent, the mover's W − L and D, and the best move."""
    moves = {match["label"]: match for line in lines if (match := MOVE.match(line))}
    values = dict(VALUE.findall(moves.pop("node").string)) if "node" in moves else {}
    if not moves or values.keys() != {"WL", "D"}:
        sys.exit("the engine printed no VerboseMoveStats with moves and a node line (WL, D)")
    return {
        "visits": {label: int(match["visits"]) for label, match in moves.items()},
        "prior": {label: float(match["prior"]) for label, match in moves.items()},
        **{name: float(value) for name, value in values.items()},
        "best": lines[-1].split()[1],
    }


def compare_roots(a: dict[str, Any], b: dict[str, Any]) -> dict[str, Any]:
    moves = a["prior"].keys() | b["prior"].keys()
    visits = [[root["visits"].get(move, 0) for move in moves] for root in (a, b)]
    totals = [max(1, sum(counts)) for counts in visits]
    return {
        "equal": sum(abs(x - y) for x, y in zip(*visits)) <= 1,
        "best": [a["best"], b["best"]],
        "distance": 0.5 * sum(abs(x / totals[0] - y / totals[1]) for x, y in zip(*visits)),  # of distributions: 0 equal, 1 disjoint
        "prior": max(abs(a["prior"].get(move, -1) - b["prior"].get(move, -1)) for move in moves),
        "value": abs(a["WL"] - b["WL"]),
        "draw": abs(a["D"] - b["D"]),
    }


def compare_visits(arguments: Namespace) -> dict[str, Any]:
    def start(more: list[str]) -> list[Engine]:
        return [Engine(command, ["VerboseMoveStats=true", *arguments.option, *more]) for command in (arguments.a, arguments.b)]

    usual = start([])
    rows = []
    for position in arguments.positions:
        place, *extras = (part.strip() for part in position.split("|"))
        limits = [extra for extra in extras if extra.startswith("searchmoves")]
        own = [extra for extra in extras if extra not in limits]
        pair = start(own) if own else usual
        roots = [read_root(engine.search(place, arguments.nodes, *limits)) for engine in pair]
        rows.append({"position": position, **compare_roots(*roots)})
        for engine in pair if own else ():
            engine.quit()
        print(f"\r{len(rows)}/{len(arguments.positions)}", end="", file=sys.stderr, flush=True)
    for engine in usual:
        engine.quit()
    return {
        "positions": len(rows),
        "equal visits": sum(row["equal"] for row in rows),
        "same best move": sum(row["best"][0] == row["best"][1] for row in rows),
        "mean distance": statistics.mean(row["distance"] for row in rows),
        "largest differences": {name: max(row[name] for row in rows) for name in ("prior", "value", "draw")},
        "worst": sorted(rows, key=lambda row: (row["distance"], row["prior"]), reverse=True)[: arguments.worst],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("work", choices=("speed", "visits"))
    parser.add_argument("--a", required=True, help="command line of the first engine")
    parser.add_argument("--b", required=True, help="command line of the second engine")
    parser.add_argument("--positions", type=Path, help="file of positions (default: three of its own)")
    parser.add_argument("--nodes", type=int, default=400)
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE, set in both engines; repeatable")
    parser.add_argument("--repeats", type=int, default=5, help="of speed")
    parser.add_argument("--worst", type=int, default=5, help="of visits: how many of the most different positions to list")
    arguments = parser.parse_args()
    text = POSITIONS if arguments.positions is None else arguments.positions.read_text(encoding="utf8")
    arguments.positions = [line.strip() for line in text.splitlines() if line.strip() and not line.startswith("#")]
    print(json.dumps((compare_speed if arguments.work == "speed" else compare_visits)(arguments), indent=2))


if __name__ == "__main__":
    main()
