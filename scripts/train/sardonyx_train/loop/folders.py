"""Paths of a loop's files. Folder names sort by generation."""

from pathlib import Path


class Folders:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.plots = root / "plots"
        self.networks = root / "networks"
        self.best = root / "best.onnx"  # a copy of the best network, at a path that does not change
        self.workers = root / "workers.json"  # the cluster's nodes and their tasks, as the loop last saw them
        self.stream = root / "stream"  # games of self-play without pause that no generation has taken yet

    def network(self, generation: int) -> Path:
        return self.networks / f"{generation:04d}.onnx"

    def checkpoint(self, generation: int) -> Path:
        """The weights from which the network was exported, without the optimiser's state."""
        return self.networks / f"{generation:04d}.pt"

    def version(self, generation: int) -> Path:
        """A record of the network's origin (versions.py)."""
        return self.root / "versions" / f"{generation:04d}.json"

    def generation(self, number: int, part: str = "") -> Path:
        """`part`: games, shards, training, gate or measure."""
        return self.root / "generations" / f"{number:04d}" / part
