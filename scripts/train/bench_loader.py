#!/usr/bin/env python3
"""Measures how many positions a second the loader delivers: `bench_loader.py runs/shards/train --workers 2`."""

from __future__ import annotations

import argparse
import json
import sys
import time
from itertools import islice

from sardonyx_train.config import TargetConfig
from sardonyx_train.data.batch import BatchMaker
from sardonyx_train.data.shards import ShardError, find_shards, read_common_format
from sardonyx_train.data.stream import ShardStream, create_loader


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the shard loader (packed minibatches, no network).")
    parser.add_argument("shards", nargs="+")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--positions", type=int, default=1_000_000)
    parser.add_argument("--shuffle-batches", type=int, default=12)
    options = parser.parse_args(arguments)
    try:
        files = find_shards(options.shards)
        maker = BatchMaker(read_common_format(files), TargetConfig(), mirror=False)
        stream = ShardStream(files, maker, options.batch_size, options.shuffle_batches, seed=1)
        batches = iter(create_loader(stream, options.workers, pin=False))
        next(batches)
        started = time.perf_counter()
        count = sum(batch.size for batch in islice(batches, max(1, options.positions // options.batch_size)))
    except (ShardError, ValueError) as error:
        print(f"bench_loader: {error}", file=sys.stderr)
        return 1
    seconds = time.perf_counter() - started
    print(json.dumps({"positions": count, "seconds": round(seconds, 3), "positionsPerSecond": round(count / seconds)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
