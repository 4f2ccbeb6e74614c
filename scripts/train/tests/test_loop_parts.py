import gzip
import io
import json
import os
import re
import sys
from concurrent.futures import wait
from pathlib import Path
from types import SimpleNamespace

import pytest
import yaml
from rich.console import Console
from sardonyx_train.base.errors import Stopped, TrainError
from sardonyx_train.base.files import write_json
from sardonyx_train.commands.loop import describe_generation
from sardonyx_train.config.loop_config import (
    _SELF_PLAY_SEARCH,
    ClusterSection,
    GateSection,
    WindowSection,
    describe_loop_config,
    load_loop_config,
    parse_loop_config,
)
from sardonyx_train.loop.games import (
    check_games,
    create_match_tasks,
    create_seed,
    create_self_play_tasks,
    format_flags,
    read_pairs,
    take_positions,
)
from sardonyx_train.loop.gate import compute_chance, decide, judge, rate, sum_matches
from sardonyx_train.loop.page import StatusPage, create_page, describe_gate, describe_match
from sardonyx_train.loop.state import Folders, Generation, LoopState, Match, find_precision, save_state
from sardonyx_train.loop.training import create_candidate_config
from sardonyx_train.loop.window import ShardFile, Window, compute_repeats, create_window
from sardonyx_train.tasks import cluster, local
from sardonyx_train.tasks.cluster import ClusterExecutor
from sardonyx_train.tasks.local import LocalExecutor
from sardonyx_train.tasks.node import Piece
from sardonyx_train.tasks.process import run_process
from sardonyx_train.tasks.task import Task
from sardonyx_train.tasks.usage import Meter, Usage
from train_support.loops import FAKE_ENGINE, create_raw, write_config


def _gate(**keys):
    return GateSection(games=50, games_per_task=10, **keys)


def _match(wins, draws, losses):
    return Match(wins, draws, losses)


def test_54_per_cent_of_50_games_are_27_points():
    gate = _gate(rule="at-least", threshold=0.54)
    assert decide(_match(27, 0, 23), gate, []) is True
    assert decide(_match(26, 2, 22), gate, []) is True
    assert decide(_match(26, 1, 23), gate, []) is False


def test_above_55_per_cent_is_more_than_55_per_cent():
    gate = GateSection(games=100, rule="above", threshold=0.55)
    assert decide(_match(55, 0, 45), gate, []) is False
    assert decide(_match(55, 1, 44), gate, []) is True


@pytest.mark.parametrize(
    ("keys", "chances"),
    [
        ({"games": 20, "threshold": 0.55}, (0.215, 0.404)),
        ({"games": 60, "threshold": 0.55}, (0.118, 0.404)),
        ({"games": 60, "rule": "at-least", "threshold": 0.5}, (0.536, 0.851)),
    ],
)
def test_the_chance_of_a_promotion_is_that_of_the_drawn_out_match(keys, chances):
    assert [compute_chance(GateSection(**keys), elo) for elo in (0, 30)] == pytest.approx(chances, abs=1e-3)


def test_the_chance_of_a_sequential_gate_is_about_what_it_promises():
    gate = GateSection(rule="sprt", elo0=0, elo1=35, games=4000)
    assert 0.03 < compute_chance(gate, 0) < 0.055 and 0.945 < compute_chance(gate, 35) < 0.97
    assert compute_chance(gate.model_copy(update={"games": 100}), 0) > 0.2  # out of games, a score above one half promotes


@pytest.mark.parametrize("path", sorted((Path(__file__).parents[1] / "configs").glob("loop-*.yaml")), ids=lambda path: path.stem)
def test_no_recipe_tosses_a_coin_for_its_gate(path):
    for is_reduced in (False, True) if "\nreduced:" in path.read_text() else (False,):
        gate = load_loop_config(path, [], is_reduced).gate
        published = 50 if path.stem == "loop-az-go" and not is_reduced else 60
        assert gate.rule in ("sprt", "always") or gate.games >= published
        assert gate.rule == "always" or "promote an equal network in" in describe_gate(gate)


