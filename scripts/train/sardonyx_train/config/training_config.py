"""The training configuration: one YAML file, checked field by field and stored in every checkpoint.

Every tunable is declared here once, with its default and its meaning; `sardonyx-train train --describe` prints the list. Unknown keys and
values out of range are errors that name the key.
"""

from difflib import get_close_matches
from pathlib import Path
from types import NoneType, UnionType
from typing import Any, Literal, Self, TypeVar, Union, get_args, get_origin

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, field_validator, model_validator
from pydantic.fields import FieldInfo
from pydantic_core import ErrorDetails, PydanticCustomError

from ..base.errors import TrainError
from .encodings import POLICY_SIZES, get_input_encoding
from .presets import PRESETS

_LC0_PLANES = 112  # in all of lc0's input formats
_SIGHT_INPUTS = ("attacks-50",)  # further inputs whose first twelve planes a sight body reads
_SIGNS = (("ge", "≥"), ("gt", ">"), ("le", "≤"), ("lt", "<"), ("multiple_of", "a multiple of"), ("pattern", "of the form"))

_NOUNS = {
    bool: "true or false",
    int: "a whole number",
    float: "a number",
    str: "a text",
    list: "a list",
    dict: "a mapping",
    NoneType: "null",
}


class Section(BaseModel):
    model_config = ConfigDict(extra="forbid")

    @field_validator("*", mode="before")
    @classmethod
    def _takes_no_truth_for_a_number(cls, value: Any, info: ValidationInfo) -> Any:
        kinds = cls.model_fields[info.field_name].annotation
        if isinstance(value, bool) and not {int, float}.isdisjoint(get_args(kinds) or (kinds,)):
            raise PydanticCustomError("truth", "not a number")
        return value


class DataConfig(Section):
    train: list[str] = Field(default_factory=list, description="folders or files of Arrow shards to train on")
    validation: list[str] = Field(default_factory=list, description="folders or files of held-out Arrow shards")
    batch_size: int = Field(512, ge=1, description="positions a step and process, before accumulation")
    workers: int = Field(1, ge=0, le=64, description="loader processes; 0 loads in the training process")
    shuffle_batches: int = Field(12, ge=1, description="record batches (20,000 positions each) mixed in memory")
    mirror: bool = Field(False, description="flip files of half the positions that have no castling right")
    history_dropout: float = Field(0.0, ge=0, le=1, description="share of positions whose boards before a random ply are blanked")
    skip_decided: float = Field(
        0.0, ge=0, lt=1, description="share of a pass left out, of decided positions (|W − L| ≥ 0.98); those that stay weigh more"
    )
    short_mate_copies: int = Field(
        0, ge=0, le=100, description="how often a pass shows a mate in one or two, with the value weight of one position; 0: as others"
    )
    mistake_copies: int = Field(
        0, ge=0, le=100, description="the same for positions whose first impression by `sardonyx label --weights` was wrong"
    )
    mistake_policy_kl: float = Field(2.5, ge=0, description="KL of the label's policy from the network's, in nats, from which it was wrong")
    mistake_value_error: float = Field(0.6, ge=0, le=2, description="difference of W − L from which it was wrong")


class GamesConfig(Section):
    """How `pretrain` makes shards of games; `train` does not read it."""

    min_elo: int = Field(0, ge=0, description="of PGN files: only games in which both players have at least this rating")
    skip_plies: int = Field(0, ge=0, description="plies at the start of each game to leave out")
    positions: int | None = Field(None, ge=1, description="approximate number of positions; all when left out")


class TargetConfig(Section):
    policy_temperature_cp: float = Field(20.0, gt=0, description="T of softmax(score / T) over MultiPV scores")
    policy_compression_cp: float = Field(300.0, gt=0, description="scores beyond this are compressed (log) first")
    policy_mate_step_cp: float = Field(15.0, gt=0, description="how much better a mate is than one a move longer, on the compressed scale")
    policy_one_hot: bool = Field(False, description="train on the best target move alone")
    wdl_offset_cp: float = Field(80.0, ge=0, description="score at which a win is as likely as not")
    wdl_scale_cp: float = Field(100.0, gt=0, description="slope of the score to win-probability logistic")
    result_weight: float = Field(0.1, ge=0, le=1, description="share of the game result in the value target")


