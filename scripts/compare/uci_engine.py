"""A UCI engine as a child process, for the comparisons beside this file. Needs only the standard library."""

from __future__ import annotations

import shlex
import subprocess


class UciEngine:
    def __init__(self, command: str, options: list[str]) -> None:
        """`options`: NAME=VALUE. Smart pruning is off unless they turn it on, so that all nodes asked for are searched."""
        self.process = subprocess.Popen(
            shlex.split(command), stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.send("uci")
        self.read_until("uciok")
        for option in ["SmartPruningFactor=0", *options]:
            name, _, value = option.partition("=")
            self.send(f"setoption name {name} value {value}")
        self.send("isready")
        self.read_until("readyok")

    def send(self, line: str) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def read_until(self, first_word: str) -> list[str]:
        assert self.process.stdout is not None
        lines = []
        for line in self.process.stdout:
            lines.append(line.rstrip("\n"))
            if line.split(" ", 1)[0].strip() == first_word:
                return lines
        raise RuntimeError(f"the engine ended before it said {first_word}")

    def search_lines(self, position: str, nodes: int, limits: str = "") -> list[str]:
        """What the engine says of a new game's `position` (a UCI argument, or a bare FEN), `bestmove` last."""
        self.send("ucinewgame")
        self.send(f"position {position if position.startswith(('startpos', 'fen ')) else 'fen ' + position}")
        self.send(f"go nodes {nodes} {limits}".rstrip())
        return self.read_until("bestmove")

    def quit(self) -> None:
        self.send("quit")
        self.process.wait(timeout=10)
