import json

import numpy as np
import pytest
import torch
from explain import main as explain_main
from explain import read_packed, read_row
from sardonyx_train.config import ModelConfig, parse_config
from sardonyx_train.distributed import join
from sardonyx_train.explain import explain
from sardonyx_train.model.network import Network
from sardonyx_train.trainer import Trainer


@pytest.fixture
def run(shard_folder, tmp_path):
    config = parse_config(
        {
            "data": {"train": [str(shard_folder)], "batch_size": 64, "workers": 0},
            "model": {"filters": 16, "blocks": 1, "heads": 2},
            "optimizer": {"learning_rate": 0.01},
            "schedule": {"max_steps": 40, "warmup_steps": 5},
            "run": {"out": str(tmp_path), "precision": "fp32", "tensorboard": False, "device": "cpu", "ema_decay": 0.8},
        }
    )
    trainer = Trainer(config, join("cpu"))
    trainer.run(None)
    return trainer.average.network


def test_the_squares_that_make_the_move_matter_most_to_the_policy(run, shard_folder):
    """In the made-up shards one piece moves to the one marked square: those two squares are all there is."""
    path = shard_folder / "0000.arrow"
    found = 0
    for row in range(10):
        planes, legal = read_row(path, row)
        marked = {int(planes[0, p].flatten().argmax()) for p in (0, 1)}
        result = explain(run, planes, legal)
        found += int(np.abs(result.policy_occlusion).argmax()) in marked
        assert result.policy_gradient.shape == (8, 8)
        elsewhere = [s for s in range(64) if s not in marked]
        assert np.allclose(result.policy_occlusion.flatten()[elsewhere], 0, atol=1e-6)
    assert found == 10


def test_full_planes_are_not_occluded():
    network = Network(ModelConfig(filters=8, blocks=0, heads=2)).eval()
    planes = torch.zeros(1, 112, 8, 8)
    planes[0, 111] = 1
    result = explain(network, planes, torch.tensor([0, 1]))
    assert np.abs(result.value_occlusion).max() == 0


def test_the_command_draws_a_shard_row_and_a_packed_position_alike(run, shard_folder, tmp_path, capsys):
    path = shard_folder / "0000.arrow"
    planes, legal = read_row(path, 3)
    masks = [hex(sum(1 << s for s in range(64) if planes[0, p].flatten()[s] != 0)) for p in range(112)]
    packed = tmp_path / "position.json"
    packed.write_text(json.dumps({"masks": masks, "values": [[109, float(planes[0, 109].max())]], "legal": legal.tolist()}))
    again, _ = read_packed(packed.read_text(), 112, 1858)
    assert torch.equal(again, planes)
    checkpoint = str(tmp_path / "last.pt")
    assert explain_main([checkpoint, "--shard", str(path), "--row", "3", "--out", str(tmp_path / "a.png")]) == 0
    assert explain_main([checkpoint, "--packed", str(packed), "--out", str(tmp_path / "b.png")]) == 0
    first, second = capsys.readouterr().out.strip().splitlines()[-2:]
    assert first.split(": ", 1)[1] == second.split(": ", 1)[1]
    assert (tmp_path / "a.png").read_bytes()[:4] == b"\x89PNG"


def test_a_malformed_position_is_said(run, tmp_path, capsys):
    packed = tmp_path / "position.json"
    packed.write_text('{"masks": ["0x1"], "values": [], "legal": [5]}')
    assert explain_main([str(tmp_path / "last.pt"), "--packed", str(packed)]) == 1
    assert "explain: the packed position needs 112 masks" in capsys.readouterr().err
