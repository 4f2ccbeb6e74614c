import contextlib
import json
import os
import random
import signal
import subprocess
import time

import pytest
import yaml
from sardonyx_train.base.errors import TrainError
from sardonyx_train.config.loop_config import parse_loop_config
from sardonyx_train.loop.replay import replay
from sardonyx_train.loop.runner import Loop
from sardonyx_train.loop.state import load_state
from train_support.loops import FAKE_LOOP, create_raw, describe_outcome, run_loop, write_config

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """An uninterrupted loop of three generations."""
    folder = tmp_path_factory.mktemp("finished")
    config = write_config(folder / "loop.yaml", create_raw(folder / "run"))
    done = run_loop(config)
    assert done.returncode == 0, done.stderr
    return folder / "run", config


def test_a_loop_plays_trains_gates_and_keeps_every_version(finished):
    out, _ = finished
    outcome = describe_outcome(out)
    assert [row["number"] for row in outcome["rows"]] == [1, 2, 3]
    assert {name for name in outcome["networks"] if name.endswith(".onnx")} == {f"{n:04d}.onnx" for n in range(4)}
    best = 0
    for row in outcome["rows"]:
        assert (row["base"], row["games"], row["positions"], row["steps"]) == (best, 10, 90, 12)
        gate = row["gate"]
        assert row["promoted"] == (gate["wins"] + gate["draws"] / 2 >= 6)
        best = row["number"] if row["promoted"] else best
    assert best == outcome["best"] > 0
    assert (out / "best.onnx").read_bytes() == outcome["networks"][f"{best:04d}.onnx"]
    assert {p.name for p in (out / "plots").iterdir()} == {"policy-loss.png", "value-loss.png", "win-rate.png"}
    assert not list(out.rglob("*.part*")) and not list(out.glob("generations/*/training/*.pt"))


def test_each_generation_is_played_by_the_best_network_of_its_time(finished):
    import hashlib

    out, _ = finished
    outcome = describe_outcome(out)
    digests = {name: hashlib.sha256(data).hexdigest()[:16] for name, data in outcome["networks"].items()}
    for row in outcome["rows"]:
        made = [r for path, r in outcome["records"].items() if path.startswith(f"generations/{row['number']:04d}/")]
        assert len(made) == 10 and {r["network"] for r in made} == {digests[f"{row['base']:04d}.onnx"]}
    seeds = [(r["seed"], r["game"]) for r in outcome["records"].values()]
    assert len(set(seeds)) == len(seeds) == 30


def test_a_finished_loop_does_nothing_more_and_goes_on_when_asked_for_more(finished, tmp_path):
    out, config = finished
    before = (out / "state.json").read_text()
    done = run_loop(config)
    assert done.returncode == 0 and (out / "state.json").read_text() == before
    status = run_loop(config, "--status")
    assert "tiny: finished, 3 generations" in status.stdout and "promoted" in status.stdout
    assert "finished: 3 generations" in done.stderr


def test_killed_ten_times_the_loop_loses_nothing_and_doubles_nothing(finished, tmp_path):
    config = write_config(tmp_path / "loop.yaml", create_raw(tmp_path / "run"))
    moments = random.Random(20)
    stages = set()
    slowness = 1.0
    for _ in range(10):
        loop = subprocess.Popen(
            [*FAKE_LOOP, "--config", str(config)],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "FAKE_GAME_SECONDS": "0.05"},
        )
        with contextlib.suppress(subprocess.TimeoutExpired):
            loop.wait(timeout=slowness * moments.uniform(0.5, 2.5))
        loop.send_signal(signal.SIGKILL)
        loop.wait()
        state = load_state(tmp_path / "run")
        stage = None if state is None else (state.current.number, state.stage)
        # A slow machine needs longer from one stage to the next.
        slowness = slowness * 1.5 if stage in stages else 1.0
        stages.add(stage)
    done = run_loop(config)
    assert done.returncode == 0, done.stderr
    assert len(stages) > 2, stages
    assert describe_outcome(tmp_path / "run") == describe_outcome(finished[0])
    assert not list((tmp_path / "run").rglob("*.part*"))


