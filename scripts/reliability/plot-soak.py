"""Draws memory and open files of soak runs over time, from the sample files of scripts/soak.mjs.

usage: plot-soak.py --out docs/images/soak.svg "analysis=analysis.jsonl" "bot=bot.jsonl"
"""

import argparse
import json
from pathlib import Path

import matplotlib

matplotlib.use("svg")
import matplotlib.pyplot as plt


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", metavar="NAME=FILE")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    # A fixed salt gives the same file for the same samples.
    plt.rcParams["svg.hashsalt"] = "soak"
    figure, (memory, files) = plt.subplots(2, 1, figsize=(7, 4.5), sharex=True, height_ratios=(3, 1))
    for run in args.runs:
        name, path = run.split("=", 1)
        samples = [json.loads(line) for line in Path(path).read_text().splitlines()]
        minutes = [sample["seconds"] / 60 for sample in samples]
        memory.plot(minutes, [sample["memoryMb"] for sample in samples], label=name)
        files.plot(minutes, [sample["files"] for sample in samples], label=name)
    memory.set_ylabel("memory (MB)")
    files.set_ylabel("open files")
    files.set_xlabel("minutes")
    for axes in (memory, files):
        axes.set_ylim(bottom=0)
        axes.grid(alpha=0.3)
    memory.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(args.out, metadata={"Date": None, "Title": "Memory and open files over time"})


if __name__ == "__main__":
    main()
