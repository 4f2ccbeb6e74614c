"""The figures of a network's card, on held-out positions: best moves, centipawns lost, value error, calibration."""

import math
from argparse import Namespace
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
import torch
from pydantic import TypeAdapter

from ..base.errors import TrainError
from ..base.progress_display import ProgressDisplay
from ..config.encodings import get_input_encoding
from ..config.training_config import TargetConfig, load_config
from ..data.batch import Batch, BatchMaker
from ..data.shards import Columns, find_shards, read_common_format, read_wanted_format, require_rows
from ..data.stream import read_rows
from ..data.targets import wdl_from_score
from ..export.graph import INPUT_KEY, INPUT_NAME, POLICY_KEY, POLICY_NAME, VALUE_NAME, WDL_NAME
from ..export.phases import evaluate
from ..export.verify import create_session
from ..training.losses import mask_illegal, win_minus_loss
from ..training.plots import draw, label_axis
from .networks import read_model

_BATCH = 128
_LOSSES_CP = (10, 20, 50)
_BANDS = 8  # of W − L between −1 and 1


def assess_network(options: Namespace) -> int:
    """The figures are printed before the plot is drawn, so a plot that cannot be written does not lose them."""
    targets = TargetConfig() if options.config is None else load_config(options.config).targets
    if options.plot is not None:
        options.plot.parent.mkdir(parents=True, exist_ok=True)
    result = assess(read_model(options.network), options.shards, options.positions, targets)
    # In JSON a figure without any position that has its target is null.
    print(TypeAdapter(Assessment).dump_json(result).decode() if options.json else format_assessment(result), flush=True)
    if options.plot is not None:
        plot_calibration(result, options.plot)
    return 0


@dataclass(frozen=True)
class Band:
    """Positions whose predicted W − L is in the band; means of W − L, mover's view. `result`: only games with a result."""

    positions: int
    predicted: float
    by_score: float
    result: float


@dataclass(frozen=True)
class Assessment:
    """Shares are between 0 and 1, of the positions that have the target; NaN if none has it."""

    positions: int
    top_1: float  # best legal move = best target move
    among_targets: float  # … is one of the moves with a score
    within_cp: dict[int, float]  # … loses at most this much by the scores; a move without a score loses more
    value_error: float  # mean |W − L − target|
    top_1_without_history: float
    value_shift_without_history: float  # mean |change of W − L|
    calibration: list[Band]


