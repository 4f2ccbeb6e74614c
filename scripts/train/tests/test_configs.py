from pathlib import Path

import pytest
from sardonyx_train.config import load_config
from sardonyx_train.model.network import Network

FOLDER = Path(__file__).parent.parent / "configs"
CONFIGS = sorted(path for path in FOLDER.glob("*.yaml") if not path.stem.startswith("loop-"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_every_training_configuration_in_the_repository_is_valid_and_builds_its_network(path):
    config = load_config(path)
    Network(config.model)
    assert config.run.out.startswith("runs/")
