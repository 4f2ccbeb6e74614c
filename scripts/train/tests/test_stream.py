from itertools import islice

import pytest
import torch
from sardonyx_train.config import TargetConfig
from sardonyx_train.data.batch import BatchMaker
from sardonyx_train.data.shards import ShardError, find_shards, read_common_format
from sardonyx_train.data.stream import ShardStream, create_loader, read_sequentially


def _stream(folder, size=32, group=1, seed=5, rank=0, ranks=1, skip=0, mirror=False):
    files = find_shards([str(folder)])
    maker = BatchMaker(read_common_format(files), TargetConfig(), mirror)
    return ShardStream(files, maker, size, group, seed, rank, ranks, skip)


def _keys(batches):
    return [tuple(sorted(row.numpy().tobytes() for row in batch.masks)) for batch in batches]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("skip", [1, 5, 14])
def test_a_resumed_stream_goes_on_with_the_very_next_minibatch(shard_folder, workers, skip):
    whole = _keys(islice(create_loader(_stream(shard_folder, mirror=True), workers, pin=False), 20))
    resumed = _keys(islice(create_loader(_stream(shard_folder, skip=skip, mirror=True), workers, pin=False), 20 - skip))
    assert resumed == whole[skip:]


def test_one_pass_shows_every_position_once_and_the_next_pass_in_another_order(shard_folder):
    batches = list(islice(_stream(shard_folder, group=4), 24))
    first = [row for keys in _keys(batches[:12]) for row in keys]
    second = [row for keys in _keys(batches[12:]) for row in keys]
    assert len(first) == 2 * 2 * 96
    assert sorted(first) == sorted(second) and first != second


def test_ranks_share_the_record_batches_without_overlap(shard_folder):
    parts = [{b for keys in _keys(islice(_stream(shard_folder, rank=r, ranks=2), 6)) for b in keys} for r in (0, 1)]
    whole = {b for keys in _keys(islice(_stream(shard_folder, group=4), 12)) for b in keys}
    assert parts[0] | parts[1] == whole


def test_too_little_data_for_the_minibatch_is_said(shard_folder):
    with pytest.raises(ShardError, match="too little data"):
        next(iter(_stream(shard_folder, size=500)))


def test_sequential_reading_covers_all_or_an_even_share(shard_folder):
    files = find_shards([str(shard_folder)])
    maker = BatchMaker(read_common_format(files), TargetConfig(), False)
    assert sum(b.size for b in read_sequentially(files, maker, 50, 10_000)) == 384
    assert sum(b.size for b in read_sequentially(files, maker, 50, 40)) == 40


def test_sequential_reading_fills_minibatches_across_record_batches_in_order(shard_folder):
    files = find_shards([str(shard_folder)])
    maker = BatchMaker(read_common_format(files), TargetConfig(), False)
    whole = list(read_sequentially(files, maker, 96, 384))
    across = list(read_sequentially(files, maker, 70, 384))
    assert [batch.size for batch in across] == [70, 70, 70, 70, 70, 34]
    for name in ("masks", "values", "wdl", "best_move"):
        parts = [torch.cat([getattr(batch, name) for batch in batches]) for batches in (whole, across)]
        assert torch.equal(*parts), name
    moves = [torch.cat([batch.legal % 1858 for batch in batches]) for batches in (whole, across)]
    assert torch.equal(*moves)


@pytest.mark.parametrize("workers", [0, 3])
def test_few_record_batches_are_cut_so_that_every_process_has_its_share(shard_folder, workers):
    streams = 3 * max(1, workers)
    size = 384 // streams
    parts = []
    for rank in range(3):
        loader = create_loader(_stream(shard_folder, size=size, group=64, rank=rank, ranks=3), workers, pin=False)
        parts.extend(_keys(islice(loader, max(1, workers))))
    rows = [row for keys in parts for row in keys]
    whole = [row for keys in _keys(islice(_stream(shard_folder, group=4), 12)) for row in keys]
    assert len(rows) == streams * size and not set(rows) - set(whole)
    assert max(rows.count(row) - whole.count(row) for row in set(rows)) == 0


def test_a_pass_without_a_minibatch_is_an_error_and_no_endless_search(shard_folder):
    with pytest.raises(ShardError, match="no 1 record batches .data.shuffle_batches. hold a minibatch of 128"):
        next(iter(_stream(shard_folder, size=128, group=1)))
