#!/usr/bin/env python3
"""Makes a checkpoint of an ONNX network, to train it further:

    recover.py models/default.onnx --config scripts/train/configs/sardonyx-sight-96x6.yaml --out runs/default.pt

The ONNX file must come from export.py in single precision. The checkpoint holds only weights: start a run with them by
`run.start_from`.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import onnx
from google.protobuf.message import DecodeError

from export import Positions
from sardonyx_train.checkpoint import write_weights
from sardonyx_train.config import ConfigError, load_config
from sardonyx_train.data.batch import expand_planes
from sardonyx_train.data.shards import ShardError
from sardonyx_train.export.recover import recover
from sardonyx_train.export.verify import verify
from sardonyx_train.model.unfold import unfold_norms

_CHECKED = 1024  # positions on which checkpoint and file are compared


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make a checkpoint of an exported network, so that training can go on from it.")
    parser.add_argument("network", type=Path, help="ONNX file that export.py or bundle.py wrote in single precision")
    parser.add_argument("--config", type=Path, required=True, help="training configuration with the network's section model")
    parser.add_argument("--set", action="append", default=[], metavar="section.key=value", help="override one key")
    parser.add_argument("--out", type=Path, required=True, help="checkpoint to write")
    parser.add_argument("--shards", nargs="*", help="positions to measure norms on; default: the configuration's training shards")
    parser.add_argument("--positions", type=int, default=6144, help="number of positions (default 6,144)")
    options = parser.parse_args(arguments)
    try:
        config = load_config(options.config, options.set)
        model = onnx.load(options.network)
        folded = recover(model, config.model)
        positions = Positions(options.shards or config.data.train, config, options.positions, "measuring")
        planes = (expand_planes(batch.masks, batch.values, positions.value_planes) for batch in positions)
        network = unfold_norms(folded, config.model, planes)
        checked = Positions(options.shards or config.data.train, config, _CHECKED, "comparing")
        print(verify(model, network, checked, checked.value_planes).format())
        options.out.parent.mkdir(parents=True, exist_ok=True)
        write_weights(options.out, config.model_dump(), network.state_dict())
    except (ConfigError, ShardError, DecodeError, ValueError, OSError) as error:
        print(f"recover: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: start a run with it by --set run.start_from={options.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
