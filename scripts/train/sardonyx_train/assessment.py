"""The figures of a network's card, on held-out positions: best moves, centipawns lost, value error, calibration."""

from __future__ import annotations

import json
import math
from argparse import Namespace
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch

from .config import TargetConfig, load_config
from .data.batch import Batch, BatchMaker, expand_planes
from .data.shards import Columns, ShardFormat, find_shards, read_common_format, read_wanted_format
from .data.stream import read_rows
from .data.targets import wdl_from_score
from .encodings import get_input_encoding
from .errors import ShardError
from .export.graph import INPUT_KEY, INPUT_NAME, POLICY_KEY, POLICY_NAME, VALUE_NAME, WDL_NAME
from .export.verify import create_session, win_minus_loss
from .losses import mask_illegal
from .plots import create_figure, write_figure
from .progress_display import ProgressDisplay

_BATCH = 128
_LOSSES_CP = (10, 20, 50)
_BANDS = 8  # of W − L between −1 and 1


def assess_network(options: Namespace) -> int:
    """The figures are printed before the plot is drawn, so a plot that cannot be written does not lose them."""
    targets = TargetConfig() if options.config is None else load_config(options.config).targets
    if options.plot is not None:
        options.plot.parent.mkdir(parents=True, exist_ok=True)
    try:
        model = onnx.load(options.network)
    except Exception as error:  # protobuf has many
        raise ValueError(f"cannot read {options.network}: {error}") from None
    with ProgressDisplay("position", options.positions, "assessing") as progress:
        result = assess(model, options.shards, options.positions, targets, lambda done: progress.advance(done - progress.done))
    print(format_json(result) if options.json else format_assessment(result), flush=True)
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


@dataclass(frozen=True)
class _Rows:
    """One minibatch, one number for each position; NaN if it has no such target."""

    best: np.ndarray
    has_score: np.ndarray
    lost_cp: np.ndarray
    value: np.ndarray
    target: np.ndarray
    by_score: np.ndarray
    result: np.ndarray
    best_without_history: np.ndarray
    value_without_history: np.ndarray


def assess(
    model: onnx.ModelProto,
    shards: list[str],
    positions: int,
    targets: TargetConfig,
    on_progress: Callable[[int], None] = lambda _done: None,
) -> Assessment:
    """Takes `positions` evenly; `on_progress` gets the number done so far. Raises ShardError."""
    files = find_shards(shards)
    form = _read_format(files, model)
    maker = BatchMaker(form, targets, mirror=False)
    history = get_input_encoding(form.input).history
    session = create_session(model)
    names = [output.name for output in session.get_outputs()]
    value_planes = torch.tensor(form.value_planes, dtype=torch.int64)

    def run(planes: torch.Tensor, batch: Batch) -> tuple[np.ndarray, np.ndarray]:
        outputs = dict(zip(names, session.run(None, {INPUT_NAME: planes.numpy()}), strict=True))
        logits = mask_illegal(torch.from_numpy(outputs[POLICY_NAME].astype(np.float32)), batch.legal)
        value = torch.from_numpy(outputs[VALUE_NAME if VALUE_NAME in outputs else WDL_NAME].astype(np.float32))
        return logits.argmax(1).numpy(), win_minus_loss(value).numpy()

    parts: list[_Rows] = []
    done = 0
    for columns in read_rows(files, _BATCH, positions):
        batch = maker.make(columns, np.arange(columns.rows))
        planes = expand_planes(batch.masks, batch.values, value_planes)
        move, value = run(planes, batch)
        other_move, other_value = move, value
        if history:
            planes[:, history[0] : history[-1]] = 0
            other_move, other_value = run(planes, batch)
        parts.append(_compare(columns, batch, move, value, other_move, other_value, targets))
        done += columns.rows
        on_progress(done)
    if not parts:
        raise ShardError("the shards hold no positions")
    return _summarise(parts)


def _read_format(files: list[Path], model: onnx.ModelProto) -> ShardFormat:
    """A file without metadata is assumed to fit these shards."""
    said = {p.key: p.value for p in model.metadata_props}
    if INPUT_KEY not in said or POLICY_KEY not in said:
        return read_common_format(files)
    return read_wanted_format(files, said[INPUT_KEY], said[POLICY_KEY])


