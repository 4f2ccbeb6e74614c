"""The loop's configuration: one YAML file, checked field by field. `sardonyx-train loop --describe` prints this list.

The trainer's own sections are checked by the trainer's schema, and the keys that the loop decides itself are refused.
"""

import shutil
from pathlib import Path
from typing import Any, Literal, Self

import yaml
from pydantic import Field, field_validator, model_validator

from ..base.errors import TrainError
from .training_config import Section, TrainingConfig, describe_config, merge, override, parse_config, read_yaml, validate

Flag = bool | int | float | str

# Keys that the loop sets for every generation. The file must not set them.
_OWN_KEYS = {
    "data": ("train", "validation"),
    "run": ("out", "name", "licence", "start_from", "start_moments", "seed"),
    "schedule": ("max_steps", "max_minutes", "max_epochs", "begin", "end"),
}
# Values for keys that a training needs and that the loop sets only when a generation trains.
_PLACEHOLDERS: dict[str, dict[str, Any]] = {"data": {"validation": ["held-out games"]}, "schedule": {"max_steps": 1}}
# What the training sections of a loop say where they leave a key out; `loop --describe` prints it.
LOOP_DEFAULTS: dict[str, dict[str, Any]] = {
    "data": {"workers": 0, "shuffle_batches": 64},
    "run": {"tensorboard": False, "checkpoint_minutes": 1.0},
    "schedule": {"warmup_steps": 0},
}
# What `sardonyx selfplay` sets where a match does not (player-network.ts), and the flags that shape a search rather than a game.
_SELF_PLAY_SEARCH: dict[str, Flag] = {"cpuct": 1.2, "cpuct-factor": 0, "fpu-value": 0, "policy-softmax-temp": 1}
_SEARCH_FLAGS = (
    "cpuct",
    "root-has-own-cpuct",
    "fpu-",
    "policy-softmax-temp",
    "policy-temp-",
    "widening-",
    "moves-left-",
    "draw-score",
    "wdl-",
)
_TEMPERATURE = "temp"
_REDUCED = "reduced"
# Who plays, how many games, what ends them all, and where they go; by every name that the engine has for it.
_OWN_FLAGS = {
    *("weights", "w", "player1", "player2", "engine", "each", "tournament", "white", "black"),
    *("games", "seed", "openings-pgn", "openings", "sprt", "out", "results", "pgnout", "training", "json", "live", "rating-interval"),
    *("help", "version", "show-hidden"),
}


class RunSection(Section):
    name: str = Field("loop", pattern=r"^[A-Za-z0-9._-]+$", description="name of the loop; networks are called NAME-NUMBER")
    out: str = Field("runs/loop", description="folder for all files of the loop")
    seed: int = Field(1, ge=0, le=2**53, description="seed of games, weights and shuffling")
    generations: int = Field(100, ge=1, description="number of generations")
    licence: str = Field("GPL-3.0-or-later", description="licence that is written into the networks")


class _GamesSection(Section):
    games_per_task: int = Field(50, ge=2, description="games that one call of the engine plays")
    task_minutes: float = Field(120.0, gt=0, description="time limit of a task; after it the task counts as failed")
    book: str | None = Field(None, description="openings: PGN, EPD or FEN list")
    flags: dict[str, Flag] = Field(default_factory=dict, description="further flags of the command, as flag: value")

    @field_validator("flags")
    @classmethod
    def _leaves_own_flags_alone(cls, flags: dict[str, Flag]) -> dict[str, Flag]:
        own = sorted(name for name in flags if name.split(".")[0] in _OWN_FLAGS or name.startswith("-"))
        if own:
            raise ValueError(f"the loop sets {', '.join(own)} itself (and flags are written without dashes)")
        return flags


class SelfPlaySection(_GamesSection):
    games: int = Field(500, ge=1, description="games a generation")
    positions: int | None = Field(None, ge=1, description="recorded positions a generation, in whole tasks; games is then the most")
    resign_false_positives: float | None = Field(None, gt=0, lt=1, description="adapt resign-percentage: largest share of games misjudged")
    flags: dict[str, Flag] = Field(default_factory=lambda: {"visits": 100}, description="flags of `sardonyx selfplay`; see its --help")

    @model_validator(mode="after")
    def _measures_resignation(self) -> Self:
        if self.resign_false_positives is None:
            return self
        played_through = self.flags.get("resign-playthrough", 0)
        if not (isinstance(played_through, (int, float)) and played_through > 0) or self.flags.get("resign-wdlstyle"):
            raise ValueError("resign_false_positives needs the flag resign-playthrough above 0, and works without resign-wdlstyle")
        return self