def test_the_plan_says_what_a_generation_is_worth(tmp_path):
    def describe(**sections):
        flags = {"visits": 40, "fast-visits": 8, "full-search-share": 0.5}
        return describe_generation(parse_loop_config(create_raw(tmp_path, selfplay={"games": 20, "flags": flags}, **sections)))

    size = {"data": {"batch_size": 100}, "optimizer": {"accumulation": 2}}
    worth = "about 1,300 new positions (games of 130 plies), "
    steps = {"steps": None, "sections": size}
    assert describe(training={**steps, "sampling_ratio": 2}) == worth + "13 steps of 200, 2.0 samples for each"
    grown = describe(training={**steps, "passes": 1}, window={"positions": 100_000, "generations": 4})
    assert grown == worth + "7 to 26 steps of 200, 1.1 samples for each"


def test_a_training_that_torchrun_runs_fails_with_the_trainers_own_sentence(tmp_path):
    report = (
        "E1127 7 /a/torch/distributed/elastic/api.py:1] failed\nTraceback (most recent call last):\nRoot Cause (first observed failure):\n"
    )
    for said, code, sentence in (
        ("train: too little data\ntrain: too little data", "1 (pid: 7)", "too little data"),
        ("trains a in b", "-9 (pid: 7)", "a training process was ended by signal 9"),
        ("Traceback\nZeroDivisionError: a", "1 (pid: 7)", "Traceback\nZeroDivisionError: a"),
    ):
        log = said + "\n" + report + "[0]:\n  exitcode  : " + code
        script = f"import sys; sys.exit({log!r})"
        (tmp_path / "errors").write_text("train: of an earlier try\n")
        with pytest.raises(TrainError) as failed:
            run_process([sys.executable, "-c", script], tmp_path / "out", tmp_path / "errors")
        assert failed.value.said == sentence


def test_a_gate_searches_by_the_constants_of_self_play_unless_it_sets_them(tmp_path):
    def parse(gate, **selfplay):
        return parse_loop_config(
            create_raw(tmp_path, selfplay={"flags": {"visits": 9, "noise-epsilon": 0.1, **selfplay}}, gate=gate)
        ).gate.flags

    own = {"cpuct": 1.5, "fpu-strategy": "reduction", "fpu-value": 0.25, "widening-factor": 4, "policy-softmax-temp": 1.3}
    judged = parse({"flags": {"nodes": 5, "temperature": 0.5, "fpu-value": 0.1}}, **own, **{"temp-endgame": 0.1})
    assert judged == {**own, "cpuct-factor": 0, "nodes": 5, "temperature": 0.5, "fpu-value": 0.1}
    drawn = {"temperature": 1, "tempdecay-moves": 30}
    assert parse({"flags": {"nodes": 5}}, **{"tempdecay-moves": 30}).items() >= drawn.items()
    assert "temperature" not in parse({"flags": {"nodes": 5}, "book": "book.epd"})
    config = parse_loop_config(create_raw(tmp_path, selfplay={"flags": own}))
    assert parse_loop_config(config.model_dump()) == config


def test_a_gate_knows_what_the_engines_self_play_sets():
    text = (Path(__file__).parents[3] / "src/cli/commands/play/player-network.ts").read_text()
    flags = {"CPuct": "cpuct", "CPuctFactor": "cpuct-factor", "FpuValue": "fpu-value", "PolicyTemperature": "policy-softmax-temp"}
    said = {flags[name]: float(value) for name, value in re.findall(r"\['(\w+)', '([\d.]+)'\]", text) if name in flags}
    assert said == _SELF_PLAY_SEARCH


def test_a_gate_ends_as_soon_as_its_verdict_cannot_change():
    gate = _gate(rule="at-least", threshold=0.54)
    assert decide(_match(26, 0, 0), gate, []) is None
    assert decide(_match(27, 0, 0), gate, []) is True
    assert decide(_match(0, 0, 23), gate, []) is None
    assert decide(_match(0, 1, 23), gate, []) is False
    assert decide(_match(27, 0, 0), gate.model_copy(update={"stop_early": False}), []) is None


