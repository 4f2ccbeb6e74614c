"""The body whose squares talk along lines of sight."""

import pytest
import torch
from sardonyx_train.base.errors import TrainError
from sardonyx_train.config.training_config import ModelConfig, parse_config
from sardonyx_train.model.layers import LinesOfSight
from sardonyx_train.model.network import Network

import chess

SMALL = {"body": "sight", "filters": 16, "blocks": 2, "heads": 2, "ffn_ratio": 1.0}
FEN = "r2q1rk1/pP1p2pp/Q4n2/bbp1p3/Np6/1B3NBn/pPPP1PPP/R3K2R w KQ - 0 1"


def _occupy(board):
    planes = torch.zeros(1, 112, 8, 8)
    for square in board.piece_map():
        planes[0, 0, square // 8, square % 8] = 1
    return planes


def test_men_between_squares_are_counted_as_python_chess_does():
    board = chess.Board(FEN)
    count = LinesOfSight()(_occupy(board))[0]
    for source in chess.SQUARES:
        for target in chess.SQUARES:
            expected = len(chess.SquareSet(chess.between(source, target)) & chess.SquareSet(board.occupied))
            assert count[source, target] == expected


def test_the_eight_directions_hold_what_a_queen_attacks():
    board = chess.Board(FEN)
    lines = LinesOfSight()
    seen = torch.relu(1 - lines(_occupy(board))) * lines.directions
    for square in chess.SQUARES:
        board.set_piece_at(square, chess.Piece(chess.QUEEN, chess.WHITE))
        assert seen[:, square].sum(0).nonzero().flatten().tolist() == sorted(board.attacks(square))
        board = chess.Board(FEN)
    north, east = seen[0, chess.E2].nonzero(), seen[1, chess.E2].nonzero()
    assert north.flatten().tolist() == [chess.E3, chess.E4, chess.E5] and east.flatten().tolist() == [chess.F2]


def test_a_man_in_between_ends_what_two_squares_have_to_do_with_each_other():
    torch.manual_seed(1)
    network = Network(ModelConfig(**{**SMALL, "blocks": 1})).eval()
    for block in network.body.blocks:
        torch.nn.init.zeros_(block.mixing)  # lines of sight alone
    board = chess.Board("4k3/8/8/8/8/8/8/R6K w - - 0 1")
    far, near = chess.Board("4k3/r7/8/8/8/8/8/R6K w - - 0 1"), chess.Board("4k3/q7/8/8/8/8/8/R6K w - - 0 1")

    def answer(board, is_blocked):
        planes = torch.zeros(1, 112, 8, 8)
        if is_blocked:
            board.set_piece_at(chess.A4, chess.Piece(chess.PAWN, chess.BLACK))
        for square, piece in board.piece_map().items():
            planes[0, piece.piece_type - 1 + (0 if piece.color else 6), square // 8, square % 8] = 1
        x = planes * network.input_scale
        return network.body(x, network.lines(planes))[0, :, 0, 0].detach()

    assert not torch.allclose(answer(far, False), answer(near, False))
    assert torch.equal(answer(far, True), answer(near, True))
    assert board.is_valid()


def test_kinds_of_lines_are_the_straight_and_the_diagonal_directions_together():
    config = ModelConfig(**{**SMALL, "input": "attacks-50", "sight_lines": "kinds"})
    body = Network(config).body
    seen = body.directions.float() * (LinesOfSight()(_occupy(chess.Board(FEN))) == 0)
    board = chess.Board(FEN)
    for piece, lines in ((chess.ROOK, seen[0]), (chess.BISHOP, seen[1])):
        for square in chess.SQUARES:
            board.set_piece_at(square, chess.Piece(piece, chess.WHITE))
            assert lines[square].nonzero().flatten().tolist() == sorted(board.attacks(square))
            board = chess.Board(FEN)


def test_a_network_that_reads_attacks_gives_all_heads():
    network = Network(ModelConfig(**{**SMALL, "input": "attacks-50", "sight_lines": "kinds"})).eval()
    outputs = network((torch.rand(3, 50, 8, 8) < 0.1).float())
    assert [tuple(head.shape) for head in outputs[:3]] == [(3, 1858), (3, 3), (3, 1)]


def test_sizes_and_inputs_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="multiple of 16"):
        Network(ModelConfig(**{**SMALL, "filters": 24}))
    with pytest.raises(TrainError, match="body sight needs"):
        parse_config({"model": {**SMALL, "input": "mini-19"}, "schedule": {"max_steps": 1}})