class ModelConfig(Section):
    preset: str | None = Field(None, description=f"one of {', '.join(PRESETS)}; other keys override it")
    input: str = Field("lc0-112", description="input encoding of the shards")
    policy: Literal[*POLICY_SIZES] = Field("lc0-1858", description="policy encoding of the shards")
    board_features: bool = Field(False, description="32 more planes, made in the network: attackers, passed pawns, coordinates, material")
    body: Literal["resnet", "transformer", "sight"] = Field("resnet", description="what lies between the planes and the heads")
    filters: int = Field(64, ge=1, description="channels of the body (embedding size of a transformer)")
    blocks: int = Field(6, ge=0, description="residual blocks or encoder layers")
    norm: Literal["batch", "group"] = "batch"
    norm_groups: int = Field(8, ge=1, description="groups of GroupNorm")
    activation: Literal["relu", "gelu", "mish"] = Field("relu", description="of the body and the heads")
    se_ratio: int = Field(0, ge=0, description="squeeze-excitation reduction, 0 for none")
    attention_blocks: int = Field(0, ge=0, description="last residual blocks that get spatial attention")
    heads: int = Field(4, ge=1, description="attention heads, or mixing matrices of a sight body's block")
    sight_lines: Literal["directions", "kinds"] = Field("directions", description="sight: eight directions, or straight and diagonal lines")
    ffn_ratio: float = Field(1.5, gt=0, description="feed-forward size, or a sight body's gate, over filters")
    position_bias: Literal["smolgen", "relative", "none"] = Field("smolgen", description="transformer: how attention depends on squares")
    policy_head: Literal["attention", "convolution", "dense"] = Field("attention", description="layer that computes the moves' logits")
    policy_channels: int = Field(0, ge=0, description="size of the policy head, 0 for the body's")
    value: Literal["wdl", "scalar"] = Field("wdl", description="win, draw, loss, or one number")
    value_channels: int = Field(32, ge=1, description="channels that the value head reduces the board to")
    value_hidden: int = Field(128, ge=1, description="size of the value head's hidden layer")
    moves_left: bool = Field(True, description="whether there is a head for the plies left")
    moves_left_channels: int = Field(8, ge=1, description="as value_channels, of the moves-left head")
    moves_left_hidden: int = Field(64, ge=1, description="as value_hidden, of the moves-left head")

    @model_validator(mode="before")
    @classmethod
    def _apply_preset(cls, raw: Any) -> Any:
        name = raw.get("preset") if isinstance(raw, dict) else None
        if name is None:
            return raw
        if name not in PRESETS:
            raise ValueError(f"unknown preset '{name}', known: {', '.join(PRESETS)}")
        return {**PRESETS[name], **raw}

    @model_validator(mode="after")
    def _reads_men_from_its_planes(self) -> Self:
        if get_input_encoding(self.input).planes != _LC0_PLANES:
            is_blind = self.body == "sight" and self.input not in _SIGHT_INPUTS
            for reader, is_wrong in (("board_features", self.board_features), ("body sight", is_blind)):
                if is_wrong:
                    raise ValueError(f"{reader} needs an input of lc0's 112 planes, not '{self.input}'")
        return self


def is_same_shape(saved: ModelConfig | dict[str, Any], wanted: ModelConfig) -> bool:
    """Whether the weights fit. `saved`: a checkpoint's model section. The preset's name does not matter."""
    keys = saved.model_dump() if isinstance(saved, ModelConfig) else saved
    return read_saved(ModelConfig, {**keys, "preset": None}) == wanted.model_copy(update={"preset": None})


class LossConfig(Section):
    policy: float = Field(1.0, ge=0, description="weight of the policy's cross-entropy")
    value: float = Field(1.0, ge=0, description="weight of the value's loss")
    moves_left: float = Field(0.02, ge=0, description="weight of the moves-left loss")
    reply_policy: float = Field(
        0.0, ge=0, description="weight of a second policy head that learns the opponent's reply, in training only; KataGo: 0.15"
    )
    l2: float = Field(0.0, ge=0, description="weight of half the sum of the squared weights that weight_decay applies to; logged as l2")
    legal_only: bool = Field(True, description="softmax over legal moves only")
    entropy_bonus: float = Field(0.0, ge=0, description="reward for policy entropy")


