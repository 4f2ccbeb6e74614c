"""The mean of several checkpoints' weights."""

import torch
from sardonyx_train.program import main
from sardonyx_train.training.checkpoint import read_checkpoint, write_weights


def _write(path, scale, step=7):
    weights = {"layer.weight": torch.full((2, 3), scale), "norm.num_batches_tracked": torch.tensor(step)}
    write_weights(path, {"run": {"name": path.stem}}, weights)
    return str(path)


def test_weights_are_averaged_and_counts_are_the_first_ones(tmp_path, capsys):
    parts = [_write(tmp_path / "a.pt", 1.0), _write(tmp_path / "b.pt", 4.0, step=9)]
    out = tmp_path / "new" / "mean.pt"
    assert main(["average", *parts, "--out", str(out)]) == 0
    state = read_checkpoint(out)
    for kind in ("network", "average"):
        assert torch.equal(state[kind]["layer.weight"], torch.full((2, 3), 2.5))
        assert state[kind]["norm.num_batches_tracked"] == 7
    assert state["config"]["run"]["name"] == "a"
    assert "mean of 2 checkpoints" in capsys.readouterr().out


def test_other_shapes_and_unreadable_files_are_refused_in_one_sentence(tmp_path, capsys):
    first, other = _write(tmp_path / "a.pt", 1.0), tmp_path / "b.pt"
    write_weights(other, {}, {"layer.weight": torch.zeros(3, 2)})
    assert main(["average", first, str(other), "--out", str(tmp_path / "mean.pt")]) == 1
    assert "different shapes" in capsys.readouterr().err
    assert main(["average", first, str(tmp_path / "none.pt"), "--out", str(tmp_path / "mean.pt")]) == 1
    assert "not a readable checkpoint" in capsys.readouterr().err
    assert not (tmp_path / "mean.pt").exists()
