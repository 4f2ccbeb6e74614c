import json

import pytest
from sardonyx_train.program import main
from sardonyx_train.training.metrics_log import join_metrics


def _write(folder, losses, minutes=1.0):
    folder.mkdir(parents=True)
    rows = [
        {"kind": "train", "step": 10 * (i + 1), "policy": loss, "value": 0.5, "positions": 100 * (i + 1), "minutes": minutes * (i + 1)}
        for i, loss in enumerate(losses)
    ]
    rows.append({"kind": "validation", "step": 10 * len(losses), "policy": losses[-1] + 0.1, "value": 0.6})
    (folder / "history.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def test_the_trainings_of_a_loop_are_joined_one_after_the_other(tmp_path):
    for number in (1, 2):
        _write(tmp_path / f"generations/000{number}/training", [3.0, 2.5])
    rows = join_metrics(tmp_path)
    assert [row["step"] for row in rows if row["kind"] == "train"] == [10, 20, 30, 40]
    assert [row["positions"] for row in rows if row["kind"] == "train"] == [100, 200, 300, 400]
    assert [row["step"] for row in rows if row["kind"] == "validation"] == [20, 40]


@pytest.mark.parametrize(("name", "start"), [("both.png", b"\x89PNG"), ("both.svg", b"<?xml")])
@pytest.mark.parametrize("x", ["step", "positions", "minutes"])
def test_several_runs_are_drawn_in_one_picture(tmp_path, capsys, name, start, x):
    _write(tmp_path / "a", [3.0, 2.0, 1.5])
    _write(tmp_path / "b", [3.0, 2.5])
    out = tmp_path / name
    assert main(["compare", str(tmp_path / "a"), f"other={tmp_path / 'b'}", "--out", str(out), "--x", x]) == 0
    assert out.read_bytes().startswith(start)
    shown = capsys.readouterr().out
    assert "a: 30 steps, best policy loss on held-out positions 1.600" in shown and "other: 20 steps" in shown


def test_what_is_wrong_is_one_sentence(tmp_path, capsys):
    _write(tmp_path / "a", [3.0])
    for arguments, sentence in (
        ([str(tmp_path / "none"), "--out", "x.png"], "holds no training"),
        ([str(tmp_path / "a"), "--out", "x.jpg"], "ends in .png or .svg"),
        ([str(tmp_path / "a"), str(tmp_path / "a"), "--out", "x.png"], "two runs have the name a"),
    ):
        assert main(["compare", *arguments]) == 1
        error = capsys.readouterr().err
        assert sentence in error and len(error.splitlines()) == 1
