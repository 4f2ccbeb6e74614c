"""The engine as python-chess drives it: play, analysis, pondering, Chess960, options. Needs `chess` from PyPI."""

import logging
import pathlib
import shutil

import chess.engine
import pytest

import chess

ROOT = pathlib.Path(__file__).resolve().parent.parent
PROGRAM = ROOT / "dist" / "cli" / "main.js"
NETWORK = ROOT / "models" / "tiny-test.onnx"
NODE = shutil.which("node")

pytestmark = pytest.mark.skipif(NODE is None or not PROGRAM.exists(), reason="the engine is not built")


@pytest.fixture
def engine(caplog):
    caplog.set_level(logging.WARNING)
    command = [NODE, str(PROGRAM), f"--weights={NETWORK}"]
    with chess.engine.SimpleEngine.popen_uci(command, timeout=60) as opened:
        yield opened
    warnings = [record.getMessage() for record in caplog.records if record.levelno >= logging.WARNING]
    assert warnings == []


def test_identity_and_options(engine):
    assert engine.id["name"].startswith("Sardonyx")
    for name in ("Threads", "Hash", "Move Overhead", "SyzygyPath", "UCI_ShowWDL", "Ponder", "MultiPV"):
        assert name in engine.options
    # What lichess-bot sets by default.
    engine.configure({"Move Overhead": 100, "Threads": 2, "Hash": 64, "SyzygyPath": "", "UCI_ShowWDL": True})
    with pytest.raises(chess.engine.EngineError):
        engine.configure({"Nonsense": 1})


def test_a_whole_game_on_clocks(engine):
    board = chess.Board()
    clock = {chess.WHITE: 2.0, chess.BLACK: 2.0}
    for _ in range(60):
        if board.is_game_over():
            break
        limit = chess.engine.Limit(
            white_clock=max(clock[chess.WHITE], 0.001), black_clock=max(clock[chess.BLACK], 0.001), white_inc=0.01, black_inc=0.01
        )
        result = engine.play(board, limit, info=chess.engine.INFO_ALL, game="one")
        assert result.move in board.legal_moves
        assert "score" in result.info
        clock[board.turn] += 0.01 - result.info["time"]
        board.push(result.move)


def test_limits(engine):
    board = chess.Board()
    for limit in (
        chess.engine.Limit(nodes=50),
        chess.engine.Limit(time=0.05),
        chess.engine.Limit(depth=2),
        chess.engine.Limit(mate=2, nodes=50),
        chess.engine.Limit(white_clock=0.001, black_clock=0.001),
    ):
        assert engine.play(board, limit).move in board.legal_moves
    only = [chess.Move.from_uci("a2a3")]
    assert engine.play(board, chess.engine.Limit(nodes=20), root_moves=only).move == only[0]


def test_analysis_with_several_lines(engine):
    engine.configure({"UCI_ShowWDL": True})
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3")
    lines = engine.analyse(board, chess.engine.Limit(nodes=200), multipv=3)
    assert len(lines) == 3
    assert len({line["pv"][0] for line in lines}) == 3
    for line in lines:
        assert sum(line["wdl"].relative) == 1000
        replay = board.copy()
        for move in line["pv"]:
            assert move in replay.legal_moves
            replay.push(move)


def test_infinite_analysis_is_stopped(engine):
    with engine.analysis(chess.Board()) as analysis:
        for info in analysis:
            if info.get("nodes", 0) > 100:
                break
    assert engine.play(chess.Board(), chess.engine.Limit(nodes=5)).move is not None


def test_pondering(engine):
    board = chess.Board()
    limit = chess.engine.Limit(white_clock=1, black_clock=1, white_inc=0.1, black_inc=0.1)
    for _ in range(8):
        result = engine.play(board, limit, ponder=True)
        board.push(result.move)
        # Sometimes the expected reply (ponderhit), sometimes another (stop).
        moves = list(board.legal_moves)
        reply = result.ponder if result.ponder in moves and board.fullmove_number % 2 else moves[0]
        board.push(reply)


def test_chess960(engine):
    board = chess.Board.from_chess960_pos(518 - 200)
    for _ in range(30):
        result = engine.play(board, chess.engine.Limit(nodes=10), game="960")
        assert result.move in board.legal_moves
        board.push(result.move)


def test_mate_and_finished_games(engine):
    board = chess.Board("7k/5ppp/8/8/8/8/8/R5K1 w - - 0 1")
    info = engine.analyse(board, chess.engine.Limit(nodes=100))
    assert info["score"].relative == chess.engine.Mate(1)
    board.push_uci("a1a8")
    assert engine.play(board, chess.engine.Limit(nodes=10)).move is None
