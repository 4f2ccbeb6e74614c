import json

import numpy as np
import pytest
from sardonyx_train.base.errors import TrainError
from sardonyx_train.data.shards import (
    Ragged,
    concat_columns,
    find_replies,
    find_shards,
    list_pieces,
    open_shard,
    read_columns,
    read_common_format,
    select_rows,
)
from train_support.synthetic import write_games, write_men, write_shard

import chess


def test_columns_hold_what_was_written(shard_folder):
    path = find_shards([str(shard_folder)])[0]
    columns = read_columns(path, 0)
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
    parts = [read_columns(path, i) for i in range(2)]
    joined = concat_columns(parts)
    for name in ("legal", "policy_index", "policy_cp"):
        own = getattr(joined, name).take(np.array([96 + 3, 2]))
        flat = [getattr(parts[1], name).take(np.array([3]))[0], getattr(parts[0], name).take(np.array([2]))[0]]
        assert np.array_equal(own[0], np.concatenate(flat), equal_nan=True)


@pytest.fixture
def games(tmp_path):
    """Columns of three games: scored plies with one left out; records of self-play without fast searches, one of them twice; one more."""
    scored = [(ply, ply) for ply in (0, 1, 2, 4, 5)]
    recorded = [(at, ply) for ply, at in enumerate((0, 0, 1, 2, 5, 6, 8, 9))]
    write_games(tmp_path / "games.arrow", [(1, scored), (2, recorded), (3, [(6, 6), (7, 7)])])
    return read_columns(tmp_path / "games.arrow", 0, with_replies=True)


def test_a_reply_is_the_position_after_the_next_move_of_the_same_game(games):
    known = [[1, 1, 0, 1, 0], [0, 1, 1, 0, 1, 0, 1, 0], [1, 0]]
    assert games.replies.is_known.tolist() == [bool(each) for game in known for each in game]
    rows = np.flatnonzero(games.replies.is_known)
    for name in ("legal", "policy_index", "policy_weight", "policy_cp"):
        own, reply = getattr(games, name).take(rows + 1), getattr(games.replies, name).take(rows)
        assert all(np.array_equal(a, b, equal_nan=True) for a, b in zip(own, reply)), name


@pytest.mark.parametrize(
    ("fen", "moves", "is_reply"),
    [
        ("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1", "e1g1", True),
        ("r3k2r/8/8/8/8/8/8/R3K2R b KQkq - 0 1", "e8c8", True),
        ("4k3/8/8/8/8/8/8/5KR1 w G - 0 1", "f1g1", True),  # Chess960: king and rook change places
        ("4k3/8/8/3pP3/8/8/8/4K3 w - d6 0 1", "e5d6", True),
        ("1n2k3/P7/8/8/8/8/8/4K3 w - - 0 1", "a7b8n", True),
        ("4k3/8/8/8/8/8/3q4/4K3 w - - 0 1", "e1d2", True),
        ("4k3/8/5n2/3n4/8/2N5/8/4K3 w - - 0 1", "c3d5 f6d5 e1e2", False),  # a knight of the same kind stands there again
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "e1e2 e8e7 e2e1 e7e8 e1e2", True),  # the same boards as after one move
        ("4k3/8/8/8/8/8/8/4K3 w - - 0 1", "e1e2 e8e7", False),
        (chess.STARTING_FEN, "", False),
    ],
)
def test_boards_tell_whether_one_move_was_played(fen, moves, is_reply):
    before = chess.Board(fen, chess960="G" in fen)
    after = before.copy()
    for move in moves.split():
        after.push_uci(move)
    masks = np.stack([write_men(before), write_men(after)]).view(np.uint8)
    known = find_replies(masks, np.array([7, 7], np.uint32), np.array([4, 5], np.uint16))
    assert known.tolist() == [is_reply, False]


def test_replies_stay_with_their_rows_when_rows_are_chosen_and_joined(games):
    rows = np.array([13, 3, 6])
    joined = concat_columns([games, select_rows(games, rows)])
    assert joined.replies.is_known[-3:].tolist() == [True, True, True]
    for name in ("legal", "policy_index"):
        flat, lengths = getattr(joined.replies, name).take(games.rows + np.arange(3))
        wanted, wanted_lengths = getattr(games, name).take(rows + 1)
        assert np.array_equal(flat, wanted) and np.array_equal(lengths, wanted_lengths)


def test_ragged_take_keeps_order_and_empty_rows():
    ragged = Ragged(np.array([1, 2, 3, 4, 5]), np.array([0, 2, 2, 5]))
    flat, lengths = ragged.take(np.array([2, 1, 0]))
    assert flat.tolist() == [3, 4, 5, 1, 2] and lengths.tolist() == [3, 0, 2]


def test_row_counts_come_from_the_file(shard_folder):
    assert [piece.stop for piece in list_pieces(find_shards([str(shard_folder)])[:1])] == [96, 96]


def test_a_damaged_file_an_empty_folder_and_a_missing_one_are_named(tmp_path, shard_folder):
    broken = tmp_path / "broken.arrow"
    broken.write_bytes(b"ARROW1 but no more")
    with pytest.raises(TrainError, match=r"broken\.arrow: not a readable Arrow file"):
        list_pieces([broken])
    (tmp_path / "empty").mkdir()
    with pytest.raises(TrainError, match="no .*arrow files"):
        find_shards([str(tmp_path / "empty")])
    with pytest.raises(TrainError, match="nowhere: no such file"):
        find_shards([str(tmp_path / "nowhere")])


def test_a_shard_with_wrong_offsets_is_named(tmp_path, shard_folder):
    whole = find_shards([str(shard_folder)])[0]
    offsets = open_shard(whole).get_batch(0).column("legal").buffers()[1].to_pybytes()
    data = whole.read_bytes()
    assert data.count(offsets) >= 1
    broken = tmp_path / "broken.arrow"
    broken.write_bytes(data.replace(offsets, bytes([0xFF, 0xFF, 0xFF, 0x7F]) * (len(offsets) // 4)))
    with pytest.raises(TrainError, match=r"broken\.arrow: its record batch 0 is damaged"):
        read_columns(broken, 0)


def test_shards_of_different_encodings_do_not_mix(shard_folder):
    write_shard(shard_folder / "9.arrow", 1, 1, 4, "mini-19", "from-to-4096")
    with pytest.raises(TrainError, match="encoding differs"):
        read_common_format(find_shards([str(shard_folder)]))


def test_shards_are_described_for_people_and_programs(shard_folder, capsys):
    from sardonyx_train.program import main

    assert main(["inspect", str(shard_folder), "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["files"], found["positions"], found["positions looked at"]) == (2, 384, 384)
    assert found["encoding"] == "lc0-112" and 0 < found["target entropy, nats, mean"] < 4
    assert 0 <= found["drawn, of those known"] <= 1 and found["different boards, share"] > 0.5
    assert main(["inspect", str(shard_folder)]) == 0 and "384" in capsys.readouterr().out
    assert main(["inspect", str(shard_folder / "none")]) == 1
