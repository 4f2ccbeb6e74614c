import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")  # before torch: waiting threads must not spin on a busy machine

import pytest
import torch

os.environ["PYTHONPATH"] = os.pathsep.join(str(folder) for folder in (Path(__file__).parent.parent, Path(__file__).parent))  # of children
sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

torch.set_num_threads(1)  # tiny tensors


@pytest.fixture
def shard_folder(tmp_path: Path) -> Path:
    """Two files of two record batches of 96 positions each."""
    from train_support.synthetic import write_shard

    folder = tmp_path / "shards"
    folder.mkdir()
    for number in range(2):
        write_shard(folder / f"{number:04d}.arrow", seed=number, batches=2, rows=96)
    return folder


@pytest.fixture(autouse=True)
def _without_pictures(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Drawing its losses takes three times as long as all the rest of a tiny run."""
    if request.node.get_closest_marker("pictures") is None:
        from sardonyx_train.training import trainer

        monkeypatch.setattr(trainer, "plot_history", lambda folder: None)


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "slow: runs only with SARDONYX_SLOW_TESTS=1")
    config.addinivalue_line("markers", "pictures: runs of the trainer draw their losses")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Rows marked `slow` start many processes and kill them; their deadlines want a machine that is not busy."""
    if os.environ.get("SARDONYX_SLOW_TESTS") == "1":
        return
    skip = pytest.mark.skip(reason="slow: set SARDONYX_SLOW_TESTS=1")
    for item in items:
        if item.get_closest_marker("slow") is not None:
            item.add_marker(skip)
