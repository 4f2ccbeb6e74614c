#!/usr/bin/env python3
"""Plays games on a clock between two UCI engines through python-chess, as a bot does, and counts what goes wrong.

Each engine is told its remaining time; a move that takes longer loses on time. Illegal moves and crashes lose the game,
as does silence for longer than clock and PATIENCE_SECONDS, and the engine is started anew; they, time losses and protocol
warnings of python-chess are counted. Needs `pip install chess`.

    scripts/compare/clock_games.py --a "node dist/cli/main.js" --b stockfish --games 40 --seconds 1 --increment 0.01
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import logging
import random
import shlex
import sys
import threading
import time

import chess
import chess.engine

PATIENCE_SECONDS = 30.0


class WarningCounter(logging.Handler):
    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.messages: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.messages.append(record.getMessage())


def play(engines: list[chess.engine.SimpleEngine], number: int, seconds: float, increment: float) -> tuple[str, int]:
    """One game from four random plies. Returns how it ended and the number of the winning engine (-1: a draw)."""
    board = chess.Board()
    opening = random.Random(number // 2)
    for _ in range(4):
        board.push(opening.choice(list(board.legal_moves)))
    white = number % 2
    clocks = {chess.WHITE: seconds, chess.BLACK: seconds}
    while not board.is_game_over(claim_draw=True):
        mover = white if board.turn == chess.WHITE else 1 - white
        limit = chess.engine.Limit(
            white_clock=clocks[chess.WHITE], black_clock=clocks[chess.BLACK], white_inc=increment, black_inc=increment
        )
        start = time.perf_counter()
        watchdog = threading.Timer(clocks[board.turn] + PATIENCE_SECONDS, engines[mover].close)
        watchdog.start()
        try:
            result = engines[mover].play(board, limit, game=number)
        except chess.engine.EngineTerminatedError:
            return f"engine {'AB'[mover]} {'crashed' if watchdog.is_alive() else 'hung'}", 1 - mover
        except chess.engine.EngineError as error:
            print(f"\nengine {'AB'[mover]}: {error}", file=sys.stderr)
            return f"engine {'AB'[mover]} made an illegal move or broke the protocol", 1 - mover
        finally:
            watchdog.cancel()
        clocks[board.turn] -= time.perf_counter() - start
        if clocks[board.turn] < 0:
            return f"engine {'AB'[mover]} lost on time", 1 - mover
        clocks[board.turn] += increment
        if result.move is None:
            return f"engine {'AB'[mover]} gave no move", 1 - mover
        board.push(result.move)
    outcome = board.outcome(claim_draw=True)
    assert outcome is not None
    if outcome.winner is None:
        return outcome.termination.name.lower(), -1
    return outcome.termination.name.lower(), white if outcome.winner == chess.WHITE else 1 - white


def start(command: str, options: list[str]) -> chess.engine.SimpleEngine:
    """`options`: NAME=VALUE."""
    engine = chess.engine.SimpleEngine.popen_uci(shlex.split(command), timeout=PATIENCE_SECONDS)
    engine.configure(dict(option.split("=", 1) for option in options))
    return engine


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--a", required=True, help="command line of the first engine")
    parser.add_argument("--b", required=True, help="command line of the second engine")
    parser.add_argument("--a-option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--b-option", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--games", type=int, default=40)
    parser.add_argument("--seconds", type=float, default=1.0)
    parser.add_argument("--increment", type=float, default=0.01)
    arguments = parser.parse_args()

    warnings = WarningCounter()
    logging.getLogger("chess.engine").addHandler(warnings)
    players = ((arguments.a, arguments.a_option), (arguments.b, arguments.b_option))
    engines = [start(command, options) for command, options in players]
    endings: collections.Counter[str] = collections.Counter()
    points = [0.0, 0.0]
    for number in range(arguments.games):
        ending, winner = play(engines, number, arguments.seconds, arguments.increment)
        endings[ending] += 1
        for player, name in enumerate("AB"):
            if ending.startswith(tuple(f"engine {name} {fault}" for fault in ("crashed", "hung", "made"))):
                engines[player].close()
                engines[player] = start(*players[player])
        for player in range(2):
            points[player] += 0.5 if winner < 0 else float(winner == player)
        print(f"\r{number + 1}/{arguments.games} {points[0]}-{points[1]}", end="", file=sys.stderr, flush=True)
    print(file=sys.stderr)
    for engine in engines:
        with contextlib.suppress(TimeoutError, chess.engine.EngineError):
            engine.quit()
        engine.close()
    print(f"A {points[0]} - {points[1]} B")
    for ending, count in endings.most_common():
        print(f"{count:4} {ending}")
    print(f"{len(warnings.messages)} protocol warnings")
    for message in warnings.messages[:10]:
        print(f"  {message}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
