#!/usr/bin/env python3
"""Checkpoint → ONNX: `export.py runs/sardonyx-64x6/last.pt --out models/default.onnx --shards runs/shards/test`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import onnx
import torch

from sardonyx_train.checkpoint import CheckpointError, read_checkpoint
from sardonyx_train.data.batch import BatchMaker
from sardonyx_train.data.shards import ShardError, find_shards, read_common_format
from sardonyx_train.data.stream import read_sequentially
from sardonyx_train.export.graph import ModelCard, build_network, create_onnx
from sardonyx_train.export.verify import verify


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Export a checkpoint's averaged network to ONNX and verify it.")
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--out", type=Path, required=True, help="ONNX file to write")
    parser.add_argument("--name", help="name inside the file; default: the run's")
    parser.add_argument("--training", help="one line on data and recipe; default: from the checkpoint")
    parser.add_argument("--shards", nargs="*", default=[], help="held-out shards to verify on")
    parser.add_argument("--positions", type=int, default=10_000, help="positions to verify on (default 10,000)")
    options = parser.parse_args(arguments)
    try:
        state = read_checkpoint(options.checkpoint)
        network, config = build_network(state)
        progress = state["progress"]
        training = options.training or f"{progress['positions']:,} positions in {progress['step']:,} steps"
        card = ModelCard(options.name or config.run.name, config.run.licence, training)
        model = create_onnx(network, config.model, card)
        if options.shards:
            files = find_shards(options.shards)
            form = read_common_format(files)
            batches = read_sequentially(files, BatchMaker(form, config.targets, False), 256, options.positions)
            print(verify(model, network, batches, torch.tensor(form.value_planes, dtype=torch.int64)).format())
        onnx.save(model, options.out)
    except (CheckpointError, ShardError, ValueError) as error:
        print(f"export: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: {options.out.stat().st_size:,} bytes")
    return 0


if __name__ == "__main__":
    sys.exit(main())
