from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from sardonyx_train.config.encodings import lc0_moves, mirror_policy
from sardonyx_train.config.training_config import TargetConfig
from sardonyx_train.data.batch import Batch, BatchMaker
from sardonyx_train.data.shards import find_shards, read_columns, read_common_format
from train_support.synthetic import write_games


@pytest.fixture
def columns(shard_folder):
    files = find_shards([str(shard_folder)])
    return read_columns(files[0], 0)


@pytest.fixture
def form(shard_folder):
    return read_common_format(find_shards([str(shard_folder)]))


def test_shards_of_a_policy_that_is_not_known_are_refused(form):
    with pytest.raises(ValueError, match="unknown policy encoding 'chess-960', known: lc0-1858"):
        BatchMaker(replace(form, policy="chess-960"), TargetConfig(), mirror=False)


def test_planes_expand_bit_by_bit_and_value_planes_are_scaled():
    random = np.random.default_rng(3)
    masks = random.integers(0, 2**63, (2, 5), dtype=np.uint64)
    packed = torch.from_numpy(masks.astype("<u8").view(np.uint8).reshape(2, 5, 8))
    batch = SimpleNamespace(masks=packed, values=torch.tensor([[7.0], [0.5]]), value_planes=torch.tensor([4]))
    planes = Batch.expand_planes(batch)
    for n in range(2):
        for p in range(5):
            for square in range(64):
                bit = (int(masks[n, p]) >> square) & 1
                factor = 1.0 if p != 4 else (7.0, 0.5)[n]
                assert planes[n, p, square // 8, square % 8] == bit * factor


def test_a_batch_lines_up_with_its_rows(columns, form):
    rows = np.array([5, 0, 17])
    batch = BatchMaker(form, TargetConfig(), mirror=False).make(columns, rows)
    assert batch.size == 3 and batch.masks.shape == (3, 112, 8)
    for i, row in enumerate(rows):
        legal = batch.legal[(batch.legal >= i * 1858) & (batch.legal < (i + 1) * 1858)] - i * 1858
        assert legal.tolist() == columns.legal.take(np.array([row]))[0].tolist()
        targets = columns.policy_index.take(np.array([row]))[0].tolist()
        assert batch.policy_index[i, : len(targets)].tolist() == targets
    assert torch.allclose(batch.policy_probability.sum(1), torch.ones(3))
    assert torch.allclose(batch.wdl.sum(1), torch.ones(3))


def test_visit_weights_are_taken_as_they_are_and_one_hot_keeps_the_best(columns, form):
    rows = np.array([0, 1])  # row 0 has weights 0.75 / 0.25, row 1 scores
    soft = BatchMaker(form, TargetConfig(), False).make(columns, rows)
    assert soft.policy_probability[0].tolist() == pytest.approx([0.75, 0.25])
    hard = BatchMaker(form, TargetConfig(policy_one_hot=True), False).make(columns, rows)
    assert hard.policy_probability.tolist() == [[1, 0], [1, 0]]


def test_unknown_plies_have_no_weight(columns, form):
    batch = BatchMaker(form, TargetConfig(), False).make(columns, np.arange(10))
    assert batch.plies_weight.tolist() == [0, 1, 1, 1, 1, 0, 1, 1, 1, 1]


def test_mirroring_flips_planes_and_moves_together_and_spares_castling(columns, form):
    rows = np.arange(96)
    plain = BatchMaker(form, TargetConfig(), False).make(columns, rows)
    mirrored = BatchMaker(form, TargetConfig(), True).make(columns, rows, np.random.default_rng(1))
    a, b = (batch.expand_planes() for batch in (plain, mirrored))
    flipped = [not torch.equal(a[i], b[i]) for i in range(96)]
    assert 10 < sum(flipped) < 60
    moves = lc0_moves()
    for i in range(96):
        if not flipped[i]:
            assert torch.equal(plain.policy_index[i], mirrored.policy_index[i])
            continue
        assert torch.equal(a[i].flip(-1), b[i])
        assert plain.masks[i, 104].sum() == 0
        for x, y in zip(plain.policy_index[i].tolist(), mirrored.policy_index[i].tolist()):
            assert moves[y][:2] == (moves[x][0] ^ 7, moves[x][1] ^ 7)


def test_mirroring_is_refused_where_castling_planes_are_unknown(form):
    from dataclasses import replace

    with pytest.raises(ValueError, match="castling"):
        BatchMaker(replace(form, input="INPUT_112_WITH_CANONICALIZATION"), TargetConfig(), True)


def test_history_dropout_blanks_whole_boards_from_a_random_one_on(columns, form):
    rows = np.arange(200) % 20
    columns = replace(columns, masks=np.full_like(columns.masks, 255))
    plain = BatchMaker(form, TargetConfig(), False).make(columns, rows).masks
    dropped = BatchMaker(form, TargetConfig(), False, history_dropout=1.0)
    thinned = dropped.make(columns, rows, np.random.default_rng(1)).masks
    assert torch.equal(thinned[:, :13], plain[:, :13]) and torch.equal(thinned[:, 104:], plain[:, 104:])
    kept_boards = set()
    for before, after in zip(plain, thinned):
        boards = [slice(13 * k, 13 * k + 13) for k in range(1, 8)]
        empty = [not after[board].any() for board in boards]
        kept = empty.index(True)
        assert all(empty[kept:])
        assert all(torch.equal(before[board], after[board]) for board in boards[:kept])
        kept_boards.add(kept)
    assert {0, 3, 6} <= kept_boards
    assert torch.equal(dropped.make(columns, rows).masks, plain), "evaluation sees positions as they are"


def _read_games(tmp_path):
    write_games(tmp_path / "games.arrow", [(seed, [(ply, ply) for ply in (0, 1, 2, 4, 5, 6)]) for seed in range(8)])
    return read_columns(tmp_path / "games.arrow", 0, with_replies=True)


def _legal_of(target, row):
    return [index - 1858 * row for index in target.legal.tolist() if index // 1858 == row]


def test_replies_are_the_targets_of_the_next_rows_and_others_have_none(tmp_path, form):
    columns = _read_games(tmp_path)
    rows = np.array([1, 2, 9, 0, 47])
    batch = BatchMaker(form, TargetConfig(), False, with_replies=True).make(columns, rows)
    after = BatchMaker(form, TargetConfig(), False, with_replies=True).make(columns, np.minimum(rows + 1, 47))
    assert batch.reply.policy_probability.sum(1).tolist() == [1, 0, 1, 1, 0]
    for row in (0, 2, 3):
        assert _legal_of(batch.reply, row) == _legal_of(after, row)
        assert torch.equal(batch.reply.policy_index[row], after.policy_index[row])
    assert _legal_of(batch.reply, 1) == _legal_of(batch.reply, 4) == []
    alone = BatchMaker(form, TargetConfig(), False, with_replies=True).make(columns, np.array([2, 47]))
    assert alone.reply.policy_probability.sum() == 0
    assert BatchMaker(form, TargetConfig(), False).make(columns, rows).reply is None
    moved = batch.to(torch.device("cpu"))
    assert torch.equal(moved.reply.legal, batch.reply.legal) and torch.equal(moved.plies_weight, batch.plies_weight)


def test_mirrored_positions_have_mirrored_replies_and_dropped_history_changes_none(tmp_path, form):
    columns = _read_games(tmp_path)
    rows = np.arange(columns.rows)
    plain = BatchMaker(form, TargetConfig(), False, with_replies=True).make(columns, rows)
    maker = BatchMaker(form, TargetConfig(), True, history_dropout=1.0, with_replies=True)
    mirrored = maker.make(columns, rows, np.random.default_rng(1))
    mirror = mirror_policy("lc0-1858")
    flipped = [not torch.equal(a, b) for a, b in zip(plain.masks, mirrored.masks)]
    assert 5 < sum(flipped) < 43
    assert torch.equal(plain.reply.policy_probability, mirrored.reply.policy_probability)
    for row in np.flatnonzero(columns.replies.is_known):
        wanted = mirror if flipped[row] else np.arange(1858)
        assert _legal_of(mirrored.reply, row) == wanted[_legal_of(plain.reply, row)].tolist()
        assert mirrored.reply.policy_index[row].tolist() == wanted[plain.reply.policy_index[row]].tolist()


def test_replies_are_refused_where_boards_are_turned(form):
    with pytest.raises(ValueError, match="loss.reply_policy: 'INPUT_112_WITH_CANONICALIZATION_V2' turns the boards"):
        BatchMaker(replace(form, input="INPUT_112_WITH_CANONICALIZATION_V2"), TargetConfig(), False, with_replies=True)
    BatchMaker(replace(form, input="INPUT_112_WITH_CASTLING_PLANE"), TargetConfig(), False, with_replies=True)
