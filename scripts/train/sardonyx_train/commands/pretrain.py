"""The command `pretrain`: from games to a network that plays. It makes shards, trains and exports, all in the folder OUT; if it was
stopped, the same command resumes it.

The configuration's section `games` says which games and positions are taken, unless a flag does.
"""

import shlex
import subprocess
import sys
from argparse import Namespace
from pathlib import Path
from typing import Any

from ..base.errors import TrainError
from ..base.files import keep_plan
from ..base.lock import lock_folder
from ..base.progress_display import say
from ..config.loop_config import LoopConfig, check_files, find_engine
from ..config.training_config import TrainingConfig, format_config, load_config, merge
from ..training.schedule import describe_end
from .train import run_training

CONFIGS = Path(__file__).resolve().parents[2] / "configs"
_PLAN = "pretrain.json"
_POSITIONS = 50_000  # of the default configuration


def pretrain(options: Namespace) -> int:
    out: Path = options.out
    shards, checkpoint = out / "shards", out / "last.pt"
    values = _collect_values(options, shards)
    place = options.config or CONFIGS / "mini-leela.yaml"
    config = load_config(place, options.set, values)
    _check_own_keys(config, values)
    loop = LoopConfig(engine=options.engine)
    check_files(loop)
    engine = find_engine(loop)
    out.mkdir(parents=True, exist_ok=True)
    with lock_folder(out):
        pass
    flags = _format_shard_flags(config)
    end, most = describe_end(config.schedule), config.games.positions or _POSITIONS
    say(f"plan: shards of at most {most:,} positions in a minute or two, training for {end}, and export to {out / out.name}.onnx")
    if not (out / _PLAN).exists() and (shards.exists() or checkpoint.exists()):
        raise TrainError(f"{out} holds shards or a run that pretrain did not make: name another --out")
    keep_plan(out / _PLAN, {"games": [str(Path(games).resolve()) for games in options.games], "shards": flags})
    if subprocess.run([*engine, "shards", *options.games, "--out", str(shards), *flags]).returncode != 0:
        if not shards.exists():
            (out / _PLAN).unlink()  # other games may be named now
        return 1  # the engine has printed why
    if not (shards / "validation").is_dir():
        print("pretrain: too few games for validation, so the losses shown are those of training", file=sys.stderr)
        config = load_config(place, options.set, merge(values, {"data": {"validation": []}}))
    (out / "train.yaml").write_text(format_config(config), encoding="utf-8")
    run_training(config, checkpoint if checkpoint.exists() else None)
    network = out / f"{out.name}.onnx"
    if options.call_program(["export", str(checkpoint), "--out", str(network), "--shards", *config.data.validation]) != 0:
        return 1
    play = ["match", "--engine", str(network), "--engine", "random", "--nodes", "200", "--games", "20", "--concurrency", "10"]
    print(f"Now watch it play: {shlex.join([*engine, *play])}")
    return 0


def _collect_values(options: Namespace, shards: Path) -> dict[str, dict[str, Any]]:
    """Keys that the command sets itself, and those that its flags set."""
    games = {name: getattr(options, name) for name in ("positions", "min_elo", "skip_plies")}
    return {
        "data": {"train": [str(shards / "train")], "validation": [str(shards / "validation")]},
        "run": {"out": str(options.out), "name": options.out.name},
        "games": {name: value for name, value in games.items() if value is not None},
        "schedule": {} if options.epochs is None else {"max_epochs": options.epochs, "max_steps": None, "max_minutes": None},
    }


def _check_own_keys(config: TrainingConfig, values: dict[str, dict[str, Any]]) -> None:
    """Raises TrainError where --set names another folder or name than OUT gives."""
    given = config.model_dump()
    for section in ("data", "run"):
        for key, value in values[section].items():
            if given[section][key] != value:
                raise TrainError(f"pretrain sets {section}.{key} itself, by its flag --out")


def _format_shard_flags(config: TrainingConfig) -> list[str]:
    games, model = config.games, config.model
    flags = ["--positions", str(games.positions or _POSITIONS), "--min-elo", str(games.min_elo), "--skip-plies", str(games.skip_plies)]
    return [*flags, "--encoding", model.input, "--policy", model.policy, "--split", "96/4/0"]