class OptimizerConfig(Section):
    kind: Literal["adamw", "adam", "sgd", "muon"] = Field(
        "adamw", description="adam: weight_decay is part of the gradient (L2); adamw: it is apart; muon: matrices only, AdamW the rest"
    )
    learning_rate: float = Field(2e-3, gt=0, description="first rate, after the warm-up; of Adam's, AdamW's or SGD's parameters")
    weight_decay: float = Field(1e-4, ge=0, description="decay of all weights except biases, norms and values added to each square")
    momentum: float | None = Field(None, ge=0, lt=1, description="sgd (Nesterov) and muon; when left out 0.9 for sgd, 0.95 for muon")
    beta2: float = Field(0.99, gt=0, lt=1, description="adam, adamw")
    muon_learning_rate: float = Field(0.02, gt=0, description="muon: rate of the matrices; the rest is AdamW")
    gradient_clip: float = Field(0.0, ge=0, description="largest gradient norm, 0 for no limit")
    accumulation: int = Field(1, ge=1, description="batches summed into one step")


class ScheduleConfig(Section):
    kind: Literal["cosine", "linear", "trapezoid", "step", "plateau", "constant"] = Field("cosine", description="how the rates fall")
    max_steps: int | None = Field(None, ge=1, description="planned end in steps")
    max_minutes: float | None = Field(None, gt=0, description="planned end in minutes of training time")
    max_epochs: float | None = Field(None, gt=0, description="planned end in passes over the training positions")
    warmup_steps: int = Field(250, ge=0, description="steps in which the rate rises to the first one")
    warmup_share: float = Field(0.05, gt=0, le=1, description="share of the run after which the rate has risen at the latest")
    final_ratio: float = Field(0.01, ge=0, le=1, description="last learning rate / first")
    decay_start: float = Field(
        0.8, ge=0, lt=1, description="trapezoid: share of the run at which the rate begins to fall; stable.pt is from there"
    )
    milestones: list[float] = Field([0.7, 0.9], description="step: shares of the run at which the rate drops")
    gamma: float = Field(0.1, gt=0, lt=1, description="step, plateau: factor of a drop")
    patience: int = Field(3, ge=1, description="plateau: evaluations without improvement before a drop; epochs with run.evaluate_epochs 1")
    begin: float = Field(0.0, ge=0, le=1, description="share of the schedule that earlier runs have done; this run continues from there")
    end: float = Field(1.0, gt=0, le=1, description="share of the schedule that is done at the end of this run")

    @model_validator(mode="after")
    def _has_end(self) -> Self:
        if self.max_steps is None and self.max_minutes is None and self.max_epochs is None:
            raise ValueError("give max_steps or max_minutes or max_epochs (or several: whichever comes first)")
        if self.begin > self.end:
            raise ValueError("begin must not be above end")
        return self

    def place(self, progress: float) -> float:
        return self.begin + (self.end - self.begin) * progress


class RunConfig(Section):
    name: str = Field("network", description="of the network, in exported files")
    out: str = Field("runs/train", description="folder for checkpoints, logs and plots")
    start_from: str | None = Field(None, description="checkpoint whose averaged weights begin this run; it grows to more blocks")
    start_moments: bool = Field(False, description="start_from also gives its moments and the plateau schedule's drops, if it holds them")
    renorm_max_r: float = Field(
        1.0, ge=1, description="batch renormalisation: largest factor between deviations; 1 and 0: plain batch norm"
    )
    renorm_max_d: float = Field(0.0, ge=0, description="batch renormalisation: largest shift between means, in deviations")
    renorm_steps: int = Field(1000, ge=0, description="steps in which both limits rise from those of plain batch norm")
    seed: int = Field(1, ge=0, le=2**63 - 1, description="of weights, shuffling and mirroring")
    device: str = Field("auto", description="auto, cpu, cuda, cuda:1 …")
    threads: int = Field(0, ge=0, le=512, description="CPU threads of torch, 0 for all")
    precision: Literal["auto", "fp32", "bf16", "fp16"] = Field(
        "auto", description="of training; auto measures which is fastest here; evaluation is in fp32"
    )
    compile: bool = Field(False, description="torch.compile the network")
    checkpoint_activations: bool = Field(False, description="recompute block activations in the backward pass")
    ema_decay: float = Field(0.999, ge=0, lt=1, description="0 for no averaging")
    checkpoint_minutes: float = Field(5.0, gt=0, description="between two checkpoints")
    evaluate_minutes: float = Field(5.0, gt=0, description="between two evaluations on held-out positions")
    evaluate_steps: int | None = Field(None, ge=1, description="evaluate every this many steps instead")
    evaluate_epochs: float | None = Field(None, gt=0, description="evaluate every this many passes over the training positions instead")
    evaluate_positions: int = Field(20_000, ge=1, description="held-out positions of an evaluation")
    early_stopping: int = Field(0, ge=0, description="stop after this many evaluations without improvement; 0 = never")
    log_steps: int = Field(20, ge=1, description="steps between two rows of the history")
    tensorboard: bool = Field(True, description="write the folder's tensorboard/ too")
    licence: str = Field("GPL-3.0-or-later", description="of the network, in exported files")

    @property
    def renorms(self) -> bool:
        return self.renorm_max_r > 1 or self.renorm_max_d > 0


