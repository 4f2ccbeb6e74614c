"""The loop on a real Ray cluster of several nodes on this machine. Needs the extra `ray`."""

import os
import random
import re
import signal
import subprocess
import threading
import time
from collections import Counter
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

ray = pytest.importorskip("ray", reason='Ray is not installed: pip install "scripts/train[ray]"')

from sardonyx_train.base.errors import TrainError
from sardonyx_train.base.files import compute_digest
from sardonyx_train.commands.spread import Work, label, match
from sardonyx_train.config.loop_config import ClusterSection, parse_loop_config
from sardonyx_train.loop.games import check_games, create_self_play_tasks
from sardonyx_train.loop.runner import Loop
from sardonyx_train.loop.state import load_state
from sardonyx_train.tasks.cluster import ClusterExecutor
from train_support import fake_loop
from train_support.loops import FAKE_ENGINE, FAKE_LOOP, check_stream_books, create_raw, describe_outcome, run_loop, write_config

pytestmark = pytest.mark.slow

_STORE_BYTES = 78 * 2**20


@pytest.fixture(scope="module")
def cluster(tmp_path_factory):
    """A head without CPUs and two workers, each with a temporary folder of its own as if it were a machine."""
    os.environ |= {"RAY_USAGE_STATS_ENABLED": "0", "RAY_raylet_start_wait_time_s": "300"}
    from ray.cluster_utils import Cluster

    head = {"num_cpus": 0, "object_store_memory": _STORE_BYTES, "include_dashboard": False}
    made = _try_twice(lambda: Cluster(initialize_head=True, head_node_args=head))
    made.folders = tmp_path_factory.mktemp("machines")
    made.journal = made.folders.with_name("journal.jsonl")
    made.workers = [_add_worker(made) for _ in range(2)]
    yield made
    ray.shutdown()
    made.shutdown()


def _try_twice(start):
    """Ray gives a node thirty seconds to start, which a busy machine may exceed."""
    try:
        return start()
    except Exception:
        return start()


def _add_worker(cluster):
    folder = cluster.folders / f"machine-{len(list(cluster.folders.iterdir()))}"
    folder.mkdir()
    variables = {"TMPDIR": str(folder), "FAKE_GAME_SECONDS": "0.1", "FAKE_JOURNAL": str(cluster.journal)}
    return _try_twice(lambda: cluster.add_node(num_cpus=1, object_store_memory=_STORE_BYTES, env_vars=variables))


@pytest.fixture
def executor(cluster):
    section = ClusterSection(address=cluster.address, retries=1, report_seconds=0.2)
    made = ClusterExecutor(section, FAKE_ENGINE, lambda: False, print)
    yield made
    made.close()


def _create_tasks(folder, games, per_task):
    network = folder / "net.onnx"
    network.write_bytes(b"network" * 1000)
    digest = compute_digest(network)
    raw = create_raw(folder, selfplay={"games": games, "games_per_task": per_task})
    tasks = create_self_play_tasks(parse_loop_config(raw).selfplay, 1, 1, digest, None)
    return tasks, {digest: network}, digest


def test_games_are_shared_out(executor, tmp_path):
    tasks, files, _ = _create_tasks(tmp_path, 24, 3)
    executor.run(tasks, tmp_path / "games", files, lambda: False)
    assert check_games(tasks, tmp_path / "games") == 24
    assert {path.name for path in (tmp_path / "games").iterdir()} == {task.name for task in tasks}


def test_a_killed_node_s_games_are_made_again_and_a_node_that_joins_helps(cluster, executor, tmp_path, capfd):
    cluster.journal.unlink(missing_ok=True)
    tasks, files, _ = _create_tasks(tmp_path, 240, 60)
    folder = tmp_path / "games"
    with _running(executor, tasks, folder, files):
        _wait_until(lambda: len(_find_engines(cluster.folders)) == 2)
        cluster.remove_node(cluster.workers.pop(), allow_graceful=False)  # as if the plug were pulled
        _wait_until(lambda: len(_find_engines(cluster.folders)) < 2)
        cluster.workers.append(_add_worker(cluster))
    assert check_games(tasks, folder) == 240
    printed = ["", ""]

    def is_told() -> bool:
        executor.look()
        for index, text in enumerate(capfd.readouterr()):
            printed[index] += text
        return "has left" in printed[0]

    _wait_until(is_told)
    out, err = printed
    (loss,) = re.findall(r"^node .+ \(.+\) has left the cluster; its unfinished games are played again$", out, re.MULTILINE)
    assert "raylet" not in out.replace(loss, "") + err
    records = sorted(folder.glob("*/game_*.gz"))
    assert len(records) == len({path.read_bytes() for path in records}) == 240
    begun = cluster.journal.read_text().splitlines()
    assert len(begun) > len(set(begun)) == len(tasks)


def test_a_killed_worker_process_takes_its_engine_with_it_and_the_task_is_made_again(cluster, executor, tmp_path):
    tasks, files, _ = _create_tasks(tmp_path, 10, 10)
    folder = tmp_path / "games"
    results = folder / "games-0000.part/games.jsonl"
    with _running(executor, tasks, folder, files):
        _wait_until(lambda: results.exists() and results.read_text().count('"game"') >= 3)
        arrived = results.read_text()
        engine = _find_engines(cluster.folders)[0]
        os.kill(_find_parent(engine), signal.SIGKILL)
        _wait_until(lambda: engine not in _find_engines(cluster.folders))
    assert check_games(tasks, folder) == 10
    assert (folder / "games-0000/games.jsonl").read_text().startswith(arrived)  # these games were not played again
    assert len(list((folder / "games-0000").glob("game_*.gz"))) == 10


