import bz2
import gzip
import json

import pytest
from sardonyx_train.base.errors import TrainError
from sardonyx_train.commands.spread import send_files, split_pgn
from sardonyx_train.program import main
from train_support.loops import FAKE_ENGINE


def _run(capsys, *arguments):
    status = main(["spread", *(str(argument) for argument in arguments)])
    printed = capsys.readouterr()
    return status, json.loads(printed.out) if status == 0 else printed.err


def _write_pgn(path, games):
    path.write_text("".join(f'[Event "game {n}"]\n[Result "1-0"]\n\n1. e4 1-0\n\n' for n in range(games)))
    return path


def test_games_are_labelled_in_parts_with_seeds_of_their_own(tmp_path, capsys):
    out = tmp_path / "labels"
    command = ["label", "--out", out, "--games", 10, "--games-per-task", 4, "--tasks", 2, "--engine", *FAKE_ENGINE, "--", "--engine=x"]
    assert _run(capsys, *command) == (0, {"games": 10, "files": 3})
    names = sorted(path.name for path in out.glob("*.jsonl.gz"))
    assert names == [f"labels-000{n}_0000.jsonl.gz" for n in range(3)]
    assert len({(out / name).read_bytes() for name in names}) == 3
    before = {name: (out / name).stat().st_mtime_ns for name in names}
    assert _run(capsys, *command)[0] == 0
    assert {name: (out / name).stat().st_mtime_ns for name in names} == before
    status, error = _run(capsys, *[12 if part == 10 else part for part in command])
    assert status == 1 and "holds the results of other work" in error


def test_analysed_games_come_back_in_their_order(tmp_path, capsys):
    pgn = _write_pgn(tmp_path / "games.pgn", 7)
    out = tmp_path / "out"
    assert _run(capsys, "analyse", pgn, "--out", out, "--games-per-task", 3, "--tasks", 2, "--engine", *FAKE_ENGINE) == (
        0,
        {"parts": 3, "games": 7},
    )
    text = (out / "analysed.pgn").read_text()
    assert [text.index(f'"game {n}"') for n in range(7)] == sorted(text.index(f'"game {n}"') for n in range(7))
    assert text.count("{analysed}") == 7


def test_a_match_sums_its_parts(tmp_path, capsys):
    network = tmp_path / "a.onnx"
    network.write_bytes(b"a")
    flags = [f"--player1.weights={network}", f"--player2.weights={network}"]
    status, result = _run(
        capsys, "match", "--out", tmp_path / "m", "--games", 20, "--games-per-task", 6, "--engine", *FAKE_ENGINE, "--", *flags
    )
    assert status == 0 and result["wins"] + result["draws"] + result["losses"] == 20
    status, error = _run(capsys, "match", "--out", tmp_path / "n", "--games", 7, "--engine", *FAKE_ENGINE)
    assert status == 1 and "must be even" in error


def test_files_that_flags_name_travel(tmp_path):
    network = tmp_path / "a.onnx"
    network.write_bytes(b"a")
    sent, files = send_files([f"--weights={network}", "--nodes=5", "plain"])
    assert sent[1:] == ["--nodes=5", "plain"] and list(files.values()) == [network]
    assert sent[0] == f"--weights={{file:{next(iter(files))}}}"
    words, files = send_files(["--player1.weights", str(network), "--nodes", "5", "--engine", str(network), f"--engine={network}"])
    assert words == ["--player1.weights", f"{{file:{next(iter(files))}}}", "--nodes", "5", "--engine", str(network), f"--engine={network}"]


def test_text_is_cut_between_games(tmp_path):
    parts = list(split_pgn([_write_pgn(tmp_path / "a.pgn", 5), _write_pgn(tmp_path / "b.pgn", 2)], 3))
    assert [part.count(b"[Event ") for part in parts] == [3, 3, 1]
    for suffix, pack in ((".gz", gzip.compress), (".bz2", bz2.compress)):
        packed = tmp_path / f"a.pgn{suffix}"
        packed.write_bytes(pack((tmp_path / "a.pgn").read_bytes()))
        assert list(split_pgn([packed], 3)) == list(split_pgn([tmp_path / "a.pgn"], 3))
    with pytest.raises(TrainError, match="only plain, .gz and .bz2 files"):
        list(split_pgn([tmp_path / "a.pgn.zst"], 3))
    (tmp_path / "c.pgn").write_text("1. e4 e5 *\n")
    assert len(list(split_pgn([tmp_path / "c.pgn"], 3))) == 1
