import json
import os
import shutil
import signal
import subprocess
import time

import pytest
from sardonyx_train.base.errors import TrainError
from sardonyx_train.config.loop_config import load_loop_config
from sardonyx_train.loop.state import Folders, load_state
from sardonyx_train.loop.versions import change_best, list_left_out, prune
from train_support.loops import FAKE_LOOP, create_raw, run_loop, write_config

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A loop of three generations, each promoted."""
    folder = tmp_path_factory.mktemp("original")
    config = write_config(folder / "loop.yaml", create_raw(folder / "run", gate={"rule": "always"}, window={"positions": 300}))
    done = run_loop(config)
    assert done.returncode == 0, done.stderr
    return folder / "run"


@pytest.fixture
def loop(original, tmp_path):
    """A copy of it that goes on to the fifth generation."""
    out = tmp_path / "run"
    shutil.copytree(original, out)
    raw = create_raw(out, gate={"rule": "always"}, window={"positions": 300}, run={"generations": 5})
    return out, write_config(tmp_path / "loop.yaml", raw)


def _read_sources(out, generation):
    version = json.loads((out / f"versions/{generation:04d}.json").read_text())
    return version, {source["file"].split("/")[1] for source in version["data"]}


def test_every_version_says_what_it_was_made_from(original):
    version, sources = _read_sources(original, 3)
    assert (version["generation"], version["parent"], version["promoted"]) == (3, 2, True)
    assert sources == {"0001", "0002", "0003"}
    assert version["config"]["training"]["steps"] == 12
    parent, _ = _read_sources(original, 2)
    assert version["digests"]["parent"] == parent["digests"]["network"]


def test_a_rollback_in_the_middle_of_a_generation_goes_on_from_there_and_the_history_tells_it(loop):
    out, config = loop
    running = subprocess.Popen(
        [*FAKE_LOOP, "--config", str(config)], stderr=subprocess.DEVNULL, env={**os.environ, "FAKE_GAME_SECONDS": "20"}
    )
    deadline = time.monotonic() + 60
    while not (out / "generations/0004/games").exists():
        assert time.monotonic() < deadline
        time.sleep(0.02)
    busy = run_loop(config, "--rollback", "1")
    assert busy.returncode == 1 and "is still working in" in busy.stderr
    running.send_signal(signal.SIGKILL)
    running.wait()
    done = run_loop(config, "--rollback", "1")
    assert done.returncode == 0 and done.stdout == "went back to generation 1 (the best was 3) in generation 4\n"
    state = load_state(out)
    assert (state.best, state.current.number, state.current.base) == (1, 5, 1)
    # Generation 2 was played by network 1, generation 3 by network 2, generation 4 by network 3.
    assert [row.withdrawn for row in state.generations] == [False, False, True, True]
    assert list_left_out(state) == {3, 4}
    assert run_loop(config).returncode == 0
    state = load_state(out)
    assert (state.best, [row.base for row in state.generations]) == (5, [0, 1, 2, 3, 1])
    version, sources = _read_sources(out, 5)
    assert version["parent"] == 1 and sources == {"0001", "0002", "0005"}
    assert (out / "best.onnx").read_bytes() == (out / "networks/0005.onnx").read_bytes()
    page = run_loop(config, "--status", COLUMNS="200").stdout
    assert "went back to generation 1" in page and "abandoned" in page and "withdrawn" in page


def test_a_promotion_takes_a_rollback_back(loop):
    out, config = loop
    assert run_loop(config, "--rollback", "0").returncode == 0
    assert (out / "best.onnx").read_bytes() == (out / "networks/0000.onnx").read_bytes()
    assert list_left_out(load_state(out)) == {2, 3}
    assert run_loop(config, "--promote", "3").stdout.startswith("promoted generation 3 (the best was 0)")
    assert (out / "best.onnx").read_bytes() == (out / "networks/0003.onnx").read_bytes()
    status = json.loads((out / "state.json").read_text())
    assert status["best"] == 3 and [change["kind"] for change in status["changes"]] == ["rollback", "promote"]
    assert list_left_out(load_state(out)) == frozenset()
    assert run_loop(config).returncode == 0
    assert [row.base for row in load_state(out).generations] == [0, 1, 2, 3, 4]


def test_what_cannot_be_gone_back_to_is_one_sentence(loop, tmp_path):
    out, config = loop
    before = (out / "state.json").read_text()
    for arguments, sentence in (
        (("--rollback", "9"), "has no network of generation 9"),
        (("--promote", "3"), "generation 3 is the best network already"),
    ):
        done = run_loop(config, *arguments)
        assert done.returncode == 1 and sentence in done.stderr and len(done.stderr.splitlines()) == 1
    assert run_loop(config, "--rollback", "1", "--promote", "2").returncode == 2
    assert (out / "state.json").read_text() == before
    with pytest.raises(TrainError, match="no loop has begun"):
        change_best(tmp_path / "nothing", "rollback", 1)


def test_pruning_leaves_every_way_back_that_it_promises(loop):
    out, config = loop
    raw = create_raw(out, gate={"rule": "always"}, window={"positions": 150}, run={"generations": 4})
    assert run_loop(write_config(config, raw)).returncode == 0
    folders = Folders(out)
    done = run_loop(config, "--prune", "1")
    assert done.returncode == 0 and done.stdout.startswith("removed ")
    # A window of 150 positions, 90 of them in each generation: generation 4 and those after it need 2 and 3 as well.
    assert [folders.generation(n, "shards").exists() for n in range(1, 5)] == [False, True, True, True]
    assert [folders.generation(n, "games").exists() for n in range(1, 5)] == [False, False, False, True]
    assert all(folders.network(n).exists() and folders.checkpoint(n).exists() for n in range(5))
    assert prune(out, load_loop_config(config, []), 1) == ([], 0)
    assert run_loop(config, "--rollback", "3").returncode == 0
    raw["run"]["generations"] = 5
    assert run_loop(write_config(config, raw)).returncode == 0
    version, sources = _read_sources(out, 5)
    assert version["parent"] == 3 and "0005" in sources and sources <= {"0003", "0004", "0005"}