def test_a_child_of_a_killed_loop_does_not_outlive_it(tmp_path):
    config = write_config(tmp_path / "loop.yaml", create_raw(tmp_path / "run"))
    environment = {**os.environ, "FAKE_GAME_SECONDS": "0.2"}
    loop = subprocess.Popen([*FAKE_LOOP, "--config", str(config)], stderr=subprocess.DEVNULL, env=environment)
    results = tmp_path / "run/generations/0001/games/games-0000.part/games.jsonl"
    _wait_until(lambda: results.exists() and '"game"' in results.read_text())
    loop.kill()
    loop.wait()
    time.sleep(0.3)
    left = results.read_text()
    time.sleep(0.6)
    assert results.read_text() == left


def test_a_signal_stops_the_loop_in_good_order(finished, tmp_path):
    config = write_config(tmp_path / "loop.yaml", create_raw(tmp_path / "run"))
    environment = {**os.environ, "FAKE_GAME_SECONDS": "0.2"}
    loop = subprocess.Popen([*FAKE_LOOP, "--config", str(config)], stderr=subprocess.PIPE, text=True, env=environment)
    _wait_until((tmp_path / "run/generations/0001/games").exists)
    loop.send_signal(signal.SIGTERM)
    errors = loop.communicate(timeout=120)[1]
    assert loop.returncode == 130
    assert errors.strip().endswith("loop: stopped; the same command resumes it")
    assert run_loop(config).returncode == 0
    assert describe_outcome(tmp_path / "run") == describe_outcome(finished[0])


def test_two_loops_do_not_work_in_one_folder(tmp_path, monkeypatch):
    from sardonyx_train.base.lock import lock_folder

    monkeypatch.setattr("sardonyx_train.base.lock.TIMEOUT_SECONDS", 0.2)
    with lock_folder(tmp_path), pytest.raises(TrainError, match="another run"), lock_folder(tmp_path):
        pass
    with lock_folder(tmp_path):
        pass


def test_an_engine_that_fails_ends_the_loop_with_its_own_words_and_nothing_is_lost(finished, tmp_path):
    config = write_config(tmp_path / "loop.yaml", create_raw(tmp_path / "run"))
    done = run_loop(config, FAKE_FAILURE="match")
    assert done.returncode == 1
    last = done.stderr.strip().splitlines()[-1]
    assert "ended with exit status 1: match fails as it was told to" in last and "Traceback" not in done.stderr
    assert load_state(tmp_path / "run").stage == "gate"
    assert run_loop(config).returncode == 0
    assert describe_outcome(tmp_path / "run") == describe_outcome(finished[0])


def test_a_changed_configuration_counts_from_the_next_generation(tmp_path):
    raw = create_raw(tmp_path / "run", run={"generations": 2})
    config = write_config(tmp_path / "loop.yaml", raw)
    assert run_loop(config, FAKE_FAILURE="match").returncode == 1
    write_config(config, create_raw(tmp_path / "run", run={"generations": 2}, selfplay={"games": 6}, training={"steps": 5}))
    done = run_loop(config)
    assert done.returncode == 0 and "continues with the configuration that it began with" in done.stderr
    rows = load_state(tmp_path / "run").generations
    assert [(row.games, row.steps) for row in rows] == [(10, 12), (6, 5)]


def test_a_candidate_that_failed_its_gate_does_not_lower_the_rates(tmp_path):
    training = {"rate_decay": 0.5, "sections": {"model": {"filters": 8, "blocks": 1}, "optimizer": {"learning_rate": 0.01}}}
    raw = create_raw(tmp_path / "run", run={"generations": 6}, training=training, gate={"threshold": 0.7})
    assert run_loop(write_config(tmp_path / "loop.yaml", raw)).returncode == 0
    rows, promoted = load_state(tmp_path / "run").generations, 0
    for row in rows:
        made = yaml.safe_load((tmp_path / f"run/generations/{row.number:04d}/training/train.yaml").read_text())
        assert made["optimizer"]["learning_rate"] == 0.01 * 0.5**promoted
        promoted += row.promoted
    assert 0 < promoted < len(rows) - 1


