"""Writes the files beside it: what python-chess says about positions and games, Chess960 above all.

    pip install chess==1.11.2 && python test/chess/rules/golden/make_golden.py

The tests read the files and need no Python. Everything is seeded; the same version of python-chess gives the same bytes.
"""
import hashlib
import json
import pathlib
import random

import chess

OUT = pathlib.Path(__file__).resolve().parent

# Name of the trap -> (FEN, depth). Chess960 rules hold for all of them; they agree with the standard rules where the
# king and rooks stand on their usual squares.
CASES = {
    "a promotion by push, by capture and by capturing the castling rook": ("r3k2r/1P4P1/8/8/8/8/1p4p1/R3K2R w KQkq - 0 1", 3),
    "promotions of both sides at once": ("n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1", 4),
    "a promotion that gives check and one that is pinned": ("3k4/1P6/8/8/8/8/r5PK/8 w - - 0 1", 4),
    "a pinned pawn that may promote by capturing its pinner": ("2r1k3/1P6/K7/8/8/8/8/8 w - - 0 1", 4),
    "an underpromotion that avoids stalemate": ("8/5P1k/8/5K2/8/8/8/8 w - - 0 1", 5),
    "en passant that would uncover the king on its rank": ("8/8/8/K1pP3r/8/8/8/4k3 w - c6 0 1", 4),
    "en passant that would uncover the king on its rank, black": ("4K3/8/8/8/k1Pp3R/8/8/8 b - c3 0 1", 4),
    "en passant by either of two pawns when one is enough cover": ("8/8/8/K1PpP2r/8/8/8/4k3 w - d6 0 1", 4),
    "en passant by a pawn pinned on its diagonal": ("8/8/1k6/2b5/2pP4/8/5K2/8 b - d3 0 1", 4),
    "en passant by a pawn pinned on its file": ("4r1k1/8/8/3pP3/8/8/8/4K3 w - d6 0 1", 4),
    "en passant along the pin's diagonal": ("6k1/6b1/8/4Pp2/8/2K5/8/8 w - f6 0 1", 4),
    "en passant that captures the checking pawn": ("8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1", 5),
    "en passant that uncovers the king on a diagonal through the victim": ("8/8/7b/4pP2/3K4/8/8/6k1 w - e6 0 1", 4),
    "a double step that uncovers a check which en passant cannot parry": ("8/8/7k/8/2pP4/8/8/2B1K3 b - d3 0 1", 4),
    "castling through an attacked square": ("5rk1/8/8/8/8/8/8/4K2R w K - 0 1", 5),
    "castling out of check": ("4r1k1/8/8/8/8/8/8/R3K2R w KQ - 0 1", 4),
    "castling into check": ("1k4r1/8/8/8/8/8/8/R3K2R w KQ - 0 1", 4),
    "castling with an attacked rook and an attacked b-square": ("r3k2r/8/8/8/1R6/8/8/1R2K2R b Kkq - 0 1", 4),
    "castling rights lost by a captured rook": ("r3k2r/8/3Q4/8/8/5q2/8/R3K2R b KQkq - 0 1", 3),
    "castling blocked by knights": ("rn2k1nr/8/8/8/8/8/8/RN2K1NR w KQkq - 0 1", 4),
    "castling that gives check": ("5k2/8/8/8/8/8/8/4K2R w K - 0 1", 6),
    "castling that gives check on the d-file": ("3k4/8/8/8/8/8/8/R3K3 w Q - 0 1", 6),
    "a discovered check by the king": ("8/8/1P2K3/8/2n5/1q6/8/5k2 b - - 0 1", 5),
    "a self-stalemate": ("K1k5/8/P7/8/8/8/8/8 w - - 0 1", 6),
    "a double check": ("8/8/2k5/5q2/5n2/8/5K2/8 b - - 0 1", 4),
    "two hundred and eighteen moves": ("R6R/3Q4/1Q4Q1/4Q3/2Q4Q/Q4Q2/pp1Q4/kBNN1KB1 w - - 0 1", 2),
    "a king that walks along the line of its attacker": ("4k3/8/8/8/8/8/8/r3K3 w - - 0 1", 5),
    "960: castling whose rook shields the king's new square": ("4k3/8/8/8/8/8/8/qR1K4 w B - 0 1", 4),
    "960: castling whose rook shields the king's new square, h-side": ("4k3/8/8/8/8/8/8/4K1Rr w G - 0 1", 4),
    "960: castling in which the king stays and the rook jumps": ("6k1/8/8/8/8/8/8/6KR w H - 0 1", 5),
    "960: castling in which king and rook change places": ("1k6/8/8/8/8/8/8/5KR1 w G - 0 1", 5),
    "960: castling a-side in which king and rook change places": ("7k/8/8/8/8/8/8/2RK4 w C - 0 1", 5),
    "960: castling with the king on b1": ("4k3/8/8/8/8/8/8/RK5R w AH - 0 1", 4),
    "960: castling blocked on the rook's path only": ("4k3/8/8/8/8/8/8/RN2K2R w AH - 0 1", 4),
    "960: the inner of two rooks castles": ("1k2r1rr/8/8/8/8/8/8/1K2R1RR w Ge - 0 1", 3),
    "960: a rook pinned on its rank may castle nowhere": ("4k3/8/8/8/8/8/8/r1RK4 w C - 0 1", 4),
    "960: sides castle from different files": ("r1k4r/pppppppp/8/8/8/8/PPPPPPPP/1R3K1R w BHah - 0 1", 3),
    "960: position of the chessprogramming wiki": ("rkbbqr1n/1p1pppp1/2p2n2/p4NBp/8/3P4/PPP1PPPP/RK1BQRN1 b FAfa - 2 9", 3),
}