class TrainingConfig(Section):
    games: GamesConfig = Field(default_factory=GamesConfig)
    data: DataConfig = Field(default_factory=DataConfig)
    targets: TargetConfig = Field(default_factory=TargetConfig)
    model: ModelConfig = Field(default_factory=ModelConfig)
    loss: LossConfig = Field(default_factory=LossConfig)
    optimizer: OptimizerConfig = Field(default_factory=OptimizerConfig)
    schedule: ScheduleConfig
    run: RunConfig = Field(default_factory=RunConfig)

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        run, norm = self.run, self.model.norm
        is_blind = not self.data.validation
        for is_wrong, why in (
            (run.renorms and norm != "batch", f"run.renorm_max_r and run.renorm_max_d need model.norm batch, not {norm}"),
            (run.evaluate_steps and run.evaluate_epochs, "give run.evaluate_steps or run.evaluate_epochs, not both"),
            (run.start_moments and run.start_from is None, "run.start_moments needs run.start_from"),
            (is_blind and self.schedule.kind == "plateau", "schedule.kind plateau needs data.validation, on which improvement is measured"),
            (is_blind and run.early_stopping > 0, "run.early_stopping needs data.validation, on which improvement is measured"),
        ):
            if is_wrong:
                raise ValueError(why)
        return self


def parse_config(raw: Any) -> TrainingConfig:
    """Raises TrainError with one line for each wrong key."""
    return validate(TrainingConfig, raw, "data, model, schedule …")


def load_config(path: Path | None, overrides: list[str] | None = None, values: dict[str, dict[str, Any]] | None = None) -> TrainingConfig:
    """Reads a YAML file, then applies the sections `values`, then overrides `section.key=value` with the value in YAML."""
    raw = merge(read_yaml(path), values or {})
    for text in overrides or []:
        override(raw, text)
    return parse_config(raw)


_Model = TypeVar("_Model", bound=BaseModel)


def validate(model: type[_Model], raw: Any, sections: str) -> _Model:
    """Raises TrainError with one line for each wrong key. `sections`: some names, for the sentence."""
    if not isinstance(raw, dict):
        raise TrainError(f"the configuration must be a mapping of sections ({sections})")
    try:
        return model.model_validate(raw)
    except ValidationError as error:
        raise TrainError("\n".join(dict.fromkeys(_explain(model, e) for e in error.errors()))) from None


def _explain(model: type[BaseModel], error: ErrorDetails) -> str:
    """One sentence: the key, its value, and what is allowed there."""
    kind = error["type"]
    place = [part for part in error["loc"] if part not in ("bool", "int", "float", "str")]  # of a key that may be any of them
    path, inner, bounds = ".".join(map(str, place)), model, []
    for part in place[:-1] if kind == "extra_forbidden" else place:
        section = _find_section(inner)
        if section is None:  # an entry of a list or a mapping
            inner = (get_args(inner) or (inner,))[-1]
        else:
            inner, bounds = section.model_fields[part].annotation, section.model_fields[part].metadata
    if kind == "extra_forbidden":
        names = list(_find_section(inner).model_fields)
        near = get_close_matches(str(place[-1]), names, 1)
        return f"{path}: there is no such key; " + (f"did you mean {near[0]}?" if near else f"there are {', '.join(names)}")
    if kind == "missing":
        return f"{path} is missing"
    if kind == "value_error":
        return (f"{path}: " if path else "") + error["msg"].removeprefix("Value error, ")
    return f"{path} must be {_describe_allowed(inner, bounds)}, not {error['input']!r:.80}"


