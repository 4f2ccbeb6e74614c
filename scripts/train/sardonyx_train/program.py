"""The program: `sardonyx-train COMMAND`. One parser, one way of errors: one sentence on stderr and status 1; 130 after a request to stop.

Every command's flags are declared here, so that `--help` and a wrong flag need none of the slow libraries. A command itself is a
function in `commands/`, whose module is imported when the command runs: options in, exit status out.
"""

import argparse
import ctypes.util
import importlib
import os
import shlex
import signal
import sys
from argparse import ArgumentParser
from collections.abc import Callable
from pathlib import Path

from .base.errors import STOPPED_STATUS, Stopped, TrainError
from .tasks.process import OWN_PROGRAM


def main(arguments: list[str] | None = None) -> int:
    words = list(sys.argv[1:] if arguments is None else arguments)
    cut = words.index("--") if words[:1] == ["spread"] and "--" in words else len(words)
    options = _create_parser().parse_args(words[:cut])
    options.engine_flags = words[cut + 1 :]
    options.call_program = main  # for a command that consists of others
    module, _, function = options.function.rpartition(".")
    try:
        return getattr(importlib.import_module(f".commands.{module}", __package__), function)(options)
    except (Stopped, KeyboardInterrupt) as error:
        print(f"{options.command}: stopped" + (f"; {error}" if isinstance(error, Stopped) else ""), file=sys.stderr)
        return STOPPED_STATUS
    except OSError as error:
        place, why = error.filename2 or error.filename, error.strerror or error
        if isinstance(error, FileExistsError):  # where a folder was to be made
            why = "it is a file, not a folder"
        print(f"{options.command}: {why if place is None else f'{place}: {why}'}", file=sys.stderr)
    except (TrainError, ValueError) as error:
        print(f"{options.command}: {error}", file=sys.stderr)
    return 1