class WindowSection(Section):
    positions: int = Field(500_000, ge=1, description="train on so many of the newest positions (whole files)")
    generations: int | None = Field(None, ge=1, description="train on so many of the newest generations at most; positions is a limit too")
    recent_generations: int = Field(1, ge=1, description="number of newest generations that count as recent")
    recent_weight: float = Field(0.8, gt=0, le=1, description="at least this share of the samples is recent")
    validation_share: float = Field(0.05, ge=0, lt=1, description="share of games held out to measure the losses")


class TrainingSection(Section):
    start: str | None = Field(None, description="checkpoint for generation 0; without it, random weights")
    passes: float = Field(3.0, gt=0, description="passes over the window in each generation")
    steps: int | None = Field(None, ge=1, description="training steps in each generation, instead of passes")
    sampling_ratio: float | None = Field(None, gt=0, description="samples for each new position, instead of passes or steps")
    rate_decay: float = Field(1.0, gt=0, le=1, description="factor of the learning rates after each promotion")
    rate_floor: float = Field(0.0, ge=0, description="learning rate below which rate_decay does not go; muon's falls as far")
    schedule_generations: int | None = Field(None, ge=1, description="promoted generations that one schedule spans, instead of one each")
    carry_moments: bool = Field(False, description="a candidate goes on with the best network's moments and plateau drops")
    processes: int = Field(1, ge=1, description="training processes (GPUs) on this machine, started by torchrun")
    sections: TrainingConfig = Field(default_factory=dict, validate_default=True, description="sections of train's configuration")

    @field_validator("sections", mode="before")
    @classmethod
    def _fill_in(cls, given: Any) -> Any:
        """Adds the loop's defaults, and placeholders for what the loop sets for every generation; a file must not set that."""
        if not isinstance(given, dict):
            return given
        sections = {name: keys or {} for name, keys in given.items()}
        unset = parse_config(_PLACEHOLDERS).model_dump()
        for section, keys in _OWN_KEYS.items():
            mine = sections.get(section, {})
            wrong = [key for key in keys if isinstance(mine, dict) and mine.get(key, unset[section][key]) != unset[section][key]]
            if wrong:
                raise ValueError(f"the loop sets {section}.{', '.join(wrong)} itself")
        return merge(merge(_PLACEHOLDERS, LOOP_DEFAULTS), sections)


class AsynchronousSection(Section):
    staleness: int = Field(3, ge=0, description="promotions by which a game's network may be behind the best; older games are dropped")
    ahead: float = Field(2.0, ge=1, description="self-play pauses while so many generations' games are ready or being played")
    niceness: int = Field(10, ge=0, le=19, description="of self-play on this machine: training and gates come first")


class ExportSection(Section):
    precision: Literal["fp32", "fp16", "int8"] = "fp32"
    verify_positions: int = Field(1000, ge=0, description="held-out positions on which the file is verified; 0 = none")


class GateSection(_GamesSection):
    rule: Literal["at-least", "above", "sprt", "always"] = Field(
        "above", description="promote if score ≥ threshold, if score > threshold, by SPRT, or without games"
    )
    threshold: float = Field(0.55, gt=0, lt=1, description="score that the candidate needs; a draw counts one half")
    games: int = Field(100, ge=2, description="maximum number of games; after it, SPRT promotes if the score is above one half")
    stop_early: bool = Field(True, description="end as soon as the verdict cannot change")
    elo0: float = Field(0.0, description="sprt: Elo of a candidate that is not better")
    elo1: float = Field(35.0, description="sprt: Elo of a better candidate")
    alpha: float = Field(0.05, gt=0, lt=0.5, description="sprt: probability to promote a candidate of elo0")
    beta: float = Field(0.05, gt=0, lt=0.5, description="sprt: probability to refuse a candidate of elo1")
    flags: dict[str, Flag] = Field(
        default_factory=lambda: {"nodes": 100, "temperature": 0.6, "tempdecay-moves": 20, "temp-endgame": 0},
        description="flags of `sardonyx match`; see its --help",
    )

    @model_validator(mode="after")
    def _is_playable(self) -> Self:
        if self.rule != "always" and (self.games % 2 != 0 or self.games_per_task % 2 != 0):
            raise ValueError("games and games_per_task must be even: an opening is played with both colours")
        if self.rule == "sprt" and self.elo0 >= self.elo1:
            raise ValueError("elo0 must be below elo1")
        return self


class MeasureSection(Section):
    every: int = Field(5, ge=0, description="measure the best network every so many generations, and after the last one; 0 = never")
    games: int = Field(60, ge=2, multiple_of=2, description="games of a measurement")
    opponent: Literal["first", "random"] = Field("first", description="generation 0, or a player of random moves")


class LocalSection(Section):
    tasks: int = Field(1, ge=1, description="number of tasks that run at the same time on this machine")


