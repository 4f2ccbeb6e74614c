import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest
from sardonyx_train.base.errors import TrainError
from sardonyx_train.config.loop_config import parse_loop_config
from sardonyx_train.loop import game_stream
from sardonyx_train.loop.game_stream import GameStream, read_dropped, read_ticket
from sardonyx_train.loop.games import adapt_resignation, choose_percentage
from sardonyx_train.loop.runner import Loop
from sardonyx_train.loop.state import Folders, Generation, LoopState, load_state
from train_support import fake_loop
from train_support.loops import FAKE_LOOP, check_stream_books, create_raw, run_loop, write_config


def _create_raw(out, **sections):
    return create_raw(out, **{"asynchronous": {"niceness": 0}, "local": {"tasks": 2}, **sections})


class _Players:
    """Finishes a batch at once whenever it is told to."""

    def __init__(self):
        self.source = None

    def stream(self, source, folder):
        self.source, self.folder = source, folder

    def play(self):
        given = self.source.take_task()
        if given is None:
            return None
        task, _files = given
        part = self.folder / f"{task.name}.part"
        games = int(next(a for a in task.arguments if a.startswith("--games=")).removeprefix("--games="))
        (part / "games.jsonl").write_text("".join(json.dumps({"game": n}) + "\n" for n in range(games)))
        part.rename(self.folder / task.name)
        self.source.finish(task)
        return task


@pytest.fixture
def road(tmp_path):
    """Networks 0 to 5, of which 1, 2 and 4 were promoted."""
    folders = Folders(tmp_path)
    folders.networks.mkdir()
    for number in range(6):
        folders.network(number).write_bytes(b"network %d" % number)
    bases = {1: 0, 2: 1, 3: 2, 4: 2, 5: 4}
    state = LoopState("tiny", best=0, current=Generation(1, 0))
    state.generations = [Generation(number, base) for number, base in bases.items()]
    return tmp_path, state


def _open(road, players, **own):
    folder, state = road
    config = parse_loop_config(_create_raw(folder, asynchronous=own))
    stream = GameStream(config, players, state, lambda line: None)
    stream.start()
    while players.source is not stream:
        time.sleep(0.01)
    return stream


def test_batches_are_played_by_the_newest_promoted_network_and_old_ones_are_dropped(road):
    players = _Players()
    stream = _open(road, players, staleness=1)
    folder, state = road
    networks = []
    for state.best in (0, 1, 2, 4):
        stream.follow(state)
        networks.append(read_ticket(folder / "stream" / players.play().name).network)
    assert networks == [0, 1, 2, 4]
    assert stream.wait_for_games(8, None, lambda: False) == ["games-000003", "games-000004"]
    assert [(row["batch"], row["network"]) for row in read_dropped(Folders(folder))] == [("games-000001", 0), ("games-000002", 1)]


def test_self_play_pauses_when_it_is_far_ahead_and_goes_on_when_games_are_taken(road):
    players = _Players()
    stream = _open(road, players, ahead=1.5)
    played = [players.play() for _ in range(6)]
    assert [task is not None for task in played] == [True] * 4 + [False] * 2  # four batches of 4 games: 15 and more
    names = stream.wait_for_games(10, None, lambda: False)
    assert stream.move(names, Folders(road[0]).generation(1, "games")) == 16
    assert players.play() is not None


def test_a_generation_may_be_counted_in_positions(road, monkeypatch):
    monkeypatch.setattr(game_stream, "count_records", lambda folder: 30)
    folder, state = road
    players = _Players()
    raw = _create_raw(folder, asynchronous={"ahead": 1}, selfplay={"games": 1000, "positions": 70})
    stream = GameStream(parse_loop_config(raw), players, state, lambda line: None)
    players.stream(stream, folder / "stream")
    played = [players.play() is not None for _ in range(5)]
    assert played == [True, True, True, False, False]
    assert len(stream.wait_for_games(1000, 70, lambda: False)) == 3


def test_a_restart_finds_every_batch_and_repeats_no_number(road):
    folder, state = road
    stream = _open(road, players := _Players())
    for _ in range(2):
        players.play()
    begun, _ = players.source.take_task()
    stream.close()
    stream = _open(road, players := _Players())
    assert stream.wait_for_games(8, None, lambda: False) == ["games-000001", "games-000002"]
    assert players.play() == begun
    assert players.play().name == "games-000004"
    state.current.batches = ["games-000001", "games-000004"]  # written down, and killed before they moved
    stream = _open(road, _Players())
    assert stream.wait_for_games(8, None, lambda: False) == ["games-000002", "games-000003"]
    assert stream.move(state.current.batches, Folders(folder).generation(1, "games")) == 8


