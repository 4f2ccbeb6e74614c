import io
import sys

import pytest
from sardonyx_train.base import progress_display
from sardonyx_train.base.progress_display import ProgressDisplay


def test_a_file_gets_a_line_now_and_then_and_no_control_characters(monkeypatch, capsys):
    waits = iter([False, False, True])
    monkeypatch.setattr(progress_display.threading.Event, "wait", lambda _, seconds: asked.append(seconds) or next(waits))
    monkeypatch.setattr(progress_display.threading.Thread, "start", progress_display.threading.Thread.run)
    asked: list[float] = []
    with ProgressDisplay("position", 2000, "assessing", done=500) as progress:
        progress.note("half done soon")
        progress.advance(600)
    assert capsys.readouterr().err.splitlines() == [
        "assessing, position 500 of 2,000",
        "assessing, position 500 of 2,000",
        "assessing, position 1,100 of 2,000, half done soon",
    ]
    assert asked == [1, 30, 30]


def test_a_short_task_says_once_where_it_ended(capsys):
    with ProgressDisplay("step", None, done=7) as progress:
        progress.advance(1)
        progress.advance(1)
    assert capsys.readouterr().err == "step 9\n"
    with ProgressDisplay("position", 2) as progress:  # one of each record batch, where fewer were asked for
        progress.advance(4)
    assert capsys.readouterr().err == "position 4 of 4\n"


@pytest.mark.parametrize("has_terminal", [False, True])
def test_a_hidden_display_writes_nothing(has_terminal, monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: has_terminal
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressDisplay("step", 3, is_shown=False) as progress:
        progress.advance(3)
    assert stream.getvalue() == ""


def test_a_terminal_gets_a_bar(monkeypatch):
    stream = io.StringIO()
    stream.isatty = lambda: True
    monkeypatch.setattr(sys, "stderr", stream)
    with ProgressDisplay("step", 4) as progress:
        progress.note("top-1 40 %")
        progress.advance(4)
    assert "4/4" in stream.getvalue() and "top-1 40 %" in stream.getvalue()