def test_a_sequential_gate_promotes_keeps_or_plays_on_as_the_engine_says():
    gate = GateSection(rule="sprt", games=400, games_per_task=20)
    assert decide(Match(), gate, FAKE_ENGINE) is None
    assert decide(Match(60, 0, 20, [0, 0, 20, 0, 20]), gate, FAKE_ENGINE) is True
    assert decide(Match(20, 0, 60, [20, 0, 20, 0, 0]), gate, FAKE_ENGINE) is False
    even = Match(150, 100, 150, [20, 50, 60, 50, 20])
    assert decide(even, gate, FAKE_ENGINE) is False  # out of games, no better
    assert decide(Match(40, 20, 40, [5, 10, 20, 10, 5]), gate, FAKE_ENGINE) is None
    assert decide(Match(61, 0, 21, [0, 0, 21, 0, 20]), gate, ["no engine"]) is None  # which is asked after every fifth pair


def test_elo_and_its_error_are_the_engines():
    total = rate(sum_matches([Match(1, 2, 1, [0, 1, 0, 1, 0]), Match(2, 0, 0, [0, 0, 0, 0, 1])]), FAKE_ENGINE)
    assert (total.games, total.score, total.pairs) == (6, 4 / 6, [0, 1, 0, 1, 1])
    assert total.elo == pytest.approx(120.4, abs=0.1) and describe_match(total) == "+3 =2 -1, +120 ± ∞ Elo"
    swept = rate(Match(20, 0, 0, [0, 0, 0, 0, 10]), FAKE_ENGINE)
    assert (swept.elo, describe_match(swept)) == (None, "+20 =0 -0, all won")


def test_games_of_an_unfinished_task_decide_a_gate_in_their_order(tmp_path):
    config = parse_loop_config(create_raw(tmp_path, gate={"games": 12, "games_per_task": 12, "threshold": 0.5}))
    (task,) = create_match_tasks(config.gate, config.gate.games, "gate", 1, 1, {"candidate": "abc", "best": "def"}, None)
    part = tmp_path / f"{task.name}.part"
    part.mkdir()
    rows = [{"conditions": {}}]
    for game in (0, 1, 2, 3, 4, 5, 7):  # the sixth game goes on
        is_white = game % 2 == 0
        names = ("candidate", "best") if is_white else ("best", "candidate")
        rows.append({"game": game, "white": names[0], "black": names[1], "result": "1-0" if is_white else "0-1"})
    (part / "games.jsonl").write_text("\n".join(map(json.dumps, rows)) + '\n{"game": 6, "wh')
    assert read_pairs([task], tmp_path) == [(1.0, 1.0)] * 3
    match, verdict = judge(read_pairs([task], tmp_path), config.gate, [])
    assert (match.wins, match.losses, match.pairs, verdict) == (6, 0, [0, 0, 0, 0, 3], True)
    assert judge([(1.0, 0.5), (0.0, 0.0)], config.gate, [])[1] is None
    assert judge([(1.0, 1.0)] * 6, config.gate, [])[0].games == 6  # the games behind the verdict do not count


def _write_loop(out, **keys):
    rows = [
        Generation(1, 0, games=10, positions=90, policy_loss=2.5, value_loss=0.9, gate=Match(6, 2, 2), promoted=True),
        Generation(2, 1, games=10),
        Generation(3, 1, games=10, positions=12_345_678, policy_loss=2.4, value_loss=0.8, gate=Match(2, 2, 6), promoted=False),
    ]
    rows[2].measured = Match(40, 12, 8, [0, 2, 6, 8, 14], elo=206.4, elo_error=78.5)
    rows[0].usage = Usage(100.0, 2.0, 20.0, {"games": 100.0, "training": 60.0})
    rows[0].seconds = {"selfplay": 3000.0}
    out.mkdir(exist_ok=True)
    save_state(out, LoopState("tiny", best=1, generations=rows, **keys))