def test_after_a_rollback_games_of_the_networks_left_behind_do_not_teach(road):
    folder, state = road
    state.best = 4
    stream = _open(road, players := _Players())
    players.play()
    players.source.take_task()
    stream.close()
    state.best = 2
    _open(road, players := _Players())
    assert [row["network"] for row in read_dropped(Folders(folder))] == [4, 4]
    assert not list((folder / "stream").glob("games-*"))
    assert players.play().name == "games-000003"


def test_batches_of_an_abandoned_generation_lie_in_the_stream_again(road):
    folder, state = road
    stream = _open(road, players := _Players())
    for _ in range(3):
        players.play()
    stream.move(stream.wait_for_games(10, None, lambda: False), Folders(folder).generation(1, "games"))
    state.current.batches = None
    assert len(_open(road, _Players()).wait_for_games(10, None, lambda: False)) == 3


def test_a_network_that_changed_on_disk_is_not_mixed_with_its_old_games(road):
    folder, _ = road
    _open(road, players := _Players())
    players.play()
    Folders(folder).network(0).write_bytes(b"another")
    _open(road, _Players())
    assert len(read_dropped(Folders(folder))) == 1


def test_the_resignation_percentage_follows_from_games_that_were_played_through(tmp_path):
    assert choose_percentage([0.3] * 19, 0.05) is None
    thresholds = [0.01, 0.02, 0.04, 0.06] + [0.1 + i / 100 for i in range(36)]
    percent = choose_percentage(thresholds, 0.05)
    assert percent == 4.0 and sum(t < percent / 100 for t in thresholds) == 2  # 5 % of 40 games
    assert choose_percentage([0.5] * 40, 0.05) == 20
    flags = {"resign-percentage": 3, "resign-playthrough": 50}
    section = parse_loop_config(create_raw(tmp_path, selfplay={"resign_false_positives": 0.05, "flags": flags})).selfplay
    folder = Folders(tmp_path).generation(2, "games") / "games-0000"
    folder.mkdir(parents=True)
    (folder / "games.jsonl").write_text("".join(json.dumps({"falsePositiveThreshold": t}) + "\n" for t in thresholds))
    assert adapt_resignation(section, Folders(tmp_path), 2).flags["resign-percentage"] == 4.0
    assert adapt_resignation(section, Folders(tmp_path), 0) == section
    with pytest.raises(TrainError, match="resign_false_positives needs the flag resign-playthrough above 0"):
        parse_loop_config(create_raw(tmp_path, selfplay={"resign_false_positives": 0.05}))


def test_steps_follow_from_the_new_positions(tmp_path, monkeypatch):
    fake_loop.install(monkeypatch.setattr)
    training = {
        "steps": None,
        "sampling_ratio": 2.5,
        "sections": {"data": {"batch_size": 30}, "model": {"filters": 8, "blocks": 1, "heads": 2}},
    }
    raw = create_raw(tmp_path / "run", run={"generations": 2}, training=training, gate={"rule": "always"})
    Loop(parse_loop_config(raw), lambda line: None).run()
    rows = load_state(tmp_path / "run").generations
    assert [(row.positions, row.steps, row.samples) for row in rows] == [(90, 8, 240)] * 2
    assert rows[0].sampling_ratio == pytest.approx(240 / 90)


def _start(config, **environment):
    command = [*FAKE_LOOP, "--config", str(config)]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, **environment})


def test_games_are_played_while_a_candidate_is_trained(tmp_path):
    out = tmp_path / "run"
    raw = _create_raw(out, run={"generations": 2}, selfplay={"games_per_task": 2}, training={"steps": 60})
    done = run_loop(write_config(tmp_path / "loop.yaml", raw), FAKE_GAME_SECONDS="0.02")
    assert done.returncode == 0, done.stderr
    check_stream_books(out)
    state = load_state(out)
    assert all(row.games >= 10 for row in state.generations)
    # The games of the second generation were there before its network could play: an earlier one played them.
    second = state.generations[1]
    played_by = {read_ticket(Folders(out).generation(2, "games") / name).network for name in second.batches}
    assert min(played_by) < max(second.base, 1)
    version = json.loads(Folders(out).version(2).read_text())
    assert [row["batch"] for row in version["batches"]] == second.batches
    assert "other" in done.stderr and "samples for each new position" in done.stderr


