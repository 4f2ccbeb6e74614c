#!/usr/bin/env python3
"""Measures a network on held-out positions: `assess.py models/default.onnx --shards runs/shards/test` prints its card's figures.

It prints them before it draws the plot, so a plot that cannot be written does not lose them.
"""

from __future__ import annotations

import argparse
import math
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

import onnx

from sardonyx_train.assessment import Assessment, assess, plot_calibration
from sardonyx_train.config import ConfigError, TargetConfig, load_config
from sardonyx_train.data.shards import ShardError
from sardonyx_train.progress_display import ProgressDisplay


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Measure an ONNX network on held-out positions.")
    parser.add_argument("network", type=Path, help="ONNX file")
    parser.add_argument("--shards", nargs="+", required=True, help="folders or files of held-out shards")
    parser.add_argument(
        "--config",
        type=Path,
        help="training configuration whose section targets to use; default: the defaults of train.py, "
        "whatever the network was trained with",
    )
    parser.add_argument("--positions", type=int, default=20_000, help="number of positions, taken evenly (default 20,000)")
    parser.add_argument("--plot", type=Path, metavar="PNG", help="draw the calibration of the value")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    try:
        targets = TargetConfig() if options.config is None else load_config(options.config).targets
        if options.plot is not None:
            options.plot.parent.mkdir(parents=True, exist_ok=True)
        result = _assess(options, targets)
        print(format_json(result) if options.json else format_assessment(result), flush=True)
        if options.plot is not None:
            plot_calibration(result, options.plot)
    except (ConfigError, ShardError, ValueError, OSError) as error:
        print(f"assess: {error}", file=sys.stderr)
        return 1
    return 0


def _assess(options: argparse.Namespace, targets: TargetConfig) -> Assessment:
    try:
        model = onnx.load(options.network)
    except Exception as error:
        raise ValueError(f"cannot read {options.network}: {error}") from None
    with ProgressDisplay("position", options.positions, "assessing") as progress:
        return assess(model, options.shards, options.positions, targets, lambda done: progress.advance(done - progress.done))


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


if __name__ == "__main__":
    sys.exit(main())
