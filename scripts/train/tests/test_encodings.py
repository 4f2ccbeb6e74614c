import numpy as np
import pytest
from sardonyx_train.config.encodings import POLICY_SIZES, attention_gather, convolution_gather, get_input_encoding, lc0_moves, mirror_policy


def _square(name: str) -> int:
    return "abcdefgh".index(name[0]) + 8 * (int(name[1]) - 1)


@pytest.mark.parametrize(
    ("move", "index"), [("a1b1", 0), ("b1a3", 34), ("g1f3", 159), ("e2e4", 322), ("g2g4", 378), ("g6e4", 1332), ("h7h8b", 1857)]
)
def test_lc0_order_has_the_known_indices(move, index):
    assert lc0_moves()[index] == (_square(move[:2]), _square(move[2:4]), move[4:])


@pytest.mark.parametrize("policy", list(POLICY_SIZES))
def test_mirroring_twice_is_the_identity(policy):
    mirror = mirror_policy(policy)
    assert np.array_equal(mirror[mirror], np.arange(POLICY_SIZES[policy]))


def test_mirrored_alphazero_kinds_go_the_other_way():
    mirror = mirror_policy("alphazero-4672")
    e4, d4 = _square("e4"), _square("d4")
    pairs = [(0, 0), (1 * 7 + 2, 7 * 7 + 2), (2 * 7, 6 * 7), (56, 63), (59, 60), (64, 66), (70, 72), (71, 71)]
    for kind, mirrored in pairs:  # north, north-east, east, two knight jumps, underpromotions left and ahead
        assert mirror[e4 * 73 + kind] == d4 * 73 + mirrored


def test_the_attention_gather_points_at_the_move_itself():
    gather = attention_gather("lc0-1858")
    assert len(set(gather.tolist())) == 1858
    for index, (source, target, piece) in enumerate(lc0_moves()):
        if piece == "":
            assert gather[index] == source * 64 + target
        else:
            assert gather[index] >= 4096


@pytest.mark.parametrize("policy", list(POLICY_SIZES))
def test_the_convolution_gather_takes_every_move_from_its_own_place(policy):
    planes, gather = convolution_gather(policy)
    assert len(set(gather.tolist())) == POLICY_SIZES[policy] == len(gather)
    assert gather.min() >= 0 and gather.max() < planes * 64


def test_convolution_planes_hold_one_kind_of_step_each():
    _, gather = convolution_gather("lc0-1858")
    steps: dict[int, set[tuple[int, int, str]]] = {}
    for index, (source, target, piece) in enumerate(lc0_moves()):
        assert gather[index] % 64 == source
        steps.setdefault(gather[index] // 64, set()).add((target % 8 - source % 8, target // 8 - source // 8, piece))
    assert all(len(kinds) == 1 for kinds in steps.values())


def test_lc0_formats_are_known_by_their_enum_name_and_others_are_not():
    assert get_input_encoding("INPUT_112_WITH_CANONICALIZATION_V2").planes == 112
    assert get_input_encoding("INPUT_112_WITH_CANONICALIZATION_V2").scales == {}
    assert get_input_encoding("INPUT_112_WITH_CASTLING_PLANE").scales == {109: 1 / 99}
    assert get_input_encoding("INPUT_112_WITH_CANONICALIZATION_HECTOPLIES").scales == {}
    with pytest.raises(ValueError, match="unknown input encoding 'mini-20'"):
        get_input_encoding("mini-20")