@pytest.mark.slow
def test_killed_ten_times_no_game_is_lost_or_counted_twice(tmp_path):
    out = tmp_path / "run"
    config = write_config(tmp_path / "loop.yaml", _create_raw(out, run={"generations": 4}, selfplay={"games_per_task": 2}))
    moments = random.Random(7)
    stages = set()
    begun = time.monotonic()
    run_loop(config, "--status")
    start_seconds = time.monotonic() - begun  # of a program on a machine that may be busy
    for _ in range(10):
        loop = _start(config, FAKE_GAME_SECONDS="0.05")
        time.sleep(moments.uniform(0.5, 3) * start_seconds)
        loop.send_signal(signal.SIGKILL)
        loop.wait()
        state = load_state(out)
        stages.add(None if state is None else (state.current.number, state.stage))
    done = run_loop(config)
    assert done.returncode == 0, done.stderr
    assert len(stages) > 2, stages
    check_stream_books(out)
    assert [row.number for row in load_state(out).generations] == [1, 2, 3, 4]


@pytest.mark.slow
def test_a_rollback_in_the_middle_of_a_generation_and_on(tmp_path):
    out = tmp_path / "run"
    raw = _create_raw(out, gate={"rule": "always"}, selfplay={"games_per_task": 2})
    config = write_config(tmp_path / "loop.yaml", raw)
    loop = _start(config, FAKE_GAME_SECONDS="0.05")
    _wait_until(lambda: (state := load_state(out)) is not None and (state.current.number, state.stage) == (3, "training"))
    loop.kill()
    loop.wait()
    assert "went back to generation 1" in run_loop(config, "--rollback", "1").stdout
    assert load_state(out).best == 1
    raw["run"]["generations"] = 5
    assert run_loop(write_config(config, raw)).returncode == 0
    check_stream_books(out)
    rows = load_state(out).generations
    assert [row.number for row in rows] == [1, 2, 3, 4, 5] and rows[3].base == 1 and rows[4].base == 4
    for name in rows[3].batches:
        assert read_ticket(Folders(out).generation(4, "games") / name).network <= 1
    page = run_loop(config, "--status").stdout
    assert "went back to generation 1" in page and "dropped" in page


@pytest.mark.slow
def test_an_engine_that_is_killed_costs_nothing_but_its_game(tmp_path):
    out = tmp_path / "run"
    raw = _create_raw(out, run={"generations": 1}, selfplay={"games_per_task": 10}, gate={"rule": "always"}, local={"tasks": 1})
    loop = _start(write_config(tmp_path / "loop.yaml", raw), FAKE_GAME_SECONDS="0.2")
    results = out / "stream/games-000001.part/games.jsonl"
    _wait_until(lambda: results.exists() and results.read_text().count('"game"') >= 3)
    before = results.read_text()
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and str(out / "stream/games-000001.part").encode() in (entry / "cmdline").read_bytes():
            os.kill(int(entry.name), signal.SIGKILL)
    assert loop.wait(120) == 0
    check_stream_books(out)
    assert (out / "generations/0001/games/games-000001/games.jsonl").read_text().startswith(before)


def test_a_self_play_that_fails_ends_the_loop_with_the_engines_words(tmp_path):
    config = write_config(tmp_path / "loop.yaml", _create_raw(tmp_path / "run"))
    done = run_loop(config, FAKE_FAILURE="selfplay")
    assert done.returncode == 1 and "selfplay fails as it was told to" in done.stderr and "Traceback" not in done.stderr


def test_a_missing_book_ends_the_loop(tmp_path):
    raw = _create_raw(tmp_path / "run", selfplay={"book": "no.epd"})
    with pytest.raises(TrainError, match="selfplay.book: there is no file no.epd"):
        Loop(parse_loop_config(raw), lambda line: None).run()


def _wait_until(is_there, seconds=120):
    give_up = time.monotonic() + seconds
    while not is_there():
        assert time.monotonic() < give_up
        time.sleep(0.02)