def start() -> None:
    """As the entry of a process of its own."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # as Ctrl-C; long commands have better handlers once they work
    if sys.argv[1:2] in (["loop"], ["try-recipe"]):
        os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # torch's threads must not spin beside the engine's
    if sys.argv[1:2] in (["train"], ["pretrain"]):
        _restart_with_tcmalloc()
    sys.exit(main())


def _restart_with_tcmalloc() -> None:
    """Loads tcmalloc on Linux, if it is installed: glibc returns every large tensor to the system and faults it in again.

    LD_PRELOAD is read only when a program starts, so this process restarts itself once.
    """
    preload = os.environ.get("LD_PRELOAD", "")
    if not sys.platform.startswith("linux") or "malloc" in preload:
        return
    library = ctypes.util.find_library("tcmalloc_minimal") or ctypes.util.find_library("tcmalloc")
    if library is not None:
        environment = {**os.environ, "LD_PRELOAD": f"{library}:{preload}" if preload else library}
        os.execve(sys.executable, [*OWN_PROGRAM, *sys.argv[1:]], environment)


def _at_least(kind: type, least: float) -> Callable[[str], float]:
    def number(text: str) -> float:
        value = kind(text)
        if not value >= least:
            raise argparse.ArgumentTypeError(f"{text} is below {least}")
        return value

    return number


_COUNT, _NUMBER, _AMOUNT = _at_least(int, 1), _at_least(int, 0), _at_least(float, 0)


def _add_config(parser: ArgumentParser, about: str = "YAML file; see configs/ and --describe") -> None:
    parser.add_argument("--config", type=Path, help=about)
    parser.add_argument("--set", action="append", default=[], metavar="SECTION.KEY=VALUE", help="override one key")


def _add_network(parser: ArgumentParser, shards: list[str]) -> None:
    parser.add_argument("checkpoint", type=Path)
    parser.add_argument("--name", help="name inside the files; default: the run's")
    parser.add_argument("--training", help="one line on data and recipe inside the files; default: from the checkpoint")
    parser.add_argument("--shards", nargs="*", default=shards, help="held-out shards to verify on")
    parser.add_argument("--positions", type=_COUNT, default=10_000, help="positions to verify on (default 10,000)")
    parser.add_argument("--calibration", nargs="*", help="int8: shards to calibrate on; default: the run's training shards")
    parser.add_argument("--calibration-positions", type=_COUNT, default=2048, help="int8: positions to calibrate on (default 2,048)")


def _create_parser() -> ArgumentParser:
    parser = ArgumentParser(prog="sardonyx-train", description="Networks for Sardonyx: from games to a file that plays.")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    def add(name: str, function: str, about: str) -> ArgumentParser:
        """`function`: module of `commands/` and function that do it."""
        command = commands.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        command.set_defaults(function=function)
        return command

    pretrain = add("pretrain", "pretrain.pretrain", "go from games to a network that plays: shards, training and export")
    pretrain.add_argument("games", nargs="+", help="input of `sardonyx shards`: labelled games, PGN, lc0 records, folders of them")
    pretrain.add_argument("--out", type=Path, required=True, help="folder of the run")
    _add_config(pretrain, "default: configs/mini-leela.yaml")
    pretrain.add_argument("--positions", type=_COUNT, help="approximate number of positions (default: games.positions, or 50,000)")
    pretrain.add_argument("--min-elo", type=_NUMBER, help="of PGN files: only games in which both players have at least this rating")
    pretrain.add_argument("--skip-plies", type=_NUMBER, help="plies at the start of each game to leave out")
    pretrain.add_argument("--epochs", type=float, help="train for so many passes, instead of the configuration's planned end")
    pretrain.add_argument("--engine", type=shlex.split, help="the engine's command; default: the one beside the scripts or on PATH")

    train = add("train", "train.train", "train a network from Arrow shards")
    _add_config(train)
    train.add_argument("--resume", nargs="?", const="auto", metavar="FILE", help="continue from FILE or the run's last.pt")
    train.add_argument("--overwrite", action="store_true", help="start anew in a folder that holds a run, and delete that run")
    train.add_argument("--describe", action="store_true", help="print every key with its default, and exit")

    loop = add("loop", "loop.loop", "improve a network by playing against itself; the same command resumes")
    _add_config(loop)
    loop.add_argument("--reduced", action="store_true", help="the file's own variant for two CPU cores, its section `reduced`")
    action = loop.add_mutually_exclusive_group()
    action.add_argument("--dry-run", action="store_true", help="check everything, print the plan, and exit")
    action.add_argument("--status", action="store_true", help="show the state of the loop, and exit")
    action.add_argument("--rollback", type=_NUMBER, metavar="N", help="make generation N the best, drop games of later networks, and exit")
    action.add_argument("--promote", type=_NUMBER, metavar="N", help="make the network of generation N the best one, and exit")
    action.add_argument("--prune", type=_COUNT, metavar="N", help="remove what no way back to the last N generations needs, and exit")
    action.add_argument("--replay", type=_NUMBER, metavar="N", help="train generation N again, compare the weights, and exit")
    action.add_argument("--describe", action="store_true", help="print every key with its default, and exit")

    try_recipe = add("try-recipe", "try_recipe.try_recipe", "run a loop and test whether it plays clearly better")
    _add_config(try_recipe, "YAML file of a loop; see configs/loop-*.yaml")
    try_recipe.add_argument("--minutes", type=_AMOUNT, default=60.0, help="time for the loop; 0: only the match (default 60)")
    try_recipe.add_argument("--games", type=_COUNT, default=400, help="largest number of games of the match (default 400)")
    try_recipe.add_argument("--full", action="store_true", help="run the whole recipe instead of its reduced variant")

    export = add("export", "networks.export", "write a checkpoint's averaged network to ONNX and verify it")
    _add_network(export, [])
    export.add_argument("--out", type=Path, required=True, help="ONNX file to write")
    export.add_argument("--precision", choices=["fp32", "fp16", "int8"], default="fp32")
    export.add_argument("--keep", nargs="*", default=[], metavar="PART", help="int8: convolutions to leave fp32, e.g. stem")

    join = add("join", "networks.join", "join networks for phases of the game to one, which chooses by the men on the board")
    join.add_argument("networks", type=Path, nargs="+", help="ONNX files, from the opening to the endgame")
    join.add_argument("--men", type=int, nargs="+", required=True, help="the fewest men for each but the last, such as 27 15")
    join.add_argument("--name", help="name inside the file (default: the first one's)")
    join.add_argument("--out", type=Path, required=True, help="ONNX file to write")

    bundle = add("bundle", "bundle.bundle", "make the bundled networks of a checkpoint, with their weights")
    _add_network(bundle, ["runs/shards/test"])
    bundle.add_argument("--large", action="store_true", help="make only the larger network, for devices")
    bundle.add_argument("--light", nargs="?", const="light.onnx", metavar="FILE", help="make only a light network (default light.onnx)")
    bundle.add_argument("--out", type=Path, default=Path("models"))

    weights = add("weights", "networks.weights", "write a checkpoint's averaged weights alone, in half precision")
    weights.add_argument("checkpoint", type=Path, help="last.pt or best.pt of a run")
    weights.add_argument("--out", type=Path, required=True, help="checkpoint to write, such as models/default.pt")

    average = add("average", "networks.average", "average the weights of runs that began from the same checkpoint")
    average.add_argument("checkpoints", type=Path, nargs="+", help="last.pt or best.pt of each run")
    average.add_argument("--out", type=Path, required=True, help="checkpoint to write, with the configuration of the first")

    assess = add("assess", "assessment.assess_network", "measure an ONNX network on held-out positions")
    assess.add_argument("network", type=Path, help="ONNX file")
    assess.add_argument("--shards", nargs="+", required=True, help="folders or files of held-out shards")
    assess.add_argument("--config", type=Path, help="training configuration whose section targets to use; default: train's defaults")
    assess.add_argument("--positions", type=_COUNT, default=20_000, help="number of positions, taken evenly (default 20,000)")
    assess.add_argument("--plot", type=Path, metavar="PNG", help="draw the calibration of the value")
    assess.add_argument("--json", action="store_true", help="print one JSON object")

    compare = add("compare", "compare.compare", "draw the training curves of several runs in one picture")
    compare.add_argument("runs", nargs="+", help="folders of runs or whole loops; NAME=FOLDER gives one another name")
    compare.add_argument("--out", type=Path, required=True, help="picture to write, .png or .svg")
    compare.add_argument("--x", choices=("step", "positions", "minutes"), default="step", help="horizontal axis (default step)")

    inspect = add("inspect", "look_at_shards.inspect", "describe Arrow shards: positions, results, targets")
    inspect.add_argument("shards", nargs="+", help="folders or files")
    inspect.add_argument("--batches", type=_COUNT, default=5, help="record batches to read, taken evenly (default 5)")
    inspect.add_argument("--json", action="store_true", help="print one JSON object")

    loader = add("bench-loader", "look_at_shards.bench", "measure how fast shards are read")
    loader.add_argument("shards", nargs="+")
    loader.add_argument("--workers", type=_NUMBER, default=2)
    loader.add_argument("--batch-size", type=_COUNT, default=1024)
    loader.add_argument("--positions", type=_COUNT, default=1_000_000)
    loader.add_argument("--shuffle-batches", type=_COUNT, default=12)
    loader.add_argument("--copies", type=_COUNT, default=1, help="read every file so often, to measure more positions than there are")
    loader.add_argument("--replies", action="store_true", help="also read the targets of loss.reply_policy")

    _declare_spread(add("spread", "spread.spread", "spread labelling, analysis and matches over a cluster"))
    return parser


def _declare_spread(parser: ArgumentParser) -> None:
    works = parser.add_subparsers(dest="work", required=True, metavar="WORK")
    label = works.add_parser("label", help="games of an engine with its scores, for training")
    analyse = works.add_parser("analyse", help="the games of a PGN file, annotated")
    match = works.add_parser("match", help="games between two players")
    analyse.add_argument("pgn", type=Path, nargs="+")
    for work, games, per_task in ((label, 1000, 50), (analyse, None, 20), (match, 100, 20)):
        work.add_argument("--out", type=Path, required=True, help="folder for the results")
        work.add_argument("--cluster", metavar="ADDRESS", help="Ray cluster to use, HOST:6379 or auto; without it, this machine")
        work.add_argument("--cpus", type=_AMOUNT, default=1, help="CPU cores that a task reserves on the cluster")
        work.add_argument("--gpus", type=_AMOUNT, default=0, help="GPUs that a task reserves on the cluster")
        work.add_argument("--tasks", type=_COUNT, default=1, help="number of tasks at a time on this machine")
        work.add_argument("--minutes", type=_at_least(float, 0.01), default=600, help="time limit of a task")
        work.add_argument("--engine", nargs="+", help="the engine's command; found beside this program or on PATH")
        if games is not None:
            work.add_argument("--games", type=_COUNT, default=games, help="number of games")
            work.add_argument("--seed", type=_NUMBER, default=1)
        work.add_argument("--games-per-task", type=_COUNT, default=per_task)
        work.epilog = "Behind -- stand flags of the engine's command; files that they name travel with the tasks. The same command resumes."
        work.formatter_class = argparse.RawDescriptionHelpFormatter