def test_a_task_that_fails_by_itself_is_given_up_after_some_tries(cluster, tmp_path):
    made = ClusterExecutor(ClusterSection(address=cluster.address, retries=1), ["no-such-engine"], lambda: False, print)
    tasks, files, _ = _create_tasks(tmp_path, 4, 4)
    with pytest.raises(TrainError, match=r"games-0000 failed on every try, the last time on .+: no-such-engine cannot be started"):
        made.run(tasks, tmp_path / "games", files, lambda: False)
    made.close()


def test_enough_is_enough(executor, tmp_path):
    tasks, files, _ = _create_tasks(tmp_path, 40, 2)
    folder = tmp_path / "games"
    executor.run(tasks, folder, files, lambda: folder.exists() and len(list(folder.iterdir())) >= 3)
    assert 3 <= len(list(folder.iterdir())) < 10


def test_a_loop_on_a_cluster_comes_to_the_same_as_on_one_machine(cluster, tmp_path, monkeypatch):
    fake_loop.install(monkeypatch.setattr)
    outcomes = []
    for name, more in (("one", {}), ("many", {"cluster": {"address": cluster.address}})):
        raw = create_raw(tmp_path / "run", run={"generations": 1}, **more)
        Loop(parse_loop_config(raw), lambda line: None).run()
        outcomes.append(describe_outcome(tmp_path / "run"))
        (tmp_path / "run").rename(tmp_path / name)
    assert outcomes[0] == outcomes[1]


def test_labelling_and_matches_are_spread_over_the_nodes(cluster, executor, tmp_path):
    work = Work(executor, tmp_path, 10)
    assert label(work, 10, 4, 1, ["--engine=x"]) == {"games": 10, "files": 3}
    network = tmp_path / "net.onnx"
    network.write_bytes(b"network")
    flags = [f"--player{player}.weights={network}" for player in (1, 2)]
    (tmp_path / "match").mkdir()
    result = match(Work(executor, tmp_path / "match", 10), 12, 4, 1, flags)
    assert result.wins + result.draws + result.losses == 12


def test_self_play_goes_on_on_a_cluster_while_candidates_are_trained_and_gated(cluster, tmp_path, monkeypatch):
    fake_loop.install(monkeypatch.setattr)
    out = tmp_path / "run"
    place = {"address": cluster.address, "report_seconds": 0.2}
    raw = create_raw(out, asynchronous={}, cluster=place, selfplay={"games_per_task": 2}, training={"steps": 60})
    Loop(parse_loop_config(raw), lambda line: None).run()
    check_stream_books(out)
    rows = load_state(out).generations
    assert [row.number for row in rows] == [1, 2, 3] and all(row.games >= 10 for row in rows)


def test_kills_of_loops_workers_and_nodes_at_random_moments_lose_no_game_and_double_none(cluster, tmp_path):
    """SARDONYX_KILLS=50 takes some ten minutes. Behind the last kill the loop runs to its end."""
    moments = random.Random(int(os.environ.get("SARDONYX_SEED", "1")))
    out = tmp_path / "run"
    place = {"address": cluster.address, "report_seconds": 0.5}
    raw = create_raw(out, run={"generations": 1000}, asynchronous={}, cluster=place, selfplay={"games_per_task": 5})
    config = write_config(tmp_path / "loop.yaml", raw)
    loop = None
    kills = Counter()
    while kills.total() < int(os.environ.get("SARDONYX_KILLS", "6")):
        if loop is None or loop.poll() is not None:  # a loop that has lost its cluster says so and ends
            loop = subprocess.Popen([*FAKE_LOOP, "--config", str(config)])
        time.sleep(moments.uniform(2, 4))
        kind, engines = moments.choice(("loop", "worker", "worker", "node")), _find_engines(cluster.folders)
        if kind == "loop":
            loop.kill()
            loop.wait()
        elif kind == "node":
            cluster.remove_node(cluster.workers.pop(moments.randrange(len(cluster.workers))), allow_graceful=False)
            cluster.workers.append(_add_worker(cluster))
        elif engines:
            engine = moments.choice(engines)
            with suppress(OSError):  # it may have ended just now
                os.kill(moments.choice((engine, _find_parent(engine))), signal.SIGKILL)  # the engine, or Ray's process above it
        else:
            continue
        kills[kind] += 1
    loop.kill()
    loop.wait()
    state = load_state(out)
    raw["run"]["generations"] = (1 if state is None else state.current.number) + 1
    write_config(config, raw)
    assert any(run_loop(config).returncode == 0 for _ in range(5)), kills
    check_stream_books(out)
    assert len(load_state(out).generations) == raw["run"]["generations"]


@contextmanager
def _running(executor, tasks, folder, files):
    """The tasks run beside the block and are all there behind it. (Ray wants to add nodes from the main thread.)"""
    folder.mkdir()
    faults = []

    def run():
        try:
            executor.run(tasks, folder, files, lambda: False)
        except BaseException as error:
            faults.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join()
    assert not faults


def _find_engines(folder):
    """Processes of fake engines that play in one of the machines' folders."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                line, place = (entry / "cmdline").read_bytes(), (entry / "cwd").readlink()
            except OSError:
                continue
            if b"fake_engine.py\0selfplay" in line and place.is_relative_to(folder):
                found.append(int(entry.name))
    return found


def _find_parent(process):
    return int(re.search(r"PPid:\t(\d+)", Path(f"/proc/{process}/status").read_text())[1])


def _wait_until(is_there, seconds=60):
    give_up = time.monotonic() + seconds
    while not is_there():
        assert time.monotonic() < give_up
        time.sleep(0.02)