@pytest.mark.parametrize("width", [60, 80, 120, 200])
def test_the_status_cuts_no_number_however_narrow_the_terminal_is(tmp_path, width):
    _write_loop(tmp_path, current=Generation(4, 1))
    console = Console(width=width, record=True, file=io.StringIO())
    console.print(create_page(parse_loop_config(create_raw(tmp_path, run={"generations": 9})), width))
    text = console.export_text()
    assert "…" not in text and "tiny: generation 4 of 9" in text and "1 of 2 candidates promoted, 1 generation abandoned" in text
    assert (
        "generation 1 against generation 0: +40 =12 -8, +206" in text
        and "+147" not in text
        and "abandoned" in text
        and ("12,345,678" in text or width < 80)
    )
    assert "self-play 50%" in text.replace("\n", " ") or width < 80


def test_a_finished_loop_and_a_training_under_way_say_so(tmp_path):
    def show(config):
        console = Console(width=100, record=True, file=io.StringIO())
        console.print(create_page(config, 100))
        return console.export_text()

    _write_loop(tmp_path, current=Generation(4, 1))
    text = show(parse_loop_config(create_raw(tmp_path, run={"generations": 3})))
    assert "tiny: finished, 3 generations" in text and "of 3" not in text
    _write_loop(tmp_path, current=Generation(4, 1), stage="training")
    folder = Folders(tmp_path).generation(4, "training")
    folder.mkdir(parents=True)
    (folder / "train.yaml").write_text("schedule: {max_steps: 40}")
    (folder / "history.jsonl").write_text('{"kind": "train", "step": 10, "policy": 3.0, "value": 1.0}\n')
    config = parse_loop_config(create_raw(tmp_path, run={"generations": 9}))
    assert "step 10 of 40: policy 3.000, value 1.000" in show(config)
    lines = io.StringIO()
    StatusPage(config, Console(file=lines))._update()  # as every half minute, where there is no terminal
    assert "generation 4: training, step 10 of 40: policy 3.000" in lines.getvalue()
    write_json(
        Folders(tmp_path).workers,
        {"time": 0, "nodes": [{"name": "one (10.0.0.1)", "cpus": 4, "gpus": 0, "tasks": 2, "games": 7, "heard": None}]},
    )
    assert "one (10.0.0.1)" in show(parse_loop_config(create_raw(tmp_path, cluster={}, run={"generations": 9})))


def _join_nodes(monkeypatch, *resources):
    names = {"Alive": True, "NodeManagerHostname": "machine", "NodeManagerAddress": "10.0.0.1"}
    nodes = [{"NodeID": str(number), "Resources": given, **names} for number, given in enumerate(resources)]
    ray = SimpleNamespace(nodes=lambda: nodes, remote=lambda function: function, exceptions=SimpleNamespace(RayError=ConnectionError))
    monkeypatch.setattr(cluster, "_join_cluster", lambda _address: ray)
    return nodes


@pytest.mark.parametrize(
    ("asks", "sentence"),
    [
        (
            {"cpus": 8},
            "a task asks for 8 CPUs (cluster.cpus, cluster.gpus), and no node of the cluster has them; the most are 4 CPUs and 1 GPUs",
        ),
        ({"cpus": 2, "gpus": 2}, "a task asks for 2 CPUs and 2 GPUs"),
    ],
)
def test_a_cluster_on_which_no_task_can_run_says_so_at_once_and_ends_the_loop_in_time(monkeypatch, tmp_path, asks, sentence):
    nodes = _join_nodes(monkeypatch, {"CPU": 4.0}, {"CPU": 2.0, "GPU": 1.0})
    with pytest.raises(TrainError, match=re.escape(sentence)):
        ClusterExecutor(ClusterSection(**asks, wait_minutes=0), ["engine"], lambda: False, print)
    said: list[str] = []
    clock = [100.0]
    monkeypatch.setattr(cluster.time, "monotonic", lambda: clock[0])
    executor = ClusterExecutor(ClusterSection(**asks, wait_minutes=5), ["engine"], lambda: False, said.append, tmp_path / "workers.json")
    assert len(said) == 1 and sentence in said[0] and "waits 5 minutes" in said[0]
    clock[0] += 200
    assert executor.look() == 0 and len(said) == 1
    nodes.append({**nodes[0], "NodeID": "late", "Resources": {"CPU": 17.0, "GPU": 4.0}})
    clock[0] += 200
    assert executor.look() == 2  # 17 CPUs hold two tasks of eight; four GPUs hold two of two
    executor.note("answers", Piece([("games.jsonl", 0, b'{"game": 0}\n{"game": 1}\n')], "late", is_last=False))
    clock[0] += 200
    executor.look()
    *_, late = json.loads((tmp_path / "workers.json").read_text())["nodes"]
    assert (late["name"], late["cpus"], late["tasks"], late["games"]) == ("machine (10.0.0.1)", 17, 1, 2)


