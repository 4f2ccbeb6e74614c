"""Draws two maps as coloured boards side by side, White below."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .maps import Maps, Opinion
from .position import EncodedPosition

_GLYPHS = dict(zip("KQRBNPkqrbnp", "♔♕♖♗♘♙♚♛♜♝♞♟"))
_MOVES_SHOWN = 5


def draw_maps(
    position: EncodedPosition, maps: Maps, opinion: Opinion, move: int, method: str, network: str, path: Path
) -> None:
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.6, 5.0), dpi=110, layout="constrained")
    FigureCanvasAgg(figure)
    mover = "Black" if position.is_black_to_move else "White"
    order = np.argsort(-opinion.probabilities)[:_MOVES_SHOWN]
    moves = ", ".join(f"{position.moves[i]} {opinion.probabilities[i]:.1%}" for i in order)
    figure.suptitle(f"{network}, {method}\n{position.fen}\n{moves}", fontsize=9)
    titles = (
        f"why {position.moves[move]} ({opinion.probabilities[move]:.1%})",
        f"why {opinion.value:+.2f} for {mover}",
    )
    for axis, title, values in zip(figure.subplots(1, 2), titles, (maps.policy, maps.value)):
        _draw_board(axis, position, position.to_board(values), title)
    figure.savefig(path)


def _draw_board(axis, position: EncodedPosition, values: np.ndarray, title: str) -> None:
    largest = float(np.abs(values).max()) or 1.0
    is_signed = bool((values < 0).any())
    shade = (np.indices((8, 8)).sum(0) % 2)[..., None] * 0.07 + 0.9
    axis.imshow(np.broadcast_to(shade, (8, 8, 3)), origin="lower")
    image = axis.imshow(
        values,
        origin="lower",
        cmap="RdBu" if is_signed else "Greens",
        vmin=-largest if is_signed else 0.0,
        vmax=largest,
        alpha=0.75,
    )
    for square, letter in enumerate(position.board):
        if letter in _GLYPHS:
            axis.text(square % 8, square // 8, _GLYPHS[letter], ha="center", va="center", fontsize=21)
    axis.set_xticks(range(8), "abcdefgh")
    axis.set_yticks(range(8), "12345678")
    axis.tick_params(length=0, labelsize=8)
    axis.set_title(title, fontsize=10)
    axis.figure.colorbar(image, ax=axis, shrink=0.7).ax.tick_params(labelsize=7)
