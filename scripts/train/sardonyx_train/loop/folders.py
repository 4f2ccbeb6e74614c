"""Paths of a loop's files. Folder names sort by generation."""

from pathlib import Path


class Folders:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.plots = root / "plots"
        self.networks = root / "networks"

    def network(self, generation: int) -> Path:
        return self.networks / f"{generation:04d}.onnx"

    def checkpoint(self, generation: int) -> Path:
        """The weights from which the network was exported, without the optimiser's state."""
        return self.networks / f"{generation:04d}.pt"

    def version(self, generation: int) -> Path:
        """A record of the network's origin (versions.py)."""
        return self.root / "versions" / f"{generation:04d}.json"

    @property
    def best(self) -> Path:
        """A copy of the best network, at a path that does not change."""
        return self.root / "best.onnx"

    @property
    def workers(self) -> Path:
        """The cluster's nodes and their tasks, as the loop last saw them."""
        return self.root / "workers.json"

    def generation(self, number: int, part: str = "") -> Path:
        """`part`: games, shards, training, gate or measure."""
        return self.root / "generations" / f"{number:04d}" / part

    @property
    def stream(self) -> Path:
        """Games of self-play without pause that no generation has taken yet."""
        return self.root / "stream"
