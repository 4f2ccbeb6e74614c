import errno
import json
import os

import pytest
import torch
from sardonyx_train.base.errors import TrainError
from sardonyx_train.base.files import read_rows, write_bytes
from sardonyx_train.config.loop_config import GateSection
from sardonyx_train.loop.loop_plots import plot_loop
from sardonyx_train.loop.state import Folders, Generation, LoopState, Match
from sardonyx_train.training.checkpoint import read_checkpoint, write_weights
from sardonyx_train.training.metrics_log import MetricsLog
from sardonyx_train.training.plots import plot_history

PNG = b"\x89PNG"


def test_a_run_is_plotted_and_an_empty_one_is_not(tmp_path):
    assert plot_history(tmp_path) is None
    history = MetricsLog(tmp_path, 0, tensorboard=False)
    for step in range(1, 5):
        history.add("train", step, {"policy": 3 / step, "value": 1.0, "accuracy": 0.1 * step, "learning_rate": 0.1})
    history.add("validation", 4, {"policy": 1.0, "value": 1.0, "accuracy": 0.4})
    path = plot_history(tmp_path)
    assert path is not None and path.read_bytes()[:4] == PNG


def test_win_rates_are_plotted_with_their_gate(tmp_path):
    state = LoopState("tiny", generations=[Generation(number, 0, gate=Match(10 + number, 5, 10)) for number in (1, 2, 3)])
    plot_loop(Folders(tmp_path), state, GateSection())
    assert (tmp_path / "plots/win-rate.png").read_bytes()[:4] == PNG


def test_a_resumed_history_drops_later_rows_and_a_torn_last_line(tmp_path):
    path = tmp_path / "history.jsonl"
    rows = [json.dumps({"kind": "train", "step": s}) for s in (1, 2, 3)]
    path.write_text("\n".join(rows) + '\n{"kind": "tra')
    MetricsLog(tmp_path, 2, tensorboard=False).add("train", 3, {"policy": 1.0})
    assert [(row["step"], row.get("policy")) for row in read_rows(path)] == [(1, None), (2, None), (3, 1.0)]


def test_what_is_no_checkpoint_is_one_sentence(tmp_path):
    other = tmp_path / "network.onnx"
    other.write_bytes(b"\x08\x08\x12\x08sardonyx" * 100)
    for path, reason in ((tmp_path / "gone.pt", "No such file or directory"), (other, "damaged, or another kind of file")):
        with pytest.raises(TrainError) as caught:
            read_checkpoint(path)
        assert str(caught.value) == f"{path}: not a readable checkpoint ({reason})"


def test_a_full_disk_is_one_sentence_and_what_was_there_before_stays(tmp_path, monkeypatch):
    def fill_up(error):
        def fail(*_: object) -> None:
            raise error

        return fail

    path = tmp_path / "last.pt"
    path.write_bytes(b"before")
    monkeypatch.setattr(os, "fsync", fill_up(OSError(errno.ENOSPC, "No space left on device")))
    with pytest.raises(TrainError, match=rf"^cannot write {path}: No space left on device$"):
        write_bytes(path, b"after")
    monkeypatch.setattr(torch, "save", fill_up(RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 64 vs 0")))
    with pytest.raises(TrainError, match=rf"^cannot write {path}: is the disk full\?$"):
        write_weights(path, {}, {})
    assert [(file.name, file.read_bytes()) for file in tmp_path.iterdir()] == [("last.pt", b"before")]