def test_auto_is_decided_once_a_loop(tmp_path):
    config = parse_loop_config(create_raw(tmp_path))
    window = Window((ShardFile(tmp_path / "0.arrow", 1, 6400),), (1,), ())
    state = LoopState("tiny", generations=[Generation(1, 0), Generation(2, 0, resolved={"precision": "bf16", "threads": 2})])
    assert find_precision(LoopState("tiny")) is None and find_precision(state) == "bf16"
    assert create_candidate_config(config, window, 3, tmp_path / "a.pt", tmp_path, "bf16").run.precision == "bf16"
    given = parse_loop_config(create_raw(tmp_path, training={"sections": {"run": {"precision": "fp32"}}}))
    assert create_candidate_config(given, window, 3, tmp_path / "a.pt", tmp_path, "bf16").run.precision == "fp32"


def _files(*generations):
    return [ShardFile(None, generation, positions) for generation, positions in generations]


@pytest.mark.parametrize("count", [2, 3, 5, 12])
def test_recent_positions_get_at_least_their_weight(count):
    files = _files(*((generation, 1000) for generation in range(count, 0, -1)))
    repeats = compute_repeats(files, count, WindowSection(recent_weight=0.8))
    assert 0.8 - 1e-9 <= repeats[0] / sum(repeats) < 0.9
    assert min(repeats) >= 1


def test_a_share_that_whole_numbers_do_not_reach_is_exceeded():
    files = _files(*((generation, 1000) for generation in range(7, 0, -1)))
    repeats = compute_repeats(files, 7, WindowSection(recent_weight=0.7, recent_generations=3))
    assert 0.7 <= sum(repeats[:3]) / sum(repeats) < 0.75


def test_recent_positions_that_have_their_weight_by_nature_are_left_alone():
    files = _files((2, 900), (1, 100))
    assert compute_repeats(files, 2, WindowSection(recent_weight=0.8)) == [1, 1]
    assert compute_repeats(_files((1, 100), (1, 100)), 1, WindowSection()) == [1, 1]
    assert compute_repeats(_files((2, 10), (1, 100)), 2, WindowSection(recent_weight=1)) == [1, 0]


def test_the_window_takes_the_newest_files_until_it_is_full(tmp_path):
    folders = Folders(tmp_path)
    for generation in range(1, 5):
        folder = folders.generation(generation, "shards")
        folder.mkdir(parents=True)
        index = {"train": {"a.arrow": 100, "b.arrow": 100}, "validation": {"c.arrow": 20}}
        (folder / "index.json").write_text(json.dumps(index))
    window = create_window(folders, 4, WindowSection(positions=500, validation_share=0.1))
    assert [(f.generation, f.path.name) for f in window.train] == [
        (4, "a.arrow"),
        (4, "b.arrow"),
        (3, "a.arrow"),
        (3, "b.arrow"),
        (2, "a.arrow"),
    ]
    assert window.positions == 500 and [f.generation for f in window.validation] == [4, 3]
    small = create_window(folders, 4, WindowSection(positions=50))
    assert [f.generation for f in small.train] == [4, 4]  # its own games always


def test_passes_and_the_smallest_batch_count_what_a_pass_takes(tmp_path):
    def plan(positions, batch_size):
        data = {"batch_size": batch_size, "skip_decided": 0.75}
        config = parse_loop_config(create_raw(tmp_path, training={"steps": None, "passes": 2, "sections": {"data": data}}))
        window = Window((ShardFile(tmp_path / "0.arrow", 1, positions),), (1,), ())
        return create_candidate_config(config, window, 1, tmp_path / "0000.pt", tmp_path / "out")

    assert plan(6400, 100).schedule.max_steps == 2 * 1600 / 100
    assert plan(200, 100).data.batch_size == 50


