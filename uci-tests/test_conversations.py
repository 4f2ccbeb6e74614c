"""Seeded random conversations, judged by python-chess: every `go` gets one legal bestmove, no search goes beyond its limit,
lines are legal, and a fresh process gives the same scores. pytest runs a few; by hand as many as you like:

    python uci-tests/test_conversations.py --count 10000 --seed 1 [--syzygy FOLDER] [-- ENGINE COMMAND]
"""

import argparse
import os
import pathlib
import queue
import random
import re
import shutil
import subprocess
import threading
import time

import pytest

import chess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "dist" / "cli" / "main.js"
NODE = shutil.which("node")
COMMAND = [str(NODE), str(PROGRAM), "--threads=1", "--backend=hash", "--config="]
SYZYGY = os.environ.get("SARDONYX_SYZYGY", "")
# Far beyond what a busy machine needs: a search that lasts so long does not end.
TIMEOUT_S = 240
# Conversations with one process before the next is started.
PROCESS_LENGTH = 40

DEFAULTS = {
    "SearchAlgorithm": "tree",
    "MultiPV": "1",
    "UCI_Chess960": "false",
    "UCI_AnalyseMode": "false",
    "UCI_ShowWDL": "false",
    "UCI_ShowMovesLeft": "false",
    "PolicyTemperature": "1.359",
    "HistoryFill": "fen_only",
    "TwoFoldDraws": "true",
    "StickyEndgames": "true",
    "MinibatchSize": "0",
    "Contempt": "",
    "WDLCalibrationElo": "0",
    "ContemptMode": "play",
    "DrawScore": "0",
    "MateSearch": "true",
    "SmartPruningFactor": "1.33",
    "NodesAsPlayouts": "false",
    "SyzygyPath": "",
    "Skill Level": "20",
}
CHOICES = {
    "MultiPV": ["2", "3", "5", "40"],
    "UCI_AnalyseMode": ["true"],
    "UCI_ShowWDL": ["true"],
    "UCI_ShowMovesLeft": ["true"],
    "PolicyTemperature": ["1", "2.5"],
    "HistoryFill": ["no", "always"],
    "TwoFoldDraws": ["false"],
    "StickyEndgames": ["false"],
    "MinibatchSize": ["1", "3", "32"],
    "Contempt": ["200", "-80"],
    "WDLCalibrationElo": ["2200"],
    "ContemptMode": ["disable", "white_side_analysis", "black_side_analysis"],
    "DrawScore": ["-0.3"],
    "MateSearch": ["false"],
    "SmartPruningFactor": ["0"],
    "NodesAsPlayouts": ["true"],
}
FENS = [
    "8/8/8/8/3k4/8/3p4/3K4 w - - 0 1",
    "8/8/8/4k3/8/4K3/8/8 w - - 0 1",
    "8/8/4k3/8/8/3BK3/8/8 b - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "R5k1/5ppp/8/8/8/8/8/6K1 b - - 0 1",
    "6k1/5ppp/8/8/8/8/5PPP/R5K1 w - - 0 1",
    "7k/8/5K2/8/8/8/8/R7 w - - 0 1",
    "8/8/8/1k6/8/8/1K1P4/8 w - - 0 1",
    "8/2k5/8/8/8/1p6/8/1K6 w - - 98 120",
    "4k3/8/8/8/8/8/8/R3K2R w KQ - 97 90",
    "8/p1p1p1p1/P1P1P1P1/8/8/1p1p1p1p/1P1P1P1P/k6K w - - 0 1",
    "k7/8/8/p1p1p1p1/P1P1P1P1/8/8/7K w - - 0 1",
    "8/8/8/8/8/5k2/6p1/6K1 w - - 0 1",
    "7k/6pp/8/8/8/8/1q6/K7 w - - 0 1",
    "5k2/8/8/8/8/8/1r6/K7 w - - 0 1",
    "r3k2r/pppq1ppp/2npbn2/2b1p3/2B1P3/2NPBN2/PPPQ1PPP/R3K2R w KQkq - 4 8",
    "8/8/8/8/8/8/6k1/4K2R w K - 0 1",
]