def _compare(
    columns: Columns,
    batch: Batch,
    move: np.ndarray,
    value: np.ndarray,
    other_move: np.ndarray,
    other_value: np.ndarray,
    targets: TargetConfig,
) -> _Rows:
    index, best = batch.policy_index.numpy(), batch.best_move.numpy()
    flat_cp, lengths = columns.policy_cp.take(np.arange(columns.rows))
    cp = np.full(index.shape, np.nan, np.float32)
    cp[np.arange(index.shape[1]) < lengths[:, None]] = flat_cp
    chosen = (index == move[:, None]) & ~np.isnan(cp)
    is_scored = ~np.isnan(cp).all(1)
    has_score = np.where(is_scored, chosen.any(1), np.nan)
    highest = np.where(np.isnan(cp), -np.inf, cp).max(1)
    lost = np.where(chosen.any(1), highest - np.where(chosen, cp, 0).sum(1), np.inf)
    has_target = batch.policy_probability.numpy().sum(1) > 0
    wdl = wdl_from_score(columns.cp, targets.wdl_offset_cp, targets.wdl_scale_cp)
    goal = np.where(batch.wdl_weight.numpy() > 0, (batch.wdl[:, 0] - batch.wdl[:, 2]).numpy(), np.nan)
    return _Rows(
        np.where(has_target, best == move, np.nan),
        has_score,
        np.where(is_scored, lost, np.nan),
        value,
        goal,
        wdl[:, 0] - wdl[:, 2],
        columns.result,
        np.where(has_target, best == other_move, np.nan),
        other_value,
    )


def _summarise(parts: list[_Rows]) -> Assessment:
    rows = _Rows(*(np.concatenate([getattr(part, name) for part in parts]) for name in _Rows.__dataclass_fields__))
    band = np.clip(((rows.value + 1) / 2 * _BANDS).astype(int), 0, _BANDS - 1)

    def mean(numbers: np.ndarray) -> float:
        known = numbers[~np.isnan(numbers)]
        return float(known.mean()) if len(known) else float("nan")

    calibration = [
        Band(int(at.sum()), mean(rows.value[at]), mean(rows.by_score[at]), mean(rows.result[at]))
        for at in (band == i for i in range(_BANDS))
        if at.any()
    ]
    return Assessment(
        len(rows.best),
        mean(rows.best),
        mean(rows.has_score),
        {limit: mean(np.where(np.isnan(rows.lost_cp), np.nan, rows.lost_cp <= limit)) for limit in _LOSSES_CP},
        mean(np.abs(rows.value - rows.target)),
        mean(rows.best_without_history),
        mean(np.abs(rows.value - rows.value_without_history)),
        calibration,
    )


def plot_calibration(assessment: Assessment, path: Path) -> Path:
    figure, axes = create_figure(1, 1)
    axis = axes.flat[0]
    predicted = [band.predicted for band in assessment.calibration]
    axis.plot([-1, 1], [-1, 1], color="gray", lw=0.8)
    axis.plot(predicted, [band.by_score for band in assessment.calibration], marker="o", ms=3, label="by score")
    axis.plot(predicted, [band.result for band in assessment.calibration], marker="o", ms=3, label="game result")
    axis.set_xlabel("predicted W − L", fontsize=8)
    axis.set_ylabel("mean W − L", fontsize=8)
    axis.tick_params(labelsize=7)
    axis.grid(alpha=0.3)
    axis.legend(fontsize=7)
    return write_figure(figure, path)


def format_json(result: Assessment) -> str:
    """A figure without any position that has its target is null."""
    return json.dumps(_replace_nan(asdict(result)), allow_nan=False)


def _replace_nan(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _replace_nan(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_replace_nan(inner) for inner in value]
    return None if isinstance(value, float) and math.isnan(value) else value


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
        f"| without history: best move; mean change of W − L | {_format(result.top_1_without_history, '.1%')}; "
        f"{result.value_shift_without_history:.2f} |",
        "",
        "| W − L, predicted | " + " | ".join(f"{band.predicted:+.2f}" for band in result.calibration) + " |",
        "|---|" + "---|" * len(result.calibration),
        "| by score | " + " | ".join(_format(band.by_score, "+.2f") for band in result.calibration) + " |",
        "| game result | " + " | ".join(_format(band.result, "+.2f") for band in result.calibration) + " |",
    ]
    return "\n".join(lines)


def _format(number: float, how: str) -> str:
    return "–" if math.isnan(number) else format(number, how)