def test_a_measurement_is_played_when_it_is_due(tmp_path):
    raw = create_raw(tmp_path / "run", measure={"every": 2, "games": 6}, gate={"rule": "always"})
    done = run_loop(write_config(tmp_path / "loop.yaml", raw))
    assert done.returncode == 0, done.stderr
    first, second, last = load_state(tmp_path / "run").generations
    assert first.measured is None and second.measured.games == last.measured.games == 6  # after the last one, too
    assert first.gate is None and first.promoted and second.promoted
    assert second.measured.elo is not None and (tmp_path / "run/plots/elo.png").exists()


def test_a_dry_run_says_what_would_happen_and_writes_nothing(tmp_path):
    config = write_config(tmp_path / "loop.yaml", create_raw(tmp_path / "run"))
    done = run_loop(config, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "10 games in 3 tasks" in done.stdout and "nothing there yet" in done.stdout
    assert not (tmp_path / "run").exists()
    (tmp_path / "file").touch()
    done = run_loop(write_config(tmp_path / "loop.yaml", create_raw(tmp_path / "file")), "--dry-run")
    assert (done.returncode, done.stderr.strip()) == (1, f"loop: run.out: the folder {tmp_path}/file cannot be written: Not a directory")
    missing = create_raw(tmp_path / "run", selfplay={"book": "no.epd"})
    done = run_loop(write_config(tmp_path / "loop.yaml", missing), "--dry-run")
    assert (done.returncode, done.stderr.strip()) == (1, "loop: selfplay.book: there is no file no.epd")


def test_the_state_is_refused_by_name_when_it_is_damaged(finished, tmp_path):
    out = tmp_path / "run"
    out.mkdir()
    (out / "state.json").write_text(json.dumps({"version": 99}))
    done = run_loop(write_config(tmp_path / "loop.yaml", create_raw(out)))
    assert done.returncode == 1 and "is not the state of a loop of version 1" in done.stderr


@pytest.mark.parametrize("precision", ["auto", "bf16"])
def test_the_real_trainer_and_exporter_make_a_network_of_each_generation_that_replay_repeats_to_the_last_bit(tmp_path, precision):
    import onnx

    training = {"steps": 4, "sections": {"model": {"filters": 8, "blocks": 1, "heads": 2}, "run": {"precision": precision}}}
    raw = create_raw(tmp_path / "run", run={"generations": 1}, training=training, gate={"rule": "always"})
    Loop(parse_loop_config(raw), lambda line: None).run()
    (row,) = load_state(tmp_path / "run").generations
    assert row.promoted and row.policy_loss > 0 and row.value_loss > 0
    first, second = (onnx.load(tmp_path / f"run/networks/{n:04d}.onnx") for n in (0, 1))
    names = [next(p.value for p in m.metadata_props if p.key == "sardonyx.name") for m in (first, second)]
    assert names == ["tiny-0000", "tiny-0001"] and first.graph.initializer != second.graph.initializer
    version = json.loads((tmp_path / "run/versions/0001.json").read_text())
    assert all(len(row["digest"]) == 32 for row in version["data"])
    assert version["resolved"]["precision"] in ("fp32", "bf16") if precision == "auto" else version["resolved"]["precision"] == "bf16"
    assert replay(parse_loop_config(raw), 1, lambda line: None) == 0
    (tmp_path / "run/generations/0001/training/train.yaml").write_text("changed")
    with pytest.raises(TrainError, match=r"cannot be repeated: .*train\.yaml has changed since"):
        replay(parse_loop_config(raw), 1, lambda line: None)
    assert "same top move" in (tmp_path / "run/generations/0001/export.out").read_text()


def _wait_until(is_there, seconds=120):
    give_up = time.monotonic() + seconds
    while not is_there():
        assert time.monotonic() < give_up
        time.sleep(0.02)


def test_with_a_number_of_positions_the_tasks_after_them_do_not_count(tmp_path):
    selfplay = {"games": 40, "games_per_task": 4, "positions": 1}
    raw = create_raw(tmp_path / "run", run={"generations": 1}, selfplay=selfplay, local={"tasks": 3})
    done = run_loop(write_config(tmp_path / "loop.yaml", raw))
    assert done.returncode == 0, done.stderr
    row = describe_outcome(tmp_path / "run")["rows"][0]
    assert row["games"] == 40  # the fake engine's records are too short to count as one
