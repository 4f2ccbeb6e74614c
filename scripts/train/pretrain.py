#!/usr/bin/env python3
"""From games to a network that plays, in one command: `pretrain.py games/ --out runs/mini-leela`.

The configuration's section `games` says which games and positions are taken, unless a flag does. It makes shards, trains and exports, all in the folder OUT. If it was stopped, the same command resumes it.
"""

from __future__ import annotations

import argparse
import shlex
import subprocess
import sys
from pathlib import Path

from export import main as export_main
from sardonyx_train.checkpoint import CheckpointError
from sardonyx_train.config import ConfigError, format_config, load_config
from sardonyx_train.data.shards import ShardError
from sardonyx_train.distributed import leave
from sardonyx_train.lock import FolderBusy
from sardonyx_train.loop.loop_config import LoopConfig, find_engine
from train import train

_CONFIGS = Path(__file__).parent / "configs"
_STOPPED = 130
_POSITIONS = 50_000  # of the default configuration


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Make shards of games, train a network on them and export it.")
    parser.add_argument("games", nargs="+", help="input of `sardonyx shards`: labelled games, PGN, lc0 records, folders of them")
    parser.add_argument("--out", type=Path, required=True, help="folder of the run")
    parser.add_argument("--config", type=Path, default=_CONFIGS / "mini-leela.yaml", help="default: configs/mini-leela.yaml")
    parser.add_argument("--positions", type=int, help="approximate number of positions (default: games.positions, or 50,000)")
    parser.add_argument("--min-elo", type=int, help="of PGN files: only games in which both players have at least this rating")
    parser.add_argument("--skip-plies", type=int, help="plies at the start of each game to leave out")
    parser.add_argument("--epochs", type=float, help="train for so many passes, instead of the configuration's planned end")
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="override one key")
    parser.add_argument("--engine", type=shlex.split, help="the engine's command; default: the one beside the scripts or on PATH")
    options = parser.parse_args(arguments)
    out: Path = options.out
    shards, checkpoint = out / "shards", out / "last.pt"
    own = {
        ("data", "train"): [str(shards / "train")],
        ("data", "validation"): [str(shards / "validation")],
        ("run", "out"): str(out),
        ("run", "name"): out.name,
    }
    own |= {("games", name): value for name in ("positions", "min_elo", "skip_plies") if (value := getattr(options, name)) is not None}
    if options.epochs is not None:
        own |= {("schedule", "max_epochs"): options.epochs, ("schedule", "max_steps"): None, ("schedule", "max_minutes"): None}
    try:
        config = load_config(options.config, options.set, own)
        engine = find_engine(LoopConfig(engine=options.engine))
        out.mkdir(parents=True, exist_ok=True)
        command = [*engine, "shards", *options.games, "--out", str(shards)]
        command += ["--positions", str(config.games.positions or _POSITIONS)]
        command += ["--min-elo", str(config.games.min_elo), "--skip-plies", str(config.games.skip_plies)]
        command += ["--encoding", config.model.input, "--policy", config.model.policy, "--split", "96/4/0"]
        if subprocess.run(command, check=False).returncode != 0:
            return 1  # the engine has printed why
        if not (shards / "validation").is_dir():
            print("pretrain: too few games for validation, so the losses shown are those of training", file=sys.stderr)
            config = load_config(options.config, options.set, {**own, ("data", "validation"): []})
        (out / "train.yaml").write_text(format_config(config), encoding="utf-8")
        if not train(config, checkpoint if checkpoint.exists() else None):
            return _STOPPED
    except (ConfigError, ShardError, CheckpointError, FolderBusy, ValueError, OSError) as error:
        print(f"pretrain: {error}", file=sys.stderr)
        return 1
    finally:
        leave()
    network = out / f"{out.name}.onnx"
    status = export_main([str(checkpoint), "--out", str(network), "--shards", *config.data.validation])
    if status == 0:
        play = ["match", "--engine", str(network), "--engine", "random", "--nodes", "200", "--games", "20", "--concurrency", "10"]
        print(f"Now watch it play: {shlex.join([*engine, *play])}")
    return status


if __name__ == "__main__":
    sys.exit(main())
