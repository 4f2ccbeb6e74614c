#!/usr/bin/env python3
"""Maps of what decides policy and value: `explain.py runs/sardonyx-64x6/last.pt --shard runs/shards/test/0.arrow --row 7`.

A position comes from a shard row, or with `--packed FILE` as JSON from the engine: `{"masks": ["0x…", …], "values": [[plane,
value], …], "legal": [policy index, …]}`, one 64-bit mask a plane.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import torch

from sardonyx_train.checkpoint import CheckpointError, read_checkpoint
from sardonyx_train.data.planes import expand_planes
from sardonyx_train.data.shards import ShardError, open_shard, read_columns, read_format, read_info
from sardonyx_train.encodings import POLICY_SIZES, get_input_encoding
from sardonyx_train.explain import explain, plot_explanation
from sardonyx_train.export.graph import build_network


def read_row(path: Path, row: int) -> tuple[torch.Tensor, torch.Tensor]:
    """(planes [1, P, 8, 8], legal policy indices) of one row of a shard."""
    form = read_format(path)
    for batch, rows in enumerate(read_info(path).rows):
        if row < rows:
            columns = read_columns(open_shard(path), batch)
            masks = torch.from_numpy(columns.masks[row].copy()).reshape(1, -1, 8)
            values = torch.from_numpy(columns.values[row : row + 1].copy())
            legal = columns.legal.take(np.array([row]))[0].astype(np.int64)
            return expand_planes(masks, values, torch.tensor(form.value_planes)), torch.from_numpy(legal)
        row -= rows
    raise ShardError(f"{path}: has no such row")


def read_packed(text: str, planes: int, policy_size: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Raises ValueError that says what is wrong with the JSON."""
    try:
        raw = json.loads(text)
        masks = np.array([int(m, 16) for m in raw["masks"]], "<u8").view(np.uint8).reshape(1, -1, 8)
        pairs = [(int(plane), float(value)) for plane, value in raw["values"]]
        legal = torch.tensor([int(i) for i in raw["legal"]], dtype=torch.int64)
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"the packed position is malformed ({error})") from None
    if masks.shape[1] != planes or len(legal) == 0 or int(legal.max()) >= policy_size:
        raise ValueError(f"the packed position needs {planes} masks and legal moves below {policy_size}")
    values = torch.tensor([[value for _, value in pairs]]).reshape(1, -1)
    return expand_planes(torch.from_numpy(masks.copy()), values, torch.tensor([p for p, _ in pairs], dtype=torch.int64)), legal


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draw which squares decide a network's policy and value.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--shard", type=Path, help="Arrow shard that holds the position")
    parser.add_argument("--row", type=int, default=0, help="its row in the shard (default 0)")
    parser.add_argument("--packed", type=Path, help="JSON file with the position, - for stdin")
    parser.add_argument("--move", type=int, help="policy index of the move to explain; default: the best one")
    parser.add_argument("--out", type=Path, default=Path("explanation.png"), help="PNG to write")
    options = parser.parse_args(arguments)
    if (options.shard is None) == (options.packed is None):
        parser.error("give either --shard or --packed")
    try:
        network, config = build_network(read_checkpoint(options.checkpoint))
        if options.shard is not None:
            planes, legal = read_row(options.shard, options.row)
        else:
            text = sys.stdin.read() if str(options.packed) == "-" else options.packed.read_text(encoding="utf-8")
            planes, legal = read_packed(text, get_input_encoding(config.model.input).planes, POLICY_SIZES[config.model.policy])
        explanation = explain(network, planes, legal, options.move)
        title = (
            f"{config.run.name}: policy index {explanation.move_index}, probability "
            f"{explanation.move_probability:.1%}, W − L {explanation.expected_value:+.3f}"
        )
        plot_explanation(explanation, planes, title, options.out)
    except (CheckpointError, ShardError, ValueError, OSError) as error:
        print(f"explain: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: {title}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
