import json

import numpy as np
import pytest
from sardonyx_train.data.shards import (
    Ragged,
    ShardError,
    concat_columns,
    find_shards,
    open_shard,
    read_columns,
    read_common_format,
    read_info,
)
from train_support.synthetic import write_shard


def test_columns_hold_what_was_written(shard_folder):
    path = find_shards([str(shard_folder)])[0]
    columns = read_columns(open_shard(path), 0)
    assert columns.rows == 96 and columns.masks.shape == (96, 896) and columns.values.shape == (96, 1)
    raw = open_shard(path).get_batch(0).to_pydict()
    for row in (0, 1, 5, 7):
        one = np.array([row])
        assert columns.masks[row].tobytes() == raw["masks"][row]
        assert columns.legal.take(one)[0].tolist() == raw["legal"][row]
        weights, scores = raw["policy_weight"][row], raw["policy_cp"][row]
        assert np.isnan(columns.policy_weight.take(one)[0]).all() == (weights is None)
        assert np.isnan(columns.policy_cp.take(one)[0]).all() == (scores is None)
        if scores is not None:
            assert columns.policy_cp.take(one)[0].tolist() == scores
        assert np.isnan(columns.result[row]) == (raw["result"][row] is None)


def test_concatenated_columns_give_the_same_rows(shard_folder):
    path = find_shards([str(shard_folder)])[0]
    parts = [read_columns(open_shard(path), i) for i in range(2)]
    joined = concat_columns(parts)
    for name in ("legal", "policy_index", "policy_cp"):
        own = getattr(joined, name).take(np.array([96 + 3, 2]))
        flat = [getattr(parts[1], name).take(np.array([3]))[0], getattr(parts[0], name).take(np.array([2]))[0]]
        assert np.array_equal(own[0], np.concatenate(flat), equal_nan=True)


def test_ragged_take_keeps_order_and_empty_rows():
    ragged = Ragged(np.array([1, 2, 3, 4, 5]), np.array([0, 2, 2, 5]))
    flat, lengths = ragged.take(np.array([2, 1, 0]))
    assert flat.tolist() == [3, 4, 5, 1, 2] and lengths.tolist() == [3, 0, 2]


def test_row_counts_come_from_the_file(shard_folder):
    assert read_info(find_shards([str(shard_folder)])[0]).rows == (96, 96)


def test_a_damaged_file_an_empty_folder_and_a_missing_one_are_named(tmp_path, shard_folder):
    broken = tmp_path / "broken.arrow"
    broken.write_bytes(b"ARROW1 but no more")
    with pytest.raises(ShardError, match=r"broken\.arrow: not a readable Arrow file"):
        read_info(broken)
    (tmp_path / "empty").mkdir()
    with pytest.raises(ShardError, match="no .*arrow files"):
        find_shards([str(tmp_path / "empty")])
    with pytest.raises(ShardError, match="nowhere: no such file"):
        find_shards([str(tmp_path / "nowhere")])


def test_shards_of_different_encodings_do_not_mix(shard_folder):
    write_shard(shard_folder / "9.arrow", 1, 1, 4, "mini-19", "from-to-4096")
    with pytest.raises(ShardError, match="encoding differs"):
        read_common_format(find_shards([str(shard_folder)]))


def test_shards_are_described_for_people_and_programs(shard_folder, capsys):
    from inspect_shards import main

    assert main([str(shard_folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["files"], found["positions"], found["positions looked at"]) == (2, 384, 384)
    assert found["encoding"] == "lc0-112" and 0 < found["target entropy, nats, mean"] < 4
    assert 0 <= found["drawn, of those known"] <= 1 and found["different boards, share"] > 0.5
    assert main([str(shard_folder)]) == 0 and "384" in capsys.readouterr().out
    assert main([str(shard_folder / "none")]) == 1