# Numbers of Chess960 starts (Scharnagl) for White and for Black.
STARTS = [(518, 518), (0, 0), (959, 959), (1, 1), (100, 100), (342, 342), (692, 692), (821, 821),
          (0, 959), (518, 17), (300, 301), (745, 44), (911, 502), (33, 690)]


def perft(board: chess.Board, depth: int) -> int:
    if depth == 1:
        return board.legal_moves.count()
    nodes = 0
    for move in board.legal_moves:
        board.push(move)
        nodes += perft(board, depth - 1)
        board.pop()
    return nodes


def double_chess960(white: int, black: int) -> chess.Board:
    """White starts from one Chess960 position and Black from another."""
    ranks = []
    for number in (black, white):
        board = chess.Board.from_chess960_pos(number)
        ranks.append(board.board_fen().split("/")[7])
    rights = "".join(chess.FILE_NAMES[i].upper() for i, piece in enumerate(ranks[1]) if piece == "R")
    rights += "".join(chess.FILE_NAMES[i] for i, piece in enumerate(ranks[0]) if piece == "R")
    return chess.Board(f"{ranks[0].lower()}/pppppppp/8/8/8/8/PPPPPPPP/{ranks[1]} w {rights} - 0 1", chess960=True)


def random_start(prng: random.Random) -> chess.Board:
    kind = prng.random()
    if kind < 0.3:
        return chess.Board()
    white = prng.randrange(960)
    return double_chess960(white, white if kind < 0.65 else prng.randrange(960))


def to_fen(board: chess.Board, en_passant: str = "legal") -> str:
    return board.shredder_fen(en_passant=en_passant) if board.chess960 else board.fen(en_passant=en_passant)


def write_cases() -> None:
    rows = []
    for name, (fen, depth) in CASES.items():
        board = chess.Board(fen, chess960=True)
        assert board.is_valid(), (name, board.status())
        rows.append({"name": name, "fen": fen, "depth": depth, "nodes": perft(board, depth)})
    for white, black in STARTS:
        board = double_chess960(white, black)
        name = f"start {white} of Chess960" if white == black else f"start {white} against start {black}"
        rows.append({"name": name, "fen": to_fen(board), "depth": 4, "nodes": perft(board, 4)})
    write("perft-cases.json", rows)


def write_random_positions(count: int) -> None:
    prng = random.Random(20)
    rows = []
    while len(rows) < count:
        board = random_start(prng)
        for _ in range(prng.randrange(1, 140)):
            moves = list(board.legal_moves)
            if not moves:
                break
            castlings = [move for move in moves if board.is_castling(move)]
            if castlings and prng.random() < 0.8:
                break
            board.push(prng.choice(moves))
        if any(board.legal_moves):
            rows.append([to_fen(board, prng.choice(["legal", "fen"])), perft(board, 3)])
    write("perft-random.json", rows)


def outcome(board: chess.Board) -> str:
    if board.is_checkmate():
        return "checkmate"
    if board.is_stalemate():
        return "stalemate"
    if board.is_insufficient_material():
        return "insufficient-material"
    if board.halfmove_clock >= 100:
        return "fifty-moves"
    return "threefold" if board.is_repetition(3) else "ongoing"


def repetitions(board: chess.Board) -> int:
    return next(times for times in range(1, 99) if not board.is_repetition(times + 1)) - 1


def transcript_line(board: chess.Board) -> str:
    moves = sorted(board.uci(move) if board.chess960 else move.uci() for move in board.legal_moves)
    return f"{to_fen(board)} {outcome(board)} {repetitions(board)} {int(board.is_check())} {' '.join(moves)}\n"


ENDGAMES = ["8/8/3k4/8/8/3K4/4R3/8 w - - 0 1", "8/2b5/4k3/8/8/3K4/4N3/8 w - - 80 90", "8/8/4k3/4p3/8/3K4/4Q3/8 b - - 60 70",
            "4k3/8/8/8/8/8/8/RK5R w HA - 0 1", "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1"]


def write_games(count: int) -> None:
    prng = random.Random(960)
    rows = []
    for number in range(count):
        if number % 4 == 3:
            board = chess.Board(ENDGAMES[number // 4 % len(ENDGAMES)], chess960=number % 8 == 3)
        else:
            board = random_start(prng)
        start = to_fen(board)
        moves, digest = [], hashlib.sha256()
        for _ in range(220):
            digest.update(transcript_line(board).encode())
            # A second repetition and move 50 are passed by sometimes, so that later counts are tested as well.
            if not any(board.legal_moves) or (outcome(board) != "ongoing" and prng.random() < 0.2):
                break
            choices = list(board.legal_moves)
            if len(board.move_stack) > 1 and prng.random() < 0.35:
                last = board.move_stack[-2]
                back = chess.Move(last.to_square, last.from_square)
                choices = [back] if back in choices else choices
            move = prng.choice(choices)
            moves.append(board.uci(move))
            board.push(move)
        rows.append({"fen": start, "chess960": board.chess960, "moves": " ".join(moves), "sha256": digest.hexdigest(),
                     "outcome": outcome(board)})
    write("games.json", rows)


def write(name: str, rows: list) -> None:
    lines = ",\n".join(json.dumps(row) for row in rows)
    (OUT / name).write_text(f"[\n{lines}\n]\n")
    print(f"{name}: {len(rows)} rows")


if __name__ == "__main__":
    write_cases()
    write_games(80)
    write_random_positions(500)