def assess(model: onnx.ModelProto, shards: list[str], positions: int, targets: TargetConfig) -> Assessment:
    """Takes `positions` evenly. Raises TrainError."""
    files = find_shards(shards)
    said = {p.key: p.value for p in model.metadata_props}
    # A file without metadata is assumed to fit these shards.
    is_marked = INPUT_KEY in said and POLICY_KEY in said
    form = read_wanted_format(files, said[INPUT_KEY], said[POLICY_KEY]) if is_marked else read_common_format(files)
    maker = BatchMaker(form, targets, mirror=False)
    require_rows(files)
    history = get_input_encoding(form.input).history
    session = create_session(model)
    names = [output.name for output in session.get_outputs()]
    if session.get_inputs()[0].name != INPUT_NAME or POLICY_NAME not in names or not {VALUE_NAME, WDL_NAME} & {*names}:
        raise TrainError(f"the network is none of ours or lc0's: it needs {INPUT_NAME}, {POLICY_NAME} and {WDL_NAME} or {VALUE_NAME}")

    def run(planes: torch.Tensor, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        outputs = dict(zip(names, evaluate(session, planes.numpy()), strict=True))
        logits = mask_illegal(torch.from_numpy(outputs[POLICY_NAME].astype(np.float32)), batch.legal)
        value = torch.from_numpy(outputs[VALUE_NAME if VALUE_NAME in outputs else WDL_NAME].astype(np.float32))
        return logits.argmax(1).numpy(), win_minus_loss(value).numpy()

    parts: list[dict[str, np.ndarray]] = []
    with ProgressDisplay("position", positions, "assessing") as progress:
        for columns in read_rows(files, _BATCH, positions):
            batch = maker.make(columns, np.arange(columns.rows))
            planes = batch.expand_planes()
            move, value = other_move, other_value = run(planes, batch)
            if history:
                planes[:, history[0] : history[-1]] = 0
                other_move, other_value = run(planes, batch)
            has_target = batch.policy_probability.numpy().sum(1) > 0
            wdl = wdl_from_score(columns.cp, targets)
            parts.append(
                {
                    "best": np.where(has_target, batch.best_move.numpy() == move, np.nan),
                    **_find_losses(columns, batch, move),
                    "value": value,
                    "target": np.where(batch.wdl_weight.numpy() > 0, win_minus_loss(batch.wdl).numpy(), np.nan),
                    "by_score": wdl[:, 0] - wdl[:, 2],
                    "result": columns.result,
                    "best_without_history": np.where(has_target, batch.best_move.numpy() == other_move, np.nan),
                    "value_without_history": other_value,
                }
            )
            progress.advance(columns.rows)
    return _summarise({name: np.concatenate([part[name] for part in parts]) for name in parts[0]})


def _find_losses(columns: Columns, batch: Batch, move: np.ndarray) -> dict[str, np.ndarray]:
    """Whether the chosen moves have a score, and the centipawns that they lose by the scores; NaN where no move has one."""
    index = batch.policy_index.numpy()
    flat_cp, lengths = columns.policy_cp.take(np.arange(columns.rows))
    cp = np.full(index.shape, np.nan, np.float32)
    cp[np.arange(index.shape[1]) < lengths[:, None]] = flat_cp
    chosen = (index == move[:, None]) & ~np.isnan(cp)
    is_scored = ~np.isnan(cp).all(1)
    highest = np.where(np.isnan(cp), -np.inf, cp).max(1)
    lost = np.where(chosen.any(1), highest - np.where(chosen, cp, 0).sum(1), np.inf)
    return {"has_score": np.where(is_scored, chosen.any(1), np.nan), "lost_cp": np.where(is_scored, lost, np.nan)}


def _summarise(rows: dict[str, np.ndarray]) -> Assessment:
    """`rows`: one number for each position, NaN if it has no such target."""
    band = np.clip(((rows["value"] + 1) / 2 * _BANDS).astype(int), 0, _BANDS - 1)

    def mean(numbers: np.ndarray) -> float:
        known = numbers[~np.isnan(numbers)]
        return float(known.mean()) if len(known) else float("nan")

    calibration = [
        Band(int(at.sum()), mean(rows["value"][at]), mean(rows["by_score"][at]), mean(rows["result"][at]))
        for at in (band == i for i in range(_BANDS))
        if at.any()
    ]
    return Assessment(
        len(rows["best"]),
        mean(rows["best"]),
        mean(rows["has_score"]),
        {limit: mean(np.where(np.isnan(rows["lost_cp"]), np.nan, rows["lost_cp"] <= limit)) for limit in _LOSSES_CP},
        mean(np.abs(rows["value"] - rows["target"])),
        mean(rows["best_without_history"]),
        mean(np.abs(rows["value"] - rows["value_without_history"])),
        calibration,
    )


def plot_calibration(assessment: Assessment, path: Path) -> None:
    with draw(path) as (axis,):
        axis.plot([-1, 1], [-1, 1], color="gray", lw=0.8)
        for name, label in (("by_score", "by score"), ("result", "game result")):
            points = [(band.predicted, getattr(band, name)) for band in assessment.calibration]
            axis.plot(*zip(*points), marker="o", ms=3, label=label)
        label_axis(axis, "predicted W − L", "mean W − L")
        axis.legend(fontsize=7)


def format_assessment(result: Assessment) -> str:
    """Markdown, as in the cards in models/."""
    limits = " / ".join(str(limit) for limit in result.within_cp)
    within = " / ".join(_format(share, ".1%") for share in result.within_cp.values())
    lines = [
        f"| {result.positions:,} held-out positions | |",
        "|---|---|",
        f"| best legal move = best move of the targets | {_format(result.top_1, '.1%')} |",
        f"| loses at most {limits} cp by their scores | {within} |",
        f"| is among the moves that have a score | {_format(result.among_targets, '.1%')} |",
        f"| mean error of W − L | {_format(result.value_error, '.3f')} |",
        (
            f"| without history: best move; mean change of W − L | {_format(result.top_1_without_history, '.1%')}; "
            f"{result.value_shift_without_history:.2f} |"
        ),
        "",
        "| W − L, predicted | " + " | ".join(f"{band.predicted:+.2f}" for band in result.calibration) + " |",
        "|---|" + "---|" * len(result.calibration),
        "| by score | " + " | ".join(_format(band.by_score, "+.2f") for band in result.calibration) + " |",
        "| game result | " + " | ".join(_format(band.result, "+.2f") for band in result.calibration) + " |",
    ]
    return "\n".join(lines)


def _format(number: float, how: str) -> str:
    return "–" if math.isnan(number) else format(number, how)