class Engine:
    def __init__(self, command):
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()
        self.command = command

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line.rstrip("\n"))
        self.lines.put(None)

    def send(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def until(self, *starts):
        """All lines up to the first that begins with one of these words."""
        told = []
        deadline = time.monotonic() + TIMEOUT_S
        while True:
            try:
                line = self.lines.get(timeout=max(0.001, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"no {starts} within {TIMEOUT_S} s; the last line: {told[-1:]}") from None
            assert line is not None, f"the process ended with status {self.process.wait()}"
            told.append(line)
            if line.startswith(starts):
                return told

    def close(self):
        if self.process.poll() is None:
            self.send("quit")
        status = self.process.wait(timeout=60)
        assert status == 0, f"status {status}"


def draw_board(rng):
    kind = rng.randrange(6)
    if kind == 0:
        board = chess.Board(rng.choice(FENS))
    elif kind == 1:
        board = chess.Board.from_chess960_pos(rng.randrange(960))
    elif kind == 2:
        while True:  # few pieces, so that tables, dead draws and repetitions are near
            board = chess.Board(None)
            squares = rng.sample(range(64), rng.randint(3, 5))
            pieces = [chess.Piece(chess.KING, True), chess.Piece(chess.KING, False)]
            pieces += [chess.Piece(rng.choice([1, 1, 2, 3, 4, 5]), rng.random() < 0.5) for _ in squares[2:]]
            for square, piece in zip(squares, pieces):
                board.set_piece_at(square, piece)
            board.turn = rng.random() < 0.5
            board.halfmove_clock = rng.choice([0, 0, 30, 96, 99])
            board.fullmove_number = 100
            if board.is_valid():
                break
    else:
        board = chess.Board()
    start = board.copy()
    for _ in range(rng.choice([0, 0, 1, 2, 8, 30, 80])):
        moves = list(board.legal_moves)
        if not moves:
            break
        board.push(rng.choice(moves))
    if rng.random() < 0.2:  # shuffle back and forth
        for _ in range(rng.randint(1, 3)):
            quiet = [m for m in board.legal_moves if not board.is_zeroing(m) and not board.is_castling(m)]
            if len(quiet) == 0 or len(board.move_stack) > 90:
                break
            move = rng.choice(quiet)
            board.push(move)
            replies = [m for m in board.legal_moves if not board.is_zeroing(m) and not board.is_castling(m)]
            if not replies:
                break
            reply = rng.choice(replies)
            board.push(reply)
            for back in (move, reply):
                undo = chess.Move(back.to_square, back.from_square)
                if undo in board.legal_moves:
                    board.push(undo)
    return start, board


def draw_go(rng, board, is_timeless):
    """The words of a go; its limits; the moves that it may answer; how it is ended."""
    words, limits = [], {}
    kinds = ["nodes", "nodes", "nodes", "depth"] + ([] if is_timeless else ["movetime", "clock", "mate", "infinite", "ponder"])
    kind = rng.choice(kinds)
    end = "itself"
    if kind in ("nodes", "depth") and rng.random() < 0.15:
        kind = "both"
    if kind in ("nodes", "both"):
        limits["nodes"] = rng.choice([1, 2, 3, 10, 50, 200, 700])
    if kind in ("depth", "both"):
        limits["depth"] = rng.choice([1, 2, 3, 4])
    if kind == "movetime":
        limits["movetime"] = rng.choice([0, 1, 10, 60])
    if kind == "mate":
        limits["mate"] = rng.choice([1, 2])
    if kind in ("clock", "ponder"):
        ms = rng.choice([-20, 0, 1, 50, 700])
        words += ["wtime", str(ms), "btime", str(rng.choice([ms, 5, 1000]))]
        if rng.random() < 0.5:
            words += ["winc", "10", "binc", "10"]
        if rng.random() < 0.3:
            words += ["movestogo", str(rng.choice([0, 1, 30]))]
    if kind == "infinite":
        words.append(rng.choice(["infinite", ""]))
        end = "stop"
    if kind == "ponder":
        words.append("ponder")
        end = rng.choice(["stop", "ponderhit"])
    for name, value in limits.items():
        words += [name, str(value)]
    if end == "itself" and not is_timeless and rng.random() < 0.2:
        end = rng.choice(["stop", "isready", "go"])
    if rng.random() < 0.1:
        words = rng.choice([["foo", *words], [*words, "wtime"], [*words, "bar", "7"]])
    legal = list(board.legal_moves)
    allowed = legal
    if rng.random() < 0.25 and legal:
        wanted = rng.sample(legal, rng.randint(1, min(4, len(legal))))
        words += ["searchmoves", *(board.uci(move, chess960=True) for move in wanted)]
        if rng.random() < 0.2:
            words.append("a1a8q")
        allowed = wanted
    return " ".join(["go", *words]), limits, allowed, end


def draw_conversation(seed):
    """Steps as (lines, what is checked): the same for the same seed."""
    rng = random.Random(seed)
    is_timeless = rng.random() < 0.6
    options = dict(DEFAULTS)
    options["SearchAlgorithm"] = rng.choice([*["tree", "graph"] * 8, "policyhead", "valuehead"])
    for name in rng.sample(sorted(CHOICES), rng.choice([0, 0, 1, 2, 4])):
        options[name] = rng.choice(CHOICES[name])
    if SYZYGY and rng.random() < 0.4:
        options["SyzygyPath"] = SYZYGY
    if rng.random() < 0.08:
        options["Skill Level"] = "4"  # draws its moves at random
        is_timeless = False
    start, board = draw_board(rng)
    is960 = rng.random() < 0.5
    options["UCI_Chess960"] = str(is960).lower()
    steps = []
    for _ in range(rng.randint(1, 5)):
        lines = []
        if rng.random() < 0.2:
            name = rng.choice(sorted(CHOICES))
            lines.append(f"setoption name {name} value {rng.choice([*CHOICES[name], DEFAULTS[name]])}")
        moves = [move.uci() for move in board.move_stack[len(start.move_stack) :]]
        fen = start.fen(en_passant="fen") if start.chess960 is False else start.shredder_fen(en_passant="fen")
        base = start.copy()
        spelled = []
        for move in board.move_stack:
            spelled.append(base.uci(move, chess960=is960 or base.chess960))
            base.push(move)
        at = "startpos" if start.fen() == chess.STARTING_FEN else f"fen {fen}"
        lines.append(f"position {at}" + (f" moves {' '.join(spelled)}" if moves else ""))
        go, limits, allowed, end = draw_go(rng, board, is_timeless)
        steps.append((lines, go, board.copy(), limits, allowed, end, rng.random() * 0.1))
        change = rng.randrange(4)
        if change == 0:
            start, board = draw_board(rng)
        elif change < 3:
            for _ in range(rng.choice([1, 2, 2])):
                replies = list(board.legal_moves)
                if replies:
                    board.push(rng.choice(replies))
    return options, steps, is_timeless


def read_info(line):
    words = line.split()
    found = {"pv": words[words.index("pv") + 1 :] if "pv" in words else []}
    for name in ("depth", "seldepth", "time", "nodes", "multipv"):
        if name in words:
            found[name] = int(words[words.index(name) + 1])
    return found


def check_answer(told, step, most_nodes, may_exceed):
    _lines, _go, board, limits, allowed, _end, _ = step
    bests = [line for line in told if line.startswith("bestmove")]
    assert len(bests) == 1, bests
    best = bests[0].split()[1]
    infos = [line for line in told if line.startswith("info ") and " score " in line]
    if board.legal_moves.count() == 0:
        assert best == "(none)", best
        return 0
    judge = board.copy()
    judge.chess960 = True
    move = judge.parse_uci(best)
    assert move in allowed or judge.uci(move) in [judge.uci(m) for m in allowed], f"{best} is not allowed"
    assert infos, "no info line with a score"
    for line in infos:
        info = read_info(line)
        path = judge.copy(stack=False)
        for text in info["pv"]:
            path.push(path.parse_uci(text))
    last = read_info(infos[-1])
    first_of_last = [line for line in infos if read_info(line).get("multipv", 1) == 1][-1]
    assert read_info(first_of_last)["pv"][0] == best, f"{best} is not the move of {first_of_last}"
    if "nodes" in limits and not may_exceed:
        assert last["nodes"] <= max(limits["nodes"], most_nodes), f"{last['nodes']} nodes"
    return last["nodes"]


def summarise(told):
    """The last lines of a search, without times. How many lines come before depends on the clock."""
    last = [line for line in told if " score " in line][-1:] + [line for line in told if line.startswith("bestmove")]
    return [re.sub(r" (time|nps|eps|hashfull) \d+", "", line) for line in last]


def hold(engine, seed):
    """Holds a conversation. @returns what was said, without times"""
    options, steps, _ = draw_conversation(seed)
    at = []
    try:
        return hold_steps(engine, options, steps, at)
    except Exception as error:
        raise AssertionError(f"seed {seed}: {options}\n" + "\n".join(at)) from error


def hold_steps(engine, options, steps, at):
    """@param at the steps so far are written here"""
    said = []
    engine.send("ucinewgame")
    for name, value in options.items():
        engine.send(f"setoption name {name} value {value}")
    most_nodes = 0
    # valuehead evaluates every move, whatever the limit, as lc0's does.
    may_exceed = options["NodesAsPlayouts"] == "true" or options["SearchAlgorithm"] == "valuehead"
    for step in steps:
        lines, go, _, _, _, end, pause = step
        at.append(f"{lines} {go} ({end})")
        for line in lines:
            engine.send(line)
            may_exceed = may_exceed or line.startswith("setoption name NodesAsPlayouts")
        engine.send("isready")
        engine.until("readyok")
        engine.send(go)
        told = []
        if end != "itself":
            time.sleep(pause)
            if end == "go":
                engine.send("go nodes 1")
                told = engine.until("bestmove")
                engine.until("bestmove")
            elif end == "isready":
                engine.send("isready")
                told = engine.until("readyok")
                if not any(line.startswith("bestmove") for line in told):
                    told += engine.until("bestmove")
            else:
                engine.send(end)
        if not any(line.startswith("bestmove") for line in told):
            told += engine.until("bestmove")
        at += told[-4:]
        most_nodes = max(most_nodes, check_answer(told, step, most_nodes, may_exceed))
        said.append(summarise(told))
    engine.send("stop")
    engine.send("isready")
    late = engine.until("readyok")
    assert not any(line.startswith("bestmove") for line in late), "two answers"
    return said


def hold_all(seeds, command, compare_each, report=lambda done: None):
    engine = None
    try:
        for number, seed in enumerate(seeds):
            if number % PROCESS_LENGTH == 0:
                if engine is not None:
                    engine.close()
                engine = Engine(command)
            said = hold(engine, seed)
            if number % compare_each == compare_each - 1 and draw_conversation(seed)[2]:
                fresh = Engine(command)
                again = hold(fresh, seed)
                fresh.close()
                assert again == said, f"seed {seed}: a fresh process says\n{again}\nand not\n{said}"
            report(number + 1)
        engine.close()
    finally:
        if engine is not None:
            engine.process.kill()


@pytest.mark.skipif(NODE is None or not PROGRAM.exists(), reason="the engine is not built")
def test_eighty_random_conversations():
    hold_all(range(1, 81), COMMAND, compare_each=20)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--syzygy", default=SYZYGY)
    parser.add_argument("--compare-each", type=int, default=10)
    parser.add_argument("command", nargs="*", default=COMMAND)
    given = parser.parse_args()
    SYZYGY = given.syzygy
    hold_all(
        range(given.seed, given.seed + given.count),
        given.command,
        given.compare_each,
        lambda done: done % 100 == 0 and print(f"{done} conversations", flush=True),
    )
