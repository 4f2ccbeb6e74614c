"""Stands in for train and export in tests of the loop: resumable steps, deterministic "weights", no torch."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
from pathlib import Path

STEP_SECONDS = 0.02


def train(arguments: list[str]) -> None:
    config = json.loads(Path(arguments[0]).read_text())
    out, steps = Path(config["out"]), config["steps"]
    last = out / "last.pt"
    state = json.loads(last.read_text()) if last.exists() else {"step": 0, "weights": config["start"]}
    history = out / "history.jsonl"
    rows = [json.loads(line) for line in history.read_text().splitlines()] if history.exists() else []
    history.write_text("".join(json.dumps(row) + "\n" for row in rows if row["step"] <= state["step"]))
    while state["step"] < steps:
        time.sleep(STEP_SECONDS)
        state["step"] += 1
        text = json.dumps([state["weights"], config["data"], state["step"]])
        state["weights"] = hashlib.sha256(text.encode()).hexdigest()
        row = {"kind": "train", "step": state["step"], "policy": 8 / state["step"], "value": 1 / state["step"]}
        with history.open("a") as file:
            file.write(json.dumps(row) + "\n")
        if state["step"] % 4 == 0 or state["step"] == steps:
            write(last, json.dumps(state))


def export(arguments: list[str]) -> None:
    weights, out = map(Path, arguments)
    write(out, f"network of {weights.read_text()}")


def write(path: Path, text: str) -> None:
    part = path.with_name(f"{path.name}.{os.getpid()}")
    part.write_text(text)
    part.rename(path)


if __name__ == "__main__":
    {"train": train, "export": export}[sys.argv[1]](sys.argv[2:])
