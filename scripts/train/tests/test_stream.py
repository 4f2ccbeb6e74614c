from collections import Counter
from dataclasses import replace
from itertools import islice

import numpy as np
import pyarrow as pa
import pytest
import torch
from sardonyx_train.base.errors import TrainError
from sardonyx_train.config.training_config import DataConfig, TargetConfig
from sardonyx_train.data.batch import BatchMaker
from sardonyx_train.data.shards import Piece, find_shards, open_shard, read_common_format
from sardonyx_train.data.stream import ShardStream, create_loader, load_group, read_sequentially


def _stream(folder, size=32, group=1, seed=5, rank=0, ranks=1, skip=0, mirror=False, **keys):
    files = find_shards([str(folder)])
    targets = TargetConfig(wdl_offset_cp=0, wdl_scale_cp=30)  # decided from 138 centipawns on: a third of the positions
    maker = BatchMaker(read_common_format(files), targets, mirror)
    return ShardStream(files, maker, DataConfig(batch_size=size, shuffle_batches=group, **keys), seed, rank, ranks, skip)


def _keys(batches):
    return [tuple(sorted(row.numpy().tobytes() for row in batch.masks)) for batch in batches]


@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("skip", [1, 5, 14])
def test_a_resumed_stream_goes_on_with_the_very_next_minibatch(shard_folder, workers, skip):
    whole = _keys(islice(create_loader(_stream(shard_folder, mirror=True), workers, pin=False), 20))
    resumed = _keys(islice(create_loader(_stream(shard_folder, skip=skip, mirror=True), workers, pin=False), 20 - skip))
    assert resumed == whole[skip:]


def test_a_resumed_stream_leaves_the_same_decided_positions_out(shard_folder):
    whole = _keys(islice(_stream(shard_folder, skip_decided=0.2), 12))
    assert _keys(islice(_stream(shard_folder, skip=5, skip_decided=0.2), 7)) == whole[5:]


def test_the_decided_positions_that_stay_are_spread_over_the_pass_and_weigh_for_those_left_out(shard_folder):
    size = 44
    whole = list(islice(_stream(shard_folder, size=16, group=4), 24))
    kept = list(islice(_stream(shard_folder, size=size, group=4, skip_decided=0.2), 7))
    assert sum(batch.size for batch in kept) == 308  # of 384
    assert Counter(key for keys in _keys(kept) for key in keys) <= Counter(key for keys in _keys(whole) for key in keys)
    weight = torch.stack([batch.wdl_weight for batch in kept])
    assert {round(float(w), 4) for w in weight.unique()} == {1.0, round(float(weight.max()), 4)}
    assert float(weight.sum()) == pytest.approx(384, abs=0.01)
    is_decided = weight > 1
    assert 0.08 < float(is_decided[:3].float().mean()) < 0.35 and 0.08 < float(is_decided[4:].float().mean()) < 0.35
    mean = [float(sum((b.wdl * b.wdl_weight[:, None]).sum(0)[0] for b in batches)) / 384 for batches in (whole, kept)]
    assert mean[0] == pytest.approx(mean[1], abs=0.03)  # of the chances to win


def test_where_few_are_decided_others_are_left_out_as_well_and_no_position_weighs_for_hundreds(shard_folder):
    kept = list(islice(_stream(shard_folder, size=24, group=4, skip_decided=0.7), 4))  # of a third that are decided
    weight = torch.cat([batch.wdl_weight for batch in kept])
    assert 4 < float(weight.max()) < 6
    assert (weight > 1).any() and (weight == 1).any()


def _stream_with_mates(folder, skip_decided, copies):
    """A tenth of the positions, those of more than 240 centipawns, stand for short mates."""
    stream = _stream(folder, size=32, group=4, skip_decided=skip_decided, short_mate_copies=copies)
    stream._maker.find_short_mates = lambda columns: columns.cp > 240
    return stream


def test_short_mates_are_shown_as_often_as_asked_for_and_their_values_weigh_for_one(shard_folder):
    batches = list(islice(_stream_with_mates(shard_folder, 0.0, 3), 12))
    weight = torch.cat([batch.wdl_weight for batch in batches])
    keys = [m.numpy().tobytes() + v.numpy().tobytes() for b in batches for m, v in zip(b.masks, b.values, strict=True)]
    times = Counter(key for key, w in zip(keys, weight.tolist(), strict=True) if w < 1)
    assert {round(float(w), 4) for w in weight.unique()} == {0.3333, 1.0}
    assert max(times.values()) == 3 and sum(times.values()) > 2 * len(times)
    spread = weight.reshape(3, -1) < 1
    assert (spread.float().mean(1) > 0.08).all()