def test_tasks_share_out_all_games_and_every_task_has_its_own_seed(tmp_path):
    config = parse_loop_config(
        create_raw(tmp_path, selfplay={"games": 10, "games_per_task": 4, "flags": {"visits": 8, "reuse-tree": True}})
    )
    tasks = create_self_play_tasks(config.selfplay, 1, 3, "abc", None)
    games = [next(a for a in t.arguments if a.startswith("--games=")) for t in tasks]
    assert games == ["--games=4", "--games=4", "--games=2"]
    assert len({a for t in tasks for a in t.arguments if a.startswith("--seed=")}) == 3
    assert "--weights={file:abc}" in tasks[0].arguments and {"--visits=8", "--reuse-tree=true"} <= set(tasks[0].arguments)
    assert tasks == create_self_play_tasks(config.selfplay, 1, 3, "abc", None)
    gate = create_match_tasks(config.gate, config.gate.games, "gate", 1, 3, {"candidate": "abc", "best": "def"}, "book")
    assert gate[0].files == ("abc", "def", "book") and "--openings-pgn={file:book}" in gate[0].arguments
    assert create_seed(1, 3, "gate", 0) != create_seed(1, 3, "games", 0) != create_seed(2, 3, "games", 0)
    assert format_flags({"a": False, "b": 0.5}) == ["--a=false", "--b=0.5"]


def test_a_missing_or_doubled_game_is_noticed(tmp_path):
    config = parse_loop_config(create_raw(tmp_path, selfplay={"games": 3, "games_per_task": 3}))
    tasks = create_self_play_tasks(config.selfplay, 1, 1, "abc", None)
    folder = tmp_path / tasks[0].name
    folder.mkdir()
    lines = ['{"conditions": {}}', *(json.dumps({"game": n}) for n in (0, 1, 2))]
    (folder / "games.jsonl").write_text("\n".join(lines))
    assert check_games(tasks, tmp_path) == 3
    (folder / "games.jsonl").write_text("\n".join([*lines, '{"game": 2}']))
    with pytest.raises(TrainError, match=r"has 4 games \(3 different\), not 3"):
        check_games(tasks, tmp_path)
    (folder / "games.jsonl").write_text("\n".join(lines[:-1]))
    with pytest.raises(TrainError, match="has 2 games"):
        check_games(tasks, tmp_path)


@pytest.mark.parametrize(
    ("sections", "sentence"),
    [
        ({"gaet": {}}, "gaet: there is no such key; did you mean gate?"),
        ({"gate": {"games": 51}}, "gate: games and games_per_task must be even: an opening is played with both colours"),
        ({"selfplay": {"flags": {"seed": 3}}}, "selfplay.flags: the loop sets seed itself (and flags are written without dashes)"),
        ({"window": {"recent_weight": 2}}, "window.recent_weight must be a number > 0 and ≤ 1, not 2"),
        (
            {"gate": {"flags": {"sprt": "elo0=0", "engine": "random"}}},
            "gate.flags: the loop sets engine, sprt itself (and flags are written without dashes)",
        ),
        (
            {"selfplay": {"resign_false_positives": 0.1, "flags": {"resign-playthrough": "abc"}}},
            "selfplay: resign_false_positives needs the flag resign-playthrough above 0, and works without resign-wdlstyle",
        ),
        ({"run": {"generations": True}}, "run.generations must be a whole number ≥ 1, not True"),
        ({"training": {"sections": {"run": {"out": "x"}}}}, "training.sections: the loop sets run.out itself"),
        (
            {"training": {"sections": {"model": {"filers": 3}}}},
            "training.sections.model.filers: there is no such key; did you mean filters?",
        ),
        ({"selfplay": {"flags": {1: 2}}}, "selfplay.flags.1.[key] must be a text, not 1"),
        ({"measure": {"games": 3}}, "measure.games must be a whole number ≥ 2 and a multiple of 2, not 3"),
        ({"gate": {"rule": "sprt", "elo0": 5, "elo1": 5}}, "gate: elo0 must be below elo1"),
        ({"run": {"name": "a b"}}, "run.name must be a text of the form ^[A-Za-z0-9._-]+$, not 'a b'"),
    ],
)
def test_a_wrong_configuration_is_named_key_by_key(tmp_path, sections, sentence):
    with pytest.raises(TrainError) as error:
        parse_loop_config(create_raw(tmp_path, **sections))
    assert str(error.value) == sentence


