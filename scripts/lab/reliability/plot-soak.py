"""Draws memory and open files of soak runs over time, from the sample files of scripts/lab/soak.mjs.

usage: .venv/bin/python scripts/lab/reliability/plot-soak.py docs/images/soak.svg "analysis=analysis.jsonl" "bot=bot.jsonl"
"""

import sys
from pathlib import Path

from sardonyx_train.base.files import read_rows
from sardonyx_train.training.plots import draw, label_axis

out, *runs = sys.argv[1:]
with draw(Path(out), 1, 2) as (memory, files):
    for run in runs:
        name, path = run.split("=", 1)
        samples = read_rows(Path(path))
        for axis, key in ((memory, "memoryMb"), (files, "files")):
            axis.plot([sample["seconds"] / 60 for sample in samples], [sample[key] for sample in samples], label=name)
    for axis, title in ((memory, "memory (MB)"), (files, "open files")):
        axis.set_ylim(bottom=0)
        label_axis(axis, "minutes", title)
    memory.legend(fontsize=7)