class ClusterSection(Section):
    address: str = Field("auto", description="address of the Ray cluster, HOST:6379; auto finds the one on this machine")
    engine: list[str] | None = Field(None, description="command of the engine on the nodes; SARDONYX_ENGINE overrides it")
    cpus: float = Field(1.0, gt=0, description="CPUs that a task reserves")
    gpus: float = Field(0.0, ge=0, description="GPUs that a task reserves; a fraction shares one")
    report_seconds: float = Field(5.0, gt=0, description="after which finished games travel; a lost machine costs no more than that")
    wait_minutes: float = Field(5.0, ge=0, description="how long the loop waits while no node has what a task asks for")
    retries: int = Field(3, ge=0, description="repeat a failed task so often; lost nodes do not count")


class LoopConfig(Section):
    run: RunSection = Field(default_factory=RunSection)
    engine: list[str] | None = Field(None, description="command of the engine; without it, the build beside these scripts or PATH")
    selfplay: SelfPlaySection = Field(default_factory=SelfPlaySection)
    window: WindowSection = Field(default_factory=WindowSection)
    training: TrainingSection = Field(default_factory=TrainingSection)
    asynchronous: AsynchronousSection | None = Field(None, description="self-play goes on while a candidate is trained and gated")
    export: ExportSection = Field(default_factory=ExportSection)
    gate: GateSection = Field(default_factory=GateSection)
    measure: MeasureSection = Field(default_factory=MeasureSection)
    local: LocalSection = Field(default_factory=LocalSection)
    cluster: ClusterSection | None = Field(None, description="play the games on a Ray cluster")

    @model_validator(mode="after")
    def _judges_by_the_search_of_self_play(self) -> Self:
        """The gate's own flags come first. Without a temperature and a book every game would be the same."""
        gate, games = self.gate, {**_SELF_PLAY_SEARCH, "temperature": 1, **self.selfplay.flags}
        is_drawn = gate.book is None and "temperature" not in gate.flags
        taken = (*_SEARCH_FLAGS, _TEMPERATURE) if is_drawn else _SEARCH_FLAGS
        gate.flags = {**{name: value for name, value in games.items() if name.startswith(taken)}, **gate.flags}
        return self

    @property
    def folder(self) -> Path:
        return Path(self.run.out)


def parse_loop_config(raw: Any) -> LoopConfig:
    """Raises TrainError with one line for each wrong key."""
    return validate(LoopConfig, raw, "run, selfplay, training …")


def load_loop_config(path: Path | None, overrides: list[str], is_reduced: bool = False) -> LoopConfig:
    """Reads a YAML file; each override is `section.key=value` (or deeper) with the value in YAML.

    The file may have a section `reduced`, the same recipe in a size for two CPU cores: with `is_reduced` its keys replace those of
    the file.
    """
    raw = read_yaml(path)
    reduced = raw.pop(_REDUCED, None)
    if is_reduced:
        if not isinstance(reduced, dict):
            raise TrainError(f"{path} has no section {_REDUCED}")
        raw = merge(raw, reduced)
    for text in overrides:
        override(raw, text)
    return parse_loop_config(raw)


def find_engine(config: LoopConfig) -> list[str]:
    """Raises TrainError when there is no engine to be found."""
    if config.engine is not None:
        return config.engine
    built = Path(__file__).resolve().parents[4] / "dist" / "cli" / "main.js"
    node = shutil.which("node")
    if built.exists() and node is not None:
        return [node, str(built)]
    installed = shutil.which("sardonyx")
    if installed is None:
        raise TrainError("no engine found: build it (npm run build), put sardonyx on PATH, or set `engine`")
    return [installed]


def check_files(config: LoopConfig) -> None:
    """Raises TrainError for an engine, a book or a checkpoint that is not there, before the loop has worked for what it cannot use."""
    engine = find_engine(config)
    if not engine or shutil.which(engine[0]) is None:
        raise TrainError(f"engine: there is no program '{engine[0] if engine else ''}'")
    own = {"selfplay.book": config.selfplay.book, "gate.book": config.gate.book, "training.start": config.training.start}
    for name, path in own.items():
        if path is not None and not Path(path).is_file():
            raise TrainError(f"{name}: there is no file {path}")


def describe_loop_config() -> list[str]:
    lines = describe_config(LoopConfig)
    place = next(number for number, line in enumerate(lines) if line.startswith("  sections:"))
    note = "; in a loop the following are the defaults, all others as `train --describe` prints them"
    lines[place] = lines[place].replace(": {}", ":") + note
    lines[place + 1 : place + 1] = [f"    {line}" for line in yaml.safe_dump(LOOP_DEFAULTS, sort_keys=False).splitlines()]
    return lines