def _describe_allowed(annotation: Any, metadata: list[Any]) -> str:
    if _find_section(annotation) is not None:
        return "a section of keys"
    if get_origin(annotation) is Literal:
        return f"one of {', '.join(map(str, get_args(annotation)))}"
    if get_origin(annotation) in (Union, UnionType):
        kinds = get_args(annotation)
        return " or ".join(_describe_allowed(kind, metadata) for kind in kinds if kind is not int or float not in kinds)
    bounds = " and ".join(_list_bounds(metadata)) if annotation in (int, float, str) else ""
    return f"{_NOUNS[get_origin(annotation) or annotation]} {bounds}".rstrip()


def _list_bounds(metadata: list[Any]) -> list[str]:
    return [f"{sign} {getattr(bound, kind)}" for bound in metadata for kind, sign in _SIGNS if hasattr(bound, kind)]


def _find_section(annotation: Any) -> type[BaseModel] | None:
    """The section that a key holds, or may hold; None if it holds a value."""
    kinds = (annotation, *get_args(annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def read_saved(model: type[_Model], raw: Any) -> _Model:
    """A checkpoint's configuration, or its section of the network. Keys that earlier programs had besides are left out."""
    run = raw.get("run") if isinstance(raw, dict) else None
    if isinstance(run, dict):
        raw = {**raw, "run": {key: value for key, value in run.items() if key not in ("quantisation_aware", "signed_share")}}
    try:
        return validate(model, raw, "data, model …")
    except TrainError as error:
        raise TrainError(f"this program does not know the checkpoint's configuration ({str(error).splitlines()[0]})") from None


def read_yaml(path: Path | None) -> dict[str, Any]:
    if path is None:
        raise TrainError("--config is needed")
    try:
        raw = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, yaml.YAMLError) as error:
        why = error.strerror if isinstance(error, OSError) else " ".join(str(error).split())
        raise TrainError(f"cannot read {path}: {why}") from None
    if not isinstance(raw, dict) and raw is not None:
        raise TrainError(f"{path} is not a mapping of sections")
    return raw or {}


def merge(raw: dict[str, Any], other: dict[str, Any]) -> dict[str, Any]:
    """Sections of both, key by key; where both name a key that is no section, `other` wins."""
    merged = dict(raw)
    for name, value in other.items():
        mine = merged.get(name)
        merged[name] = merge(mine, value) if isinstance(mine, dict) and isinstance(value, dict) else value
    return merged


def override(raw: dict[str, Any], text: str) -> None:
    """`section.key=value`, or deeper, with the value in YAML; changes `raw`."""
    key, separator, value = text.partition("=")
    *path, last = key.split(".")
    if separator == "" or last == "":
        raise TrainError(f"override '{text}' is not section.key=value")
    place = raw
    for part in path:
        inner = place.get(part)
        inner = place[part] = {} if inner is None else inner
        if not isinstance(inner, dict):
            raise TrainError(f"override '{text}': {part} is not a section")
        place = inner
    try:
        place[last] = yaml.safe_load(value)
    except yaml.YAMLError:
        raise TrainError(f"override '{text}': '{value}' is not YAML") from None


def format_config(config: BaseModel) -> str:
    return yaml.safe_dump(config.model_dump(), sort_keys=False, allow_unicode=True)


def describe_config(model: type[BaseModel] = TrainingConfig) -> list[str]:
    """Every key with its default, meaning, choices and range, as lines of commented YAML."""
    lines: list[str] = []
    for name, field in model.model_fields.items():
        section = _find_section(field.annotation)
        if section is None:
            lines.append(describe_key(name, field).lstrip())
            continue
        lines.append(f"{name}:" + (f"  # {field.description}" if field.description else ""))
        lines.extend(describe_key(key, inner) for key, inner in section.model_fields.items())
    return lines


def describe_key(name: str, key: FieldInfo) -> str:
    """One line of a section: default, meaning, choices and bounds."""
    default = yaml.safe_dump(key.get_default(call_default_factory=True), default_flow_style=True, width=1000)
    choices = get_args(key.annotation) if get_origin(key.annotation) is Literal else ()
    notes = [key.description or "", ", ".join(map(str, choices)), ", ".join(_list_bounds(key.metadata))]
    note = "; ".join(text for text in notes if text)
    return f"  {name}: {default.splitlines()[0]}" + (f"  # {note}" if note else "")
