#!/usr/bin/env python3
"""Shows which squares a network's outputs depend on: `explain.py models/default.onnx --fen "…" --out why.png` maps policy and value over the board."""

from __future__ import annotations

import argparse
import shlex
import sys
from pathlib import Path

from sardonyx_train.checkpoint import CheckpointError
from sardonyx_train.config import ConfigError
from sardonyx_train.explain.draw import draw_maps
from sardonyx_train.explain.maps import compute_grad_cam, compute_occlusion, form_opinions
from sardonyx_train.explain.loaded_network import load_network
from sardonyx_train.explain.position import ExplainError, encode_position
from sardonyx_train.loop.loop_config import LoopConfig, find_engine

_START = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Draw which squares a network's move and value depend on.")
    parser.add_argument("network", type=Path, help="checkpoint (.pt) or ONNX file")
    parser.add_argument("--fen", default=_START, help="position; start position when left out")
    parser.add_argument("--moves", default="", help="moves played from there, as UCI writes them: 'e2e4 e7e5'")
    parser.add_argument("--move", help="legal move to explain; the network's favourite when left out")
    parser.add_argument("--method", choices=["occlusion", "grad-cam"], default="occlusion", help="grad-cam needs a .pt")
    parser.add_argument("--out", type=Path, default=Path("explain.png"), help="PNG file (default explain.png)")
    parser.add_argument("--engine", type=shlex.split, help="the engine's command; default: the one beside the scripts or on PATH")
    options = parser.parse_args(arguments)
    try:
        network = load_network(options.network)
        engine = find_engine(LoopConfig(engine=options.engine))
        position = encode_position(engine, options.fen, options.moves, network.input, network.policy)
        (opinion,) = form_opinions(network.evaluate, position, position.planes[None])
        move = int(opinion.probabilities.argmax()) if options.move is None else _find_move(position.moves, options.move)
        if options.method == "occlusion":
            maps = compute_occlusion(network.evaluate, position, move)
        elif network.torch_network is None:
            raise ExplainError("Grad-CAM needs gradients: give it the checkpoint (.pt), not the ONNX file")
        else:
            maps = compute_grad_cam(network.torch_network, position, move)
        draw_maps(position, maps, opinion, move, options.method, network.name, options.out)
    except (ExplainError, CheckpointError, ConfigError, OSError) as error:
        print(f"explain: {error}", file=sys.stderr)
        return 1
    print(f"{options.out}: {position.moves[move]} {opinion.probabilities[move]:.1%}, value {opinion.value:+.3f}")
    return 0


def _find_move(moves: tuple[str, ...], wanted: str) -> int:
    if wanted not in moves:
        raise ExplainError(f"{wanted} is not a legal move here; legal are {', '.join(moves)}")
    return moves.index(wanted)


if __name__ == "__main__":
    sys.exit(main())
