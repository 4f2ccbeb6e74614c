#!/usr/bin/env python3
"""Measures how many positions a second the loader delivers: `bench_loader.py runs/shards/train --workers 2`.

With `--memory-every 1000000` it also prints its memory after every million positions. `--copies 100` reads every file 100 times, to
measure more positions than there are. `--replies` also reads the targets of `loss.reply_policy`.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import sys
import time
from itertools import islice

from sardonyx_train.config import TargetConfig
from sardonyx_train.data.batch import BatchMaker
from sardonyx_train.data.shards import ShardError, find_shards, read_common_format
from sardonyx_train.data.stream import ShardStream, create_loader
from sardonyx_train.loop.usage import read_memory_bytes


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure the shard loader (packed minibatches, no network).")
    parser.add_argument("shards", nargs="+")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--batch-size", type=int, default=1024)
    parser.add_argument("--positions", type=int, default=1_000_000)
    parser.add_argument("--shuffle-batches", type=int, default=12)
    parser.add_argument("--copies", type=int, default=1)
    parser.add_argument("--replies", action="store_true")
    parser.add_argument("--memory-every", type=int, default=0, metavar="POSITIONS")
    options = parser.parse_args(arguments)
    try:
        report_memory("begun", options.memory_every)
        files = find_shards(options.shards) * options.copies
        maker = BatchMaker(read_common_format(files), TargetConfig(), mirror=False, with_replies=options.replies)
        stream = ShardStream(files, maker, options.batch_size, options.shuffle_batches, seed=1)
        report_memory(f"{len(files):,} files of {stream.positions:,} positions listed", options.memory_every)
        batches = iter(create_loader(stream, options.workers, pin=False))
        next(batches)
        started = time.perf_counter()
        count = reported = 0
        for batch in islice(batches, max(1, options.positions // options.batch_size)):
            count += batch.size
            if options.memory_every > 0 and count >= reported + options.memory_every:
                reported = count
                report_memory(f"{count:,} positions delivered", options.memory_every)
    except (ShardError, ValueError) as error:
        print(f"bench_loader: {error}", file=sys.stderr)
        return 1
    seconds = time.perf_counter() - started
    print(json.dumps({"positions": count, "seconds": round(seconds, 3), "positionsPerSecond": round(count / seconds)}))
    return 0


def report_memory(moment: str, every: int) -> None:
    """Memory of this process and the loader's processes in megabytes, without shards that the system caches."""
    if every == 0:
        return
    pids = [os.getpid(), *(child.pid for child in multiprocessing.active_children())]
    megabytes = sum(read_memory_bytes(pid) for pid in pids) / 1e6
    print(json.dumps({"moment": moment, "processes": len(pids), "megabytes": round(megabytes, 1)}), flush=True)


if __name__ == "__main__":
    sys.exit(main())