def test_overrides_reach_into_sections(tmp_path):
    path = write_config(tmp_path / "loop.yaml", create_raw(tmp_path / "run"))
    config = load_loop_config(path, ["gate.games=20", "training.sections.model.filters=16", "selfplay.flags.visits=5"])
    assert (config.gate.games, config.training.sections.model.filters, config.selfplay.flags["visits"]) == (20, 16, 5)
    with pytest.raises(TrainError, match="is not section.key=value"):
        load_loop_config(path, ["gate.games"])


def test_the_described_configuration_is_a_valid_one_and_says_what_a_loop_trains_with(tmp_path):
    described = yaml.safe_load("\n".join(describe_loop_config()))
    assert parse_loop_config(described).gate.threshold == 0.55
    window = Window((ShardFile(tmp_path / "0.arrow", 1, 6400),), (1,), ())
    made = create_candidate_config(parse_loop_config(create_raw(tmp_path)), window, 1, tmp_path / "a.pt", tmp_path).model_dump()
    for section, keys in described["training"]["sections"].items():
        assert {key: made[section][key] for key in keys} == keys, section


def test_a_child_that_was_stopped_together_with_the_loop_has_not_done_its_work(tmp_path):
    done = tmp_path / "done"
    command = [sys.executable, "-c", f"open({str(done)!r}, 'w')"]
    with pytest.raises(Stopped):
        run_process(command, tmp_path / "out", tmp_path / "err", is_stopped=done.exists)


@pytest.mark.skipif(os.name != "posix", reason="process groups")
def test_a_child_is_not_in_the_process_group_that_a_terminal_interrupts(tmp_path):
    output = tmp_path / "out"
    run_process([sys.executable, "-c", "import os; print(os.getpgid(0) == os.getpid())"], output, tmp_path / "err")
    assert output.read_text().strip() == "True"


def _create_shell_task(name, answer):
    script = f"import json; print(json.dumps({answer!r}))"
    return Task(name, ("-c", script), (), 1.0)


def test_a_task_whose_engine_was_interrupted_does_not_count(tmp_path):
    executor = LocalExecutor([sys.executable], 1, lambda: False, 2, Meter())
    with pytest.raises(TrainError, match="the engine was interrupted; start the loop again"):
        executor.run([_create_shell_task("a", {"interrupted": True})], tmp_path, {}, lambda: False)
    assert not (tmp_path / "a").exists()


def test_no_task_is_begun_after_the_one_that_was_enough_however_slow_the_waiting_thread_is(tmp_path, monkeypatch):
    monkeypatch.setattr(local, "wait", lambda futures, *_: wait(futures))
    executor = LocalExecutor([sys.executable], 1, lambda: False, 2, Meter())
    tasks = [_create_shell_task(name, {}) for name in "abc"]
    executor.run(tasks, tmp_path, {}, (tmp_path / "a").exists)
    assert [path.name for path in tmp_path.iterdir()] == ["a"]


def test_the_window_may_hold_a_number_of_generations(tmp_path):
    folders = Folders(tmp_path)
    for generation in range(1, 7):
        folder = folders.generation(generation, "shards")
        folder.mkdir(parents=True)
        (folder / "index.json").write_text(json.dumps({"train": {"a.arrow": 100}, "validation": {}}))
    section = WindowSection(positions=1000, generations=3)
    assert [f.generation for f in create_window(folders, 6, section).train] == [6, 5, 4]
    assert [f.generation for f in create_window(folders, 6, section, frozenset({5})).train] == [6, 4, 3]
    assert [f.generation for f in create_window(folders, 6, WindowSection(positions=200, generations=3)).train] == [6, 5]


