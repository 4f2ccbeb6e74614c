#!/usr/bin/env python3
"""Spreads heavy work of the engine over a Ray cluster, or over processes of this machine, by the loop's own task code.

    spread.py label --out labels --games 10000 --cluster auto -- --engine stockfish --nodes 4000
    spread.py analyse games.pgn --out annotated --cluster auto -- --nodes 800
    spread.py match --out match --games 1000 -- --player1.weights=new.onnx --player2.weights=old.onnx --nodes=100
    spread.py spsa --out tuning --iterations 100 --games 40 --tune cpuct=1.75:0.2 fpu-value=0.33:0.05 -- --weights=net.onnx --nodes=100

The words after `--` are flags of the engine's command. The same command resumes; finished parts are not repeated.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import threading
from pathlib import Path

from sardonyx_train.config import ConfigError
from sardonyx_train.loop.loop_config import parse_loop_config
from sardonyx_train.loop.loop_files import LoopError, Stopped
from sardonyx_train.loop.spread_tasks import Work, analyse, label, match, open_work
from sardonyx_train.loop.spsa import Parameter, tune

_STOPPED_STATUS = 130


def main(arguments: list[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    cut = given.index("--") if "--" in given else len(given)
    options = _create_parser().parse_args(given[:cut])
    flags = given[cut + 1 :]
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    cluster = None if options.cluster is None else {"address": options.cluster, "cpus": options.cpus, "gpus": options.gpus}
    try:
        config = parse_loop_config({"local": {"tasks": options.tasks}, "cluster": cluster, "engine": options.engine})
        with open_work(config, options.out, options.minutes, stop.is_set) as work:
            print(json.dumps(_do(options, work, flags), indent=1))
    except Stopped:
        print("spread: stopped; the same command resumes it", file=sys.stderr)
        return _STOPPED_STATUS
    except (ConfigError, LoopError, OSError, ValueError) as error:
        print(f"spread: {error}", file=sys.stderr)
        return 1
    return 0


def _do(options: argparse.Namespace, work: Work, flags: list[str]) -> object:
    if options.command == "label":
        return label(work, options.games, options.games_per_task, options.seed, flags)
    if options.command == "analyse":
        return analyse(work, options.pgn, options.games_per_task, flags)
    if options.command == "match":
        return match(work, options.games, options.games_per_task, options.seed, flags)
    parameters = [Parameter.parse(text) for text in options.tune]
    return tune(work, parameters, options.iterations, options.games, options.seed, flags)


def _create_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description="Spread labelling, analysis, matches and tuning over many machines.")
    commands = parser.add_subparsers(dest="command", required=True)
    label_games = commands.add_parser("label", help="games of an engine with its scores, for training")
    analyse_games = commands.add_parser("analyse", help="the games of a PGN file, annotated")
    play = commands.add_parser("match", help="games between two players")
    spsa = commands.add_parser("spsa", help="tune search options by SPSA, with matches of the engine against itself")
    analyse_games.add_argument("pgn", type=Path, nargs="+")
    spsa.add_argument("--tune", nargs="+", required=True, metavar="FLAG=START:STEP", help="flags of the engine to tune")
    spsa.add_argument("--iterations", type=int, default=100)
    for command, games, per_task in ((label_games, 1000, 50), (analyse_games, None, 20), (play, 100, 20), (spsa, 40, None)):
        command.add_argument("--out", type=Path, required=True, help="folder for the results")
        command.add_argument("--cluster", metavar="ADDRESS", help="Ray cluster to use, HOST:6379 or auto; without it, this machine")
        command.add_argument("--cpus", type=float, default=1, help="CPU cores that a task reserves on the cluster")
        command.add_argument("--gpus", type=float, default=0, help="GPUs that a task reserves on the cluster")
        command.add_argument("--tasks", type=int, default=1, help="number of tasks at a time on this machine")
        command.add_argument("--minutes", type=float, default=600, help="time limit of a task")
        command.add_argument("--engine", nargs="+", help="the engine's command; found beside this script or on PATH")
        if games is not None:
            command.add_argument("--games", type=int, default=games, help="number of games in all, or in each iteration of spsa")
            command.add_argument("--seed", type=int, default=1)
        if per_task is not None:
            command.add_argument("--games-per-task", type=int, default=per_task)
    return parser


if __name__ == "__main__":
    sys.exit(main())