def test_skip_decided_leaves_no_short_mate_out(shard_folder):
    weight = torch.cat([batch.wdl_weight for batch in islice(_stream_with_mates(shard_folder, 0.2, 1), 9)])
    without = torch.cat([batch.wdl_weight for batch in islice(_stream_with_mates(shard_folder, 0.2, 0), 9)])
    assert (weight > 1).sum() < (without > 1).sum()
    assert float(weight.sum()) == pytest.approx(float(without.sum()), rel=0.05)


def _stream_with_mistakes(folder, skip_decided, mistakes, mates=0):
    """The network was wrong about a tenth of the positions, which are as decided as the others."""
    stream = _stream(folder, 32, 4, skip_decided=skip_decided, short_mate_copies=mates, mistake_copies=mistakes)
    stream._maker.find_mistakes = lambda columns, _kl, _error: columns.values[:, 0] < 10
    stream._maker.find_short_mates = lambda columns: columns.values[:, 0] < 5
    return stream


def test_mistakes_are_shown_as_often_as_asked_for_and_their_values_weigh_for_one(shard_folder):
    batches = list(islice(_stream_with_mistakes(shard_folder, 0.0, 4), 12))
    first = torch.cat([batch.values[:, 0] for batch in batches])
    weight = torch.cat([batch.wdl_weight for batch in batches])
    assert ((weight == 0.25) | (weight == 0))[first < 10].all() and ((weight == 1) | (weight == 0))[first >= 10].all()
    whole = torch.cat([batch.values[:, 0] for batch in islice(_stream(shard_folder, group=4), 12)])
    assert int((first < 10).sum()) > 2.5 * int((whole < 10).sum())


def test_a_mistake_that_is_a_short_mate_as_well_gets_the_larger_number_of_copies(shard_folder):
    batches = list(islice(_stream_with_mistakes(shard_folder, 0.0, 2, mates=5), 12))
    first = torch.cat([batch.values[:, 0] for batch in batches])
    weight = torch.cat([batch.wdl_weight for batch in batches])
    known = weight > 0
    assert weight[known & (first < 5)].unique().tolist() == pytest.approx([0.2])
    assert weight[known & (first >= 5) & (first < 10)].unique().tolist() == [0.5]


def test_values_stay_unbiased_when_mistakes_are_repeated_and_decided_positions_left_out(shard_folder):
    whole = list(islice(_stream(shard_folder, size=16, group=4), 24))
    passes = [list(islice(_stream_with_mistakes(shard_folder, 0.2, 3), 9 * n))[9 * (n - 1) :] for n in range(1, 9)]
    batches = [batch for one in passes for batch in one]

    def mean(some):
        total = sum(float((b.wdl[:, 0] - b.wdl[:, 2]).mul(b.wdl_weight).sum()) for b in some)
        return total / sum(float(b.wdl_weight.sum()) for b in some)

    assert mean(batches) == pytest.approx(mean(whole), abs=0.04)


def test_mistakes_are_found_by_policy_or_value_and_shards_without_the_columns_have_none(shard_folder):
    columns = load_group([Piece(find_shards([str(shard_folder)])[0], 0, 0, 96)])
    assert not BatchMaker.find_mistakes(columns, 0.0, 0.0).any()
    count = columns.rows
    known = replace(columns, policy_kl=np.linspace(0, 4, count), value_error=np.full(count, np.nan))
    assert BatchMaker.find_mistakes(known, 2.0, 0.5).sum() == pytest.approx(count / 2, abs=1)
    known = replace(columns, policy_kl=np.zeros(count), value_error=np.linspace(0, 2, count))
    assert BatchMaker.find_mistakes(known, 2.0, 0.5).sum() == pytest.approx(3 * count / 4, abs=1)


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
    with pytest.raises(TrainError, match="too little data"):
        next(iter(_stream(shard_folder, size=500)))


def test_sequential_reading_covers_all_or_an_even_share(shard_folder):
    files = find_shards([str(shard_folder)])
    maker = BatchMaker(read_common_format(files), TargetConfig(), False)
    assert sum(b.size for b in read_sequentially(files, maker, 50, 10_000)) == 384
    assert sum(b.size for b in read_sequentially(files, maker, 50, 40)) == 40


def test_a_record_batch_without_rows_is_passed_over(shard_folder):
    whole = open_shard(find_shards([str(shard_folder)])[0])
    path = shard_folder / "empty.arrow"
    with pa.ipc.new_file(str(path), whole.schema) as writer:
        for batch in (whole.get_batch(0).slice(0, 0), whole.get_batch(0)):
            writer.write_batch(batch)
    maker = BatchMaker(read_common_format([path]), TargetConfig(), False)
    assert sum(b.size for b in read_sequentially([path], maker, 50, 1000)) == 96


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
    with pytest.raises(TrainError, match="no 1 record batches .data.shuffle_batches. hold a minibatch of 128"):
        next(iter(_stream(shard_folder, size=128, group=1)))