def test_rates_fall_from_promotion_to_promotion_to_their_floor(tmp_path):
    optimizer = {"kind": "muon", "learning_rate": 0.01, "muon_learning_rate": 0.1}
    raw = create_raw(tmp_path, training={"rate_decay": 0.5, "rate_floor": 0.002, "sections": {"optimizer": optimizer}})
    config = parse_loop_config(raw)
    window = Window((ShardFile(tmp_path / "0.arrow", 1, 6400),), (1,), ())
    rates = [
        (made.optimizer.learning_rate, made.optimizer.muon_learning_rate)
        for made in (create_candidate_config(config, window, 10, tmp_path / "a.pt", tmp_path, None, n) for n in (0, 1, 2, 3, 8))
    ]
    assert rates == [(0.01, 0.1), (0.005, 0.05), (0.0025, 0.025), (0.002, pytest.approx(0.02)), (0.002, pytest.approx(0.02))]


def test_one_schedule_may_span_several_generations_and_the_moments_with_it(tmp_path):
    sections = {"schedule": {"kind": "cosine", "warmup_steps": 10}}
    raw = create_raw(tmp_path, training={"schedule_generations": 4, "carry_moments": True, "sections": sections})
    config = parse_loop_config(raw)
    window = Window((ShardFile(tmp_path / "0.arrow", 1, 6400),), (1,), ())
    parts = [create_candidate_config(config, window, 10, tmp_path / "a.pt", tmp_path, None, n) for n in (0, 1, 3, 6)]
    assert [(p.schedule.begin, p.schedule.end, p.schedule.warmup_steps) for p in parts] == [
        (0, 0.25, 10),
        (0.25, 0.5, 0),
        (0.75, 1, 0),
        (1, 1, 0),
    ]
    assert all(p.run.start_moments for p in parts)


def test_the_positions_of_a_generation_are_counted_in_the_order_of_its_tasks(tmp_path):
    config = parse_loop_config(create_raw(tmp_path, selfplay={"games": 10, "games_per_task": 2, "positions": 50}))
    tasks = create_self_play_tasks(config.selfplay, 1, 1, "abc", None)

    def finish(number, *records):
        folder = tmp_path / tasks[number].name
        folder.mkdir()
        for game, count in enumerate(records):
            (folder / f"game_{game:06d}.gz").write_bytes(gzip.compress(bytes(8356 * count)))

    finish(0, 20, 10)
    finish(2, 40, 40)
    assert take_positions(tasks, tmp_path, 50) is None  # the second task is not there
    finish(1, 15, 9)
    assert take_positions(tasks, tmp_path, 50) == tasks[:2]
    assert take_positions(tasks, tmp_path, 55) == tasks[:3]
    assert take_positions(tasks, tmp_path, 1000) is None


def test_a_file_may_hold_a_reduced_variant_of_its_recipe(tmp_path):
    raw = create_raw(tmp_path / "run")
    raw["reduced"] = {"selfplay": {"games": 2, "flags": {"visits": 3}}, "training": {"sections": {"model": {"filters": 4}}}}
    path = write_config(tmp_path / "loop.yaml", raw)
    whole, reduced = load_loop_config(path, []), load_loop_config(path, ["gate.games=6"], is_reduced=True)
    assert (whole.selfplay.games, whole.training.sections.model.filters) == (10, 8)
    assert (reduced.selfplay.games, reduced.selfplay.games_per_task, reduced.selfplay.flags["visits"]) == (2, 4, 3)
    model = reduced.training.sections.model
    assert (model.filters, model.blocks, model.heads, reduced.gate.games) == (4, 1, 2, 6)
    with pytest.raises(TrainError, match="has no section reduced"):
        load_loop_config(write_config(tmp_path / "other.yaml", create_raw(tmp_path / "run")), [], is_reduced=True)


RECIPES = sorted((Path(__file__).parents[1] / "configs").glob("loop-*.yaml"))


@pytest.mark.parametrize("path", RECIPES, ids=lambda path: path.stem)
def test_every_recipe_is_a_valid_configuration_whole_and_reduced(path):
    assert load_loop_config(path, []).run.generations > 0
    if "\nreduced:" in path.read_text():
        assert load_loop_config(path, [], is_reduced=True).folder.name.endswith("-reduced")
