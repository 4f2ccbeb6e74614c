"""The planes that a network computes itself, against python-chess."""

import pytest
import torch
from sardonyx_train.base.errors import TrainError
from sardonyx_train.config.training_config import ModelConfig, parse_config
from sardonyx_train.model.board_features import FEATURE_PLANES, BoardFeatures
from sardonyx_train.model.layers import LinesOfSight
from sardonyx_train.model.network import Network

import chess

PIECES = [chess.PAWN, chess.KNIGHT, chess.BISHOP, chess.ROOK, chess.QUEEN, chess.KING]
FENS = [
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R b KQ - 0 1",
    "3R4/5pk1/1Q4p1/4P3/3q1P2/1p6/1K3r2/N1B2Q2 w - - 0 1",
]


def _see_as_mover(fen):
    board = chess.Board(fen)
    return board if board.turn == chess.WHITE else board.mirror()


def _make_planes(board):
    planes = torch.zeros(1, 112, 8, 8)
    for square, piece in board.piece_map().items():
        plane = PIECES.index(piece.piece_type) + (0 if piece.color == chess.WHITE else 6)
        planes[0, plane, square // 8, square % 8] = 1
    return planes


def _compute_all(planes):
    return BoardFeatures()(planes, LinesOfSight()(planes))


def _compute(board):
    return _compute_all(_make_planes(board))[0].flatten(1)


def _count_attackers(board, color, kind):
    return [min(2, len(board.attackers(color, square) & board.pieces(kind, color))) / 2 for square in chess.SQUARES]


@pytest.mark.parametrize("fen", FENS)
def test_attackers_of_every_square_are_those_of_python_chess(fen):
    board = _see_as_mover(fen)
    planes = _compute(board).tolist()
    own, other = chess.WHITE, chess.BLACK
    expected = {
        0: (own, chess.PAWN),
        1: (other, chess.PAWN),
        2: (own, chess.KNIGHT),
        4: (other, chess.KNIGHT),
        6: (own, chess.KING),
        7: (other, chess.KING),
        8: (own, chess.BISHOP),
        11: (other, chess.BISHOP),
        16: (own, chess.ROOK),
        19: (other, chess.ROOK),
    }
    for plane, (color, kind) in expected.items():
        assert planes[plane] == _count_attackers(board, color, kind), plane
    for diagonal, straight, color in ((9, 17, own), (12, 20, other)):
        queens = [min(1, a + b) for a, b in zip(planes[diagonal], planes[straight])]
        assert queens == _count_attackers(board, color, chess.QUEEN)


@pytest.mark.parametrize("fen", FENS)
def test_king_planes_hold_the_squares_that_give_check(fen):
    board = _see_as_mover(fen)
    planes = _compute(board)
    for color, jump, diagonal, straight in ((chess.WHITE, 3, 10, 18), (chess.BLACK, 5, 13, 21)):
        king = board.king(color)
        for plane, kind in ((jump, chess.KNIGHT), (diagonal, chess.BISHOP), (straight, chess.ROOK)):
            probe = board.copy()
            probe.set_piece_at(king, chess.Piece(kind, color))
            assert planes[plane].nonzero().flatten().tolist() == sorted(probe.attacks(king)), plane


def test_sliders_look_through_exactly_one_piece():
    board = chess.Board("4k3/8/8/q2p1p2/8/8/3P4/R2RK3 w - - 0 1")
    planes = _compute(board)
    names = [chess.square_name(int(square)) for square in planes[22].nonzero().flatten()]
    # a1: through d1 to e1; through a5 to a6, a7, a8. d1: through a1 nothing, through d2 to d3, d4, d5, through e1 to f1, g1, h1.
    assert names == ["e1", "f1", "g1", "h1", "d3", "d4", "d5", "a6", "a7", "a8"]
    names = [chess.square_name(int(square)) for square in planes[23].nonzero().flatten()]
    assert names == ["e5", "f5"]  # the queen through d5; her own diagonals' pieces are plane 15's
    assert [chess.square_name(int(s)) for s in planes[15].nonzero().flatten()] == ["e1"]


def test_passed_pawns_coordinates_and_material():
    board = chess.Board("4k3/p6p/8/2P5/3p4/6P1/8/4K2R w K - 0 1")
    planes = _compute(board)
    assert [chess.square_name(int(s)) for s in planes[24].nonzero().flatten()] == ["c5"]
    assert [chess.square_name(int(s)) for s in planes[25].nonzero().flatten()] == ["d4", "a7"]
    assert planes[26, chess.E4] == pytest.approx(3 / 7) and planes[27, chess.E4] == pytest.approx(4 / 7)
    assert planes[28, chess.E4] == pytest.approx(0.5 / 3.5) and planes[28, chess.A1] == 1
    assert planes[29].unique().tolist() == [(5 + 2 - 3) / 8] and planes[30].unique().tolist() == [0]
    assert planes[31].unique().item() == pytest.approx(5 / 62)


def test_features_stay_exact_in_half_precision():
    planes = torch.cat([_make_planes(_see_as_mover(fen)) for fen in FENS])
    exact = _compute_all(planes)
    assert exact.shape == (len(FENS), FEATURE_PLANES, 8, 8) and 0 <= exact.min() and exact.max() <= 1
    for kind in (torch.bfloat16, torch.float16):
        halved = _compute_all(planes.to(kind)).float()
        assert torch.equal(halved[:, :26], exact[:, :26])
        assert torch.allclose(halved, exact, atol=4e-3)


def test_a_network_with_features_learns_and_keeps_its_input():
    config = ModelConfig(board_features=True, filters=16, blocks=1)
    network = Network(config).train()
    assert network.body.stem.conv.in_channels == 112 + FEATURE_PLANES
    network(_make_planes(chess.Board())).policy.square().sum().backward()
    assert network.body.stem.conv.weight.grad[:, 112:].abs().sum() > 0
    assert not any(name.startswith("features") for name in network.state_dict())


def test_other_inputs_have_no_board_features():
    raw = {"model": {"input": "mini-19", "board_features": True}, "schedule": {"max_steps": 1}}
    with pytest.raises(TrainError, match="board_features"):
        parse_config(raw)
