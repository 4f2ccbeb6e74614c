#!/usr/bin/env python3
"""Compares the nodes a second of two UCI engines.

Both engines search every position to the same number of nodes, in turns, several times over: a machine that is busy for
a while slows both. Nodes and time are those of each engine's last `info` line before `bestmove`; a repeat's speed is the
sum of its nodes over the sum of its times. Reported are every repeat, the medians and the median of the ratios. Needs
only the standard library.

    scripts/compare/speed.py --a "lc0 --weights=net.pb.gz --backend=blas --threads=2" \\
        --b "sardonyx --weights=net.pb.gz --threads=2" --nodes 4000 --repeats 5

A positions file has one UCI `position` argument a line: `startpos moves e2e4`, `fen … moves …`, or a bare FEN.
"""

from __future__ import annotations

import argparse
import json
import re
import statistics
import sys

from uci_engine import UciEngine

POSITIONS = [
    "startpos",
    "fen r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "fen r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
]
INFO = re.compile(r"^info .*?\btime (?P<time>\d+)\b.*")
NODES = re.compile(r"\bnodes (\d+)")


class Engine(UciEngine):
    """One process for each repeat: threads, caches and clocks start anew."""

    def search(self, position: str, nodes: int) -> tuple[int, int]:
        """Nodes searched and milliseconds taken."""
        last = (0, 0)
        for line in self.search_lines(position, nodes):
            time, count = INFO.match(line), NODES.search(line)
            if time and count:
                last = (int(count[1]), int(time["time"]))
        return last


def measure(command: str, options: list[str], positions: list[str], nodes: int) -> float:
    """Nodes a second over all positions."""
    engine = Engine(command, options)
    results = [engine.search(position, nodes) for position in positions]
    engine.quit()
    return 1000 * sum(count for count, _ in results) / max(1, sum(time for _, time in results))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--a", required=True, help="command line of the first engine (the reference)")
    parser.add_argument("--b", required=True, help="command line of the second engine")
    parser.add_argument("--positions", help="file with one UCI position argument a line (default: three of its own)")
    parser.add_argument("--nodes", type=int, default=4000)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE, set in both engines; repeatable")
    parser.add_argument("--json", action="store_true", help="print one JSON object instead of lines")
    arguments = parser.parse_args()

    positions = POSITIONS
    if arguments.positions:
        with open(arguments.positions, encoding="utf8") as file:
            positions = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    rows: list[tuple[float, float]] = []
    for repeat in range(arguments.repeats):
        a, b = (measure(command, arguments.option, positions, arguments.nodes) for command in (arguments.a, arguments.b))
        rows.append((a, b))
        if not arguments.json:
            print(f"{repeat + 1}: a {a:.0f}  b {b:.0f} nodes/s  b/a {b / a:.2f}", flush=True)
    summary = {
        "nodes": arguments.nodes,
        "positions": len(positions),
        "repeats": len(rows),
        "a": statistics.median(a for a, _ in rows),
        "b": statistics.median(b for _, b in rows),
        "ratio": statistics.median(b / a for a, b in rows),
    }
    if arguments.json:
        print(json.dumps({**summary, "rows": rows}, indent=2))
    else:
        print(f"median: a {summary['a']:.0f}  b {summary['b']:.0f} nodes/s  b/a {summary['ratio']:.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
