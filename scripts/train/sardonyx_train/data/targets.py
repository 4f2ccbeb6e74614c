"""Scores and results → training targets. Pure numpy formulas, all from the mover's view.

Why a temperature: a search of a few thousand nodes ranks moves that differ by 20 centipawns almost by chance, so its
best move alone is a noisy label; softmax(score / T) over the MultiPV scores says how much each move matters.
Why compression: 800 against 900 centipawns decides nothing, 0 against 100 does. Mates keep their order.
"""

import numpy as np

from ..config.training_config import TargetConfig

MATE_BASE = 32000
MATE_FLOOR = 31000  # beyond this a score is ±(MATE_BASE − 2·moves to mate)
_PLAIN_LIMIT = 835.0  # compressed scores without a mate stay below this
_LONGEST_MATE = 50  # mates farther away count as this far, in moves


def compress_scores(cp: np.ndarray, config: TargetConfig) -> np.ndarray:
    """sign·scale·ln(1 + |cp|/scale); mates lie above all other scores, each a step above the mate one move longer."""
    size, scale = np.abs(cp), config.policy_compression_cp
    plain = np.minimum(scale * np.log1p(size / scale), _PLAIN_LIMIT)
    moves = np.clip((MATE_BASE - size) / 2, 0, _LONGEST_MATE)
    mate = _PLAIN_LIMIT + config.policy_mate_step_cp * (_LONGEST_MATE + 1 - moves)
    return np.sign(cp) * np.where(size >= MATE_FLOOR, mate, plain)


def policy_from_scores(cp: np.ndarray, config: TargetConfig) -> np.ndarray:
    """cp [rows, k], NaN where a row has fewer moves → probabilities [rows, k] (0 there)."""
    score = np.where(np.isnan(cp), -np.inf, compress_scores(np.nan_to_num(cp), config)) / config.policy_temperature_cp
    weights = np.exp(score - score.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def wdl_from_score(cp: np.ndarray, config: TargetConfig) -> np.ndarray:
    """Win = σ((cp − offset) / scale), loss its mirror image, draw the rest. Returns [rows, 3]."""
    win, loss = (_sigmoid((score - config.wdl_offset_cp) / config.wdl_scale_cp) for score in (cp, -cp))
    return np.stack([win, np.maximum(0, 1 - win - loss), loss], axis=1)


def wdl_from_value(q: np.ndarray, d: np.ndarray) -> np.ndarray:
    """Search value W − L and draw probability → [rows, 3]."""
    d = np.clip(d, 0, 1 - np.abs(q))
    return np.stack([(1 - d + q) / 2, d, (1 - d - q) / 2], axis=1)


def value_target(result: np.ndarray, cp: np.ndarray, q: np.ndarray, d: np.ndarray, config: TargetConfig) -> np.ndarray:
    """The search's own q and d if known, else the score, mixed with the result; NaN in rows without any of them.

    All arrays [rows], NaN for unknown. Returns WDL [rows, 3].
    """
    searched = np.where(np.isnan(q)[:, None], wdl_from_score(cp, config), wdl_from_value(q, d))
    outcome = np.stack([result > 0, result == 0, result < 0], axis=1).astype(np.float32)
    played = np.where(np.isnan(result)[:, None], np.nan, outcome)
    mixed = (1 - config.result_weight) * searched + config.result_weight * played
    either = np.where(np.isnan(searched), played, searched)
    return np.where(np.isnan(mixed), either, mixed).astype(np.float32)


def _sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-np.clip(x, -60, 60)))
