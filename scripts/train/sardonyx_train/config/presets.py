"""Named network shapes of three earlier programs (mini-leela, Razzle Dazzle, NeuralMate2) and of ours. A key left out has its default."""

from typing import Any

_RAZZLE: dict[str, Any] = {
    "policy": "from-to-4096",
    "policy_head": "dense",
    "policy_channels": 2,
    "value": "scalar",
    "value_channels": 1,
    "value_hidden": 64,
    "moves_left": False,
}
_SIGHT: dict[str, Any] = {"body": "sight", "heads": 8, "ffn_ratio": 1.0, "board_features": True}

PRESETS: dict[str, dict[str, Any]] = {
    "mini-leela": {
        "input": "mini-19",
        "policy": "from-to-4096",
        "filters": 128,
        "blocks": 4,
        "policy_head": "dense",
        "policy_channels": 32,
        "value": "scalar",
        "value_hidden": 256,
        "moves_left": False,
    },
    "razzle-tiny": {**_RAZZLE, "filters": 32, "blocks": 4},
    "razzle-default": {**_RAZZLE, "filters": 64, "blocks": 6},
    "razzle-large": {**_RAZZLE, "filters": 128, "blocks": 10},
    "razzle-full": {**_RAZZLE, "filters": 256, "blocks": 19},
    "neuralmate2": {
        "input": "neuralmate-68",
        "policy": "alphazero-4672",
        "filters": 192,
        "blocks": 12,
        "se_ratio": 8,
        "attention_blocks": 2,
        "norm": "group",
        "activation": "gelu",
        "policy_head": "convolution",
        "value_channels": 8,
        "value_hidden": 512,
        "moves_left": False,
    },
    "sardonyx-64x6": {"se_ratio": 4, "filters": 64, "blocks": 6},
    "sardonyx-96x8": {"se_ratio": 4, "filters": 96, "blocks": 8},
    "sardonyx-128x10": {"se_ratio": 4, "filters": 128, "blocks": 10},
    "sardonyx-192x10": {"se_ratio": 4, "filters": 192, "blocks": 10},
    "sardonyx-sight-96x6": {**_SIGHT, "filters": 96, "blocks": 6},
    "sardonyx-sight-96x8": {**_SIGHT, "filters": 96, "blocks": 8},
    "sardonyx-sight-96x12": {**_SIGHT, "filters": 96, "blocks": 12},
    "sardonyx-transformer": {"body": "transformer", "filters": 192, "blocks": 8, "heads": 6, "activation": "mish"},
}
