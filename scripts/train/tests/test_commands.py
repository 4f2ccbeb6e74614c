"""Every command starts and says what it does; a wrong set-up is one sentence, before PyTorch is loaded, and costs nothing."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import onnx
import pyarrow as pa
import pytest
import torch
import yaml
from onnx import TensorProto, helper
from sardonyx_train.base.errors import TrainError
from sardonyx_train.base.files import write_json
from sardonyx_train.base.lock import lock_folder
from sardonyx_train.config.training_config import parse_config
from sardonyx_train.model.network import Network
from sardonyx_train.program import _create_parser, main
from sardonyx_train.training.checkpoint import write_weights
from train_support.loops import FAKE_ENGINE, create_raw
from train_support.synthetic import schema, write_shard

CONFIGS = Path(__file__).parents[1] / "configs"
COMMANDS = list(_create_parser()._subparsers._group_actions[0].choices)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_explains_itself(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main([command, "--help"])
    assert end.value.code == 0
    assert f"usage: sardonyx-train {command}" in capsys.readouterr().out


def test_the_module_is_the_program_and_loads_no_slow_library_for_its_help() -> None:
    script = "import sys; from sardonyx_train import program; program._create_parser(); "
    script += "print(sorted({'torch', 'onnx', 'ray', 'pyarrow'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120).stdout.strip() == "[]"
    done = subprocess.run([sys.executable, "-m", "sardonyx_train", "--help"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0 and all(command in done.stdout for command in COMMANDS)


# A command, what is wrong with its set-up, and words of the sentence. {…} are places that `place` makes.
WRONG = [
    ("train --config {here}/none.yaml", "cannot read {here}/none.yaml: No such file"),
    ("train --config {here}", "cannot read {here}: Is a directory"),
    ("train --config {binary}", "cannot read {binary}"),
    ("train --config {list}", "is not a mapping of sections"),
    ("train --config {broken}", "cannot read {broken}"),
    ("train", "--config is needed"),
    ("train --config {train} --set modle.filters=3", "modle: there is no such key; did you mean model?"),
    ("train --config {train} --set model.filters=zero", "model.filters must be a whole number ≥ 1, not 'zero'"),
    ("train --config {train} --set model.filters=0", "model.filters must be a whole number ≥ 1, not 0"),
    ("train --config {train} --set model.preset=nobody", "unknown preset 'nobody'"),
    ("train --config {train} --set model.input=mini", "unknown input encoding 'mini'"),
    ("train --config {train} --set model.body=sight --set model.input=mini-19", "needs an input of lc0's 112 planes"),
    ("train --config {train} --set schedule.max_steps=null", "give max_steps or max_minutes or max_epochs"),
    ("train --config {train} --set schedule.kind=plateau", "needs data.validation"),
    ("train --config {train} --set run.early_stopping=2", "needs data.validation"),
    ("train --config {train} --set run.precision=int4", "run.precision must be one of auto, fp32, bf16, fp16, not 'int4'"),
    ("train --config {train} --set run.start_moments=true", "run.start_moments needs run.start_from"),
    ("train --config {train} --set run.renorm_max_r=2 --set model.norm=group", "need model.norm batch, not group"),
    ("train --config {train} --set data", "is not section.key=value"),
    ("train --config {train} --set data.train=[{here}/none]", "{here}/none: no such file or folder"),
    ("train --config {train} --set data.train=[]", "no *.arrow files"),
    ("train --config {train} --set data.train=[{binary}]", "{binary}: not a readable Arrow file"),
    ("train --config {train} --set data.train=[{mini}]", "the shards hold mini-19 / lc0-1858"),
    ("train --config {train} --set data.train=[{shards},{mini}]", "encoding differs"),
    ("train --config {train} --set data.train=[{few}]", "{few}/0.arrow: not a whole shard, the column cp is missing"),
    ("train --config {train} --set data.train=[{narrow}]", "{narrow}/0.arrow: 111 planes, 1 of them with values, do not fit its columns"),
    ("train --config {train} --set data.train=[{torn}]", "{torn}/0.arrow: its record batch 1 is damaged"),
    ("train --config {train} --set data.batch_size=32 --set data.validation=[{empty}]", "{empty} holds no positions"),
    ("train --config {train} --set schedule.max_steps=[1,2]", "schedule.max_steps must be a whole number ≥ 1 or null, not [1, 2]"),
    ("train --config {train} --set data.batch_size=32 --resume {parts_pt}", "not a readable checkpoint (parts of it are missing)"),
    ("train --config {train} --set data.batch_size=32 --set model.filters=8 --set model.blocks=1 --resume {good_pt}", "holds weights only"),
    ("train --config {train} --resume", "there is no checkpoint {here}/run/last.pt"),
    ("train --config {train} --resume {here}/none.pt", "there is no checkpoint {here}/none.pt"),
    ("train --config {train} --set run.start_from={here}/none.pt", "there is no checkpoint {here}/none.pt"),
    ("train --config {train} --set run.out={busy}", "still working in {busy}"),
    ("train --config {train} --set run.out={old}", "holds a run: continue it by --resume"),
    ("pretrain games --out {here}/p --config {here}/none.yaml", "cannot read"),
    ("pretrain games --out {busy} --engine true", "still working in {busy}"),
    ("pretrain games --out {other} --engine true", "holds the results of other work"),
    ("pretrain games --out {here}/p --engine no-such-engine", "engine: there is no program 'no-such-engine'"),
    ("pretrain games --out {shardsfolder} --engine true", "holds shards or a run that pretrain did not make"),
    ("pretrain games --out {binary}/p --engine true", "{binary}/p"),
    ("loop", "--config is needed"),
    ("loop --config {here}/none.yaml", "cannot read"),
    ("loop --config {loop} --set gaet.games=3", "gaet: there is no such key; did you mean gate?"),
    ("loop --config {loop} --set engine=node", "engine must be a list or null, not 'node'"),
    ("loop --config {loop} --set gate=3", "gate must be a section of keys, not 3"),
    ("loop --config {loop} --set gate.games=51", "must be even"),
    ("loop --config {loop} --set selfplay.flags.visits=[1]", "selfplay.flags.visits must be true or false or a number or a text, not [1]"),
    ("loop --config {loop} --set selfplay.flags.seed=3", "the loop sets seed itself"),
    ("loop --config {loop} --set training.sections.run.out=x", "the loop sets run.out itself"),
    ("loop --config {loop} --set run.out={busy}", "still working in {busy}"),
    ("loop --config {loop} --set run.out={binary}/x", "{binary}/x"),
    ("loop --config {loop} --set run.name=other --set run.out={begun}", "holds the loop 'tiny'"),
    ("loop --config {loop} --set run.out={damaged} --status", "cannot read {damaged}/state.json"),
    ("loop --config {loop} --set run.out={begun} --rollback 7", "has no network of generation 7"),
    ("loop --config {loop} --promote 1", "no loop has begun"),
    ("loop --config {loop} --replay 1", "has no record of generation 1"),
    ("loop --config {loop} --reduced", "has no section reduced"),
    ("loop --config {loop} --dry-run --set selfplay.book={here}/none.pgn", "selfplay.book: there is no file"),
    ("loop --config {loop} --dry-run --set training.start={here}/none.pt", "training.start: there is no file"),
    ("loop --config {loop} --dry-run --set engine=[no-such-engine]", "engine: there is no program 'no-such-engine'"),
    ("loop --config {loop} --dry-run --set selfplay.flags.vizits=3", "selfplay.flags: Unknown flag --vizits"),
    ("loop --config {loop} --dry-run --set gate.flags.vizits=3", "gate.flags: Unknown flag --vizits"),
    ("loop --config {loop} --set run.out={here}/early --set gate.flags.vizits=3", "gate.flags: Unknown flag --vizits"),
    (
        "loop --config {loop} --dry-run --set gate.rule=always --set measure.every=2 --set gate.games_per_task=3 --set gate.flags.vizits=3",
        "gate.flags: Unknown flag --vizits",
    ),
    ("loop --config {loop} --dry-run --set training.sections.run.device=tpu", "run.device: 'tpu' is no device"),
    ("loop --config {loop} --dry-run --set training.start={alien_pt}", "holds another network shape"),
    ("loop --config {loop} --dry-run --set engine=['false']", "false selfplay"),
    ("loop --config {loop} --set engine=[no-such-engine]", "engine: there is no program 'no-such-engine'"),
    ("loop --config {loop} --set engine=[]", "engine: there is no program ''"),
    ("loop --config {loop} --set selfplay.book={here}/none.pgn", "selfplay.book: there is no file {here}/none.pgn"),
    ("loop --config {loop} --set gate.book={here}/none.pgn", "gate.book: there is no file {here}/none.pgn"),
    ("loop --config {loop} --set cluster.address=127.0.0.1:1", "no Ray cluster at 127.0.0.1:1"),
    ("loop --config {loop} --set cluster.address=127.0.0.1:99999", "no Ray cluster at 127.0.0.1:99999"),
    ("spread label --out {busy} --games 2", "still working in {busy}"),
    ("spread match --out {here}/m --games 3", "must be even"),
    ("spread match --out {binary} --games 2", "{binary}: it is a file, not a folder"),
    ("pretrain games --out {binary} --engine true", "{binary}: it is a file, not a folder"),
    ("loop --config {loop} --set run.out={binary}", "{binary}: it is a file, not a folder"),
    ("spread analyse {here}/none.pgn --out {here}/a", "none.pgn"),
    ("inspect {moves}", "the shards are damaged: they hold moves beyond the 1858 of their policy encoding"),
    ("train --config {train} --overwrite --set data.batch_size=97", "too little data: 96 positions for 1 loader processes"),
    ("train --config {train} --overwrite --set data.workers=64", "too little data: 96 positions for 64 loader processes"),
    (
        "train --config {train} --set data.batch_size=32 --set model.filters=8 --set run.out={binary}",
        "{binary}: it is a file, not a folder",
    ),
    ("export {here}/none.pt --out {here}/a.onnx", "not a readable checkpoint (No such file"),
    ("export {binary} --out {here}/a.onnx", "not a readable checkpoint (damaged"),
    ("average {binary} --out {here}/a.pt", "not a readable checkpoint (damaged"),
    ("assess {binary} --shards {shards}", "cannot read {binary}"),
    ("assess {alien_onnx} --shards {shards}", "none of ours or lc0's: it needs /input/planes"),
    ("assess {empty_onnx} --shards {shards}", "ONNX Runtime cannot run the network"),
    ("export {old_pt} --out {here}/a.onnx", "does not know the checkpoint's configuration (model.widgets: there is no such key"),
    ("export {alien_pt} --out {here}/a.onnx", "weights are not those of the network that its configuration describes"),
    ("train --config {train} --set data.batch_size=32 --set run.start_from={old_pt}", "does not know the checkpoint's configuration"),
    ("train --config {train} --set data.batch_size=32 --set run.start_from={alien_pt}", "weights are not those of the network"),
    ("weights {binary} --out {here}/a.pt", "not a readable checkpoint (damaged"),
    ("weights {parts_pt} --out {here}/a.pt", "not a readable checkpoint (parts of it are missing)"),
    ("export {good_pt} --out {here}/a.onnx --shards {empty}", "{empty} holds no positions"),
    (
        "export {good_pt} --out {here}/a.onnx --precision int8 --calibration {shards} --keep nobody",
        "--keep: no layer has 'nobody' in its name",
    ),
    ("bundle {good_pt} --large --shards {shards} --out {damaged}", "cannot read {damaged}/bundled.json"),
    ("assess {alien_onnx} --shards {empty}", "{empty} holds no positions"),
    ("inspect {empty}", "{empty} holds no positions"),
    ("compare {damaged} --out {here}/a.png", "holds no training"),
    ("try-recipe --config {loop}", "has no section reduced"),
    ("try-recipe --config {loop} --full --set engine=[no-such-engine]", "engine: there is no program 'no-such-engine'"),
    ("bench-loader {shards} --batch-size 97", "too little data"),
    ("inspect {here}/none", "no such file or folder"),
    ("compare {here}/none --out {here}/a.png", "holds no training"),
]


# Numbers below their range: argparse's sentence, status 2.
LOW = [
    "loop --config a --prune 0",
    "loop --config a --rollback -1",
    "try-recipe --config a --minutes -1",
    "try-recipe --config a --games 0",
    "export a --out b --positions 0",
    "bundle a --calibration-positions -3",
    "assess a --shards b --positions 0",
    "inspect a --batches 0",
    "bench-loader a --copies 0",
    "bench-loader a --workers -1",
    "bench-loader a --batch-size 0",
    "spread label --out a --games -4",
    "spread match --out a --games-per-task 0",
    "spread analyse a --out b --minutes 0",
]


@pytest.mark.parametrize("words", LOW)
def test_a_number_below_its_range_is_one_sentence(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(words.split())
    assert end.value.code == 2
    assert "is below" in capsys.readouterr().err.splitlines()[-1]


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    here = tmp_path_factory.mktemp("wrong")
    (here / "binary").write_bytes(bytes(range(128, 256)))
    (here / "list.yaml").write_text("- a\n- b\n")
    (here / "broken.yaml").write_text("a: [1\n")
    for name, encoding, rows in (("shards", "lc0-112", 96), ("mini", "mini-19", 96), ("empty", "lc0-112", 0)):
        (here / name).mkdir()
        write_shard(here / name / "0.arrow", 1, min(rows, 1), rows, encoding, "lc0-1858")
    for name in ("few", "narrow", "torn"):
        (here / name).mkdir()
    write_shard(here / "torn/0.arrow", 1, 2, 96)
    whole = (here / "torn/0.arrow").read_bytes()
    (here / "torn/0.arrow").write_bytes(whole[: len(whole) // 3] + bytes(len(whole) // 3) + whole[2 * len(whole) // 3 :])
    (here / "moves").mkdir()
    table = pa.ipc.open_file(here / "shards/0.arrow").read_all()
    table = table.set_column(2, "legal", pa.array([[1858]] * table.num_rows, pa.list_(pa.uint16())))
    with pa.ipc.new_file(str(here / "moves/0.arrow"), table.schema) as writer:
        writer.write_table(table)
    form = schema("lc0-112", "lc0-1858")
    with pa.ipc.new_file(str(here / "few/0.arrow"), pa.schema([form.field("masks")], metadata=form.metadata)):
        pass
    with pa.ipc.new_file(str(here / "narrow/0.arrow"), form.with_metadata({**form.metadata, b"sardonyx.planes": b"111"})):
        pass
    train = {"data": {"train": [str(here / "shards")]}, "schedule": {"max_steps": 1}, "run": {"out": str(here / "run")}}
    (here / "train.yaml").write_text(yaml.safe_dump(train))
    (here / "loop.yaml").write_text(yaml.safe_dump(create_raw(here / "loop")))
    for name in ("busy", "old", "other", "begun", "damaged", "shardsfolder/shards"):
        (here / name).mkdir(parents=True)
    (here / "old/last.pt").write_bytes(b"run")
    write_weights(here / "old.pt", {"schedule": {"max_steps": 1}, "model": {"widgets": 3}}, {})
    tiny = parse_config({"schedule": {"max_steps": 1}, "model": {"filters": 8, "blocks": 1}})
    write_weights(here / "good.pt", tiny.model_dump(), Network(tiny.model).state_dict())
    torch.save({"version": 1, "config": "none", "network": {}, "average": {}}, here / "parts.pt")
    write_weights(here / "alien.pt", parse_config({"schedule": {"max_steps": 1}}).model_dump(), {"a": torch.zeros(1)})
    tensor = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1])
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "alien", [tensor], [helper.make_empty_tensor_value_info("y")])
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), here / "alien.onnx")
    onnx.save(onnx.ModelProto(), here / "empty.onnx")
    write_json(here / "other/pretrain.json", {"games": ["others"]})
    write_json(here / "begun/state.json", {"version": 1, "name": "tiny", "current": {"number": 1, "base": 0}, "generations": []})
    for name in ("state.json", "bundled.json"):
        (here / "damaged" / name).write_text("{")
    (here / "damaged/history.jsonl").write_text('3\n{"kind": "train"}\n')
    return {
        "here": str(here),
        **{path.name: str(path) for path in here.iterdir() if path.suffix == ""},
        **{name: str(here / f"{name}.yaml") for name in ("list", "broken", "train", "loop")},
        **{name: str(here / name.replace("_", ".")) for name in ("old_pt", "alien_pt", "good_pt", "parts_pt", "alien_onnx", "empty_onnx")},
    }


@pytest.mark.parametrize(("words", "sentence"), WRONG)
def test_a_wrong_set_up_is_one_sentence_and_nothing_is_lost(
    place: dict[str, str], words: str, sentence: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    here = Path(place["here"])
    monkeypatch.setattr("sardonyx_train.base.lock.TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr("sardonyx_train.commands.train.Stopped", None)  # nothing gets that far

    def describe() -> dict[str, bytes]:
        return {str(path): path.read_bytes() for path in here.rglob("*") if path.is_file() and path.name not in ("lock", "loop.yaml")}

    before = describe()
    with lock_folder(here / "busy"):
        command = [word.format(**place) for word in words.split()]
        own = [*command, "--engine", *FAKE_ENGINE] if command[0] == "spread" else command
        assert main(own) == 1
    said = capsys.readouterr().err
    lines = [line for line in said.splitlines() if line.startswith(f"{command[0]}: ")]
    assert lines == said.splitlines()[-1:] and sentence.format(**place) in lines[0], said
    after = describe()
    assert {path: content for path, content in after.items() if path in before} == before


def test_a_device_that_is_not_there_is_one_sentence(
    shard_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "train.yaml"
    config = {"data": {"train": [str(shard_folder)], "workers": 0}, "schedule": {"max_steps": 1}, "run": {"out": str(tmp_path / "run")}}
    path.write_text(json.dumps(config))
    monkeypatch.setattr("torch.cuda.device_count", lambda: count[0])
    loop = tmp_path / "loop.yaml"
    loop.write_text(yaml.safe_dump(create_raw(tmp_path / "loop")))
    own = ["loop", "--dry-run", "--config", str(loop), "--set"]
    for there, device, sentence in (
        (0, "cuda", "run.device is cuda, and there is no CUDA device"),
        (1, "cuda:1", "run.device is cuda:1 and needs 2 CUDA devices, but there is 1"),
        (0, "tpu", "run.device: 'tpu' is no device"),
        (0, "xpu", "run.device is xpu, which PyTorch cannot use here"),
        (0, "meta", "run.device is meta, which PyTorch cannot use here"),
    ):
        count = [there]
        assert main([*own, f"training.sections.run.device={device}"]) == 1
        assert sentence in capsys.readouterr().err.splitlines()[-1]
        assert main(["train", "--config", str(path), "--set", f"run.device={device}"]) == 1
        assert sentence in capsys.readouterr().err.splitlines()[-1]


@pytest.mark.parametrize(
    ("place", "error", "sentence"),
    [
        (
            "create_network",
            RuntimeError("DefaultCPUAllocator: can't allocate memory: you tried to allocate 9 bytes"),
            "lower model.filters",
        ),
        (
            "evaluate",
            torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB."),
            "minibatches of 32 positions: data.batch_size=16 optimizer.accumulation=2 fits",
        ),
        ("evaluate", RuntimeError("DataLoader worker (pid 7) is killed by signal: Killed."), "a loader process was killed"),
        (
            "evaluate",
            TrainError("Caught TrainError in process 0.\nTraceback:\n …\nsardonyx_train.base.errors.TrainError: a: gone\n"),
            "train: a: gone",
        ),
    ],
)
def test_too_little_memory_is_one_sentence_that_says_what_to_lower(
    shard_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, place, error, sentence
) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(f"sardonyx_train.training.trainer.{place}", fail)
    assert main(["train", "--config", str(_write_small(shard_folder, tmp_path))]) == 1
    assert sentence in capsys.readouterr().err.splitlines()[-1]


def test_the_batch_that_fits_is_found_by_trying(
    shard_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forward = Network.forward

    def run(self: Network, planes: torch.Tensor) -> object:
        if len(planes) > 5:
            raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2 GiB.")
        return forward(self, planes)

    monkeypatch.setattr(Network, "forward", run)
    assert main(["train", "--config", str(_write_small(shard_folder, tmp_path))]) == 1
    sentence = "the memory is too small for minibatches of 32 positions: data.batch_size=4 optimizer.accumulation=8 fits"
    assert sentence in capsys.readouterr().err.splitlines()[-1]


def test_resuming_a_finished_run_says_how_to_go_on(shard_folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    command = ["train", "--config", str(_write_small(shard_folder, tmp_path))]
    assert main(command) == 0
    assert "is done already" not in capsys.readouterr().err
    assert main([*command, "--resume"]) == 0
    assert "the plan is done already: to train on, raise schedule.max_steps" in capsys.readouterr().err


def _write_small(shards: Path, folder: Path) -> Path:
    data = {"train": [str(shards)], "validation": [str(shards)], "batch_size": 32, "workers": 0}
    run = {"out": str(folder / "run"), "device": "cpu", "precision": "fp32", "tensorboard": False}
    path = folder / "train.yaml"
    path.write_text(yaml.safe_dump({"data": data, "model": {"filters": 8, "blocks": 1}, "schedule": {"max_steps": 1}, "run": run}))
    return path


def test_a_stopped_run_says_what_resumes_it(
    shard_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sardonyx_train.commands.train.stop_on_signals", lambda stop: stop())
    assert main(["train", "--config", str(_write_small(shard_folder, tmp_path))]) == 130
    assert capsys.readouterr().err.endswith("train: stopped; the same command with --resume resumes it\n")


def test_a_request_to_stop_in_the_first_second_is_one_sentence() -> None:
    script = "import os, signal, sys; from sardonyx_train import program; sys.argv = ['x', 'inspect', 'a']\n"
    script += "program.importlib.import_module = lambda *_: os.kill(os.getpid(), signal.SIGTERM)\nprogram.start()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (130, "inspect: stopped\n")
