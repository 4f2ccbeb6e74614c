#!/usr/bin/env python3
"""Averages the weights of runs that began from the same checkpoint:

    average.py runs/a/last.pt runs/b/last.pt --out runs/average.pt

Two short runs with other seeds, or on other data, often make a better network together than either does alone (Wortsman et al. 2022,
"Model soups"). Runs with different beginnings do not. Judge the result by assess.py and by a match. The checkpoint holds only weights:
export it with export.py, or train on with `run.start_from`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import torch

from sardonyx_train.checkpoint import CheckpointError, read_checkpoint, write_weights

Weights = dict[str, torch.Tensor]


def average(parts: list[Weights]) -> Weights:
    """The mean of each tensor; counts, such as those of steps, are the first network's. Raises ValueError if names or shapes differ."""
    first = parts[0]
    shapes = {name: tensor.shape for name, tensor in first.items()}
    for other in parts[1:]:
        if {name: tensor.shape for name, tensor in other.items()} != shapes:
            raise ValueError("the checkpoints hold networks of different shapes")
    return {
        name: torch.stack([part[name].double() for part in parts]).mean(0).to(tensor.dtype) if tensor.is_floating_point() else tensor
        for name, tensor in first.items()
    }


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Average the weights of several checkpoints of the same network.")
    parser.add_argument("checkpoints", type=Path, nargs="+", help="last.pt or best.pt of each run")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint to write, with the configuration of the first")
    options = parser.parse_args(arguments)
    try:
        states = [read_checkpoint(path) for path in options.checkpoints]
        weights = average([state["average"] for state in states])
        options.out.parent.mkdir(parents=True, exist_ok=True)
        write_weights(options.out, states[0]["config"], weights)
    except (CheckpointError, ValueError, OSError) as error:
        print(f"average: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: the mean of {len(states)} checkpoints")
    return 0


if __name__ == "__main__":
    sys.exit(main())
