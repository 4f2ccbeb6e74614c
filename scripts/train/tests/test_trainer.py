import json
import math
import os
import signal
import subprocess
import sys
import time

import pytest
import torch
import yaml
from sardonyx_train.base.errors import TrainError
from sardonyx_train.base.files import read_rows
from sardonyx_train.program import main
from sardonyx_train.training import precision
from sardonyx_train.training.checkpoint import read_checkpoint, write_checkpoint
from sardonyx_train.training.distributed import join
from sardonyx_train.training.initialise import create_network
from sardonyx_train.training.trainer import Trainer
from train_support.synthetic import configure, run_training, write_shard

TRAIN = [sys.executable, "-m", "sardonyx_train", "train"]


@pytest.mark.pictures
def test_training_learns_and_leaves_checkpoint_history_plot_and_configuration(shard_folder, tmp_path):
    out = tmp_path / "run"
    config = configure(
        shard_folder,
        out,
        data={"validation": [str(shard_folder)]},
        schedule={"max_steps": 40, "warmup_steps": 5},
        optimizer={"learning_rate": 0.01},
        run={"tensorboard": True, "evaluate_steps": 20, "ema_decay": 0.5},
    )
    _, validation = run_training(config)
    rows = read_rows(out / "history.jsonl")
    training = [row for row in rows if row["kind"] == "train"]
    assert training[-1]["policy"] < 0.9 * training[0]["policy"]
    assert [row["step"] for row in rows if row["kind"] == "validation"] == [20, 40]
    assert validation["policy"] > validation["policy_floor"] > 0
    assert {"last.pt", "best.pt", "training.png", "config.yaml", "tensorboard"} <= {p.name for p in out.iterdir()}
    state = read_checkpoint(out / "last.pt")
    assert state["config"] == config.model_dump() and state["progress"]["positions"] == 40 * 32


@pytest.mark.parametrize("workers", [0, 1])
def test_a_resumed_run_takes_the_same_steps_as_an_uninterrupted_one(shard_folder, tmp_path, workers):
    data = {"workers": workers, "mirror": True}
    keys = {"kind": "constant", "warmup_steps": 0}
    whole, _ = run_training(configure(shard_folder, tmp_path / "a", data=data, schedule={**keys, "max_steps": 9}))
    run_training(configure(shard_folder, tmp_path / "b", data=data, schedule={**keys, "max_steps": 4}))
    config = configure(shard_folder, tmp_path / "b", data=data, schedule={**keys, "max_steps": 9})
    resumed, _ = run_training(config, tmp_path / "b" / "last.pt")
    for name, tensor in whole.network.state_dict().items():
        assert torch.equal(tensor, resumed.network.state_dict()[name]), name
    for name, tensor in whole.average.network.state_dict().items():
        assert torch.equal(tensor, resumed.average.network.state_dict()[name]), name
    steps = [row["step"] for row in read_rows(tmp_path / "b" / "history.jsonl")]
    assert steps == list(range(1, 10))


def test_a_longer_cosine_and_a_run_that_stopped_early_say_so_at_a_resume(shard_folder, tmp_path, capsys):
    def configure_run(steps, **run):
        keys = {"kind": "cosine", "warmup_steps": 0, "max_steps": steps}
        return configure(shard_folder, tmp_path / "a", data={"validation": [str(shard_folder)]}, schedule=keys, run=run)

    run_training(configure_run(4))
    run_training(configure_run(8), tmp_path / "a/last.pt")
    assert "the plan has changed: at step 4 the rate goes from 1.0% of the first one to 50.5%" in capsys.readouterr().err
    run_training(configure_run(12), tmp_path / "a/last.pt")
    stopping = {"evaluate_steps": 1, "early_stopping": 1, "ema_decay": 0.0}
    state = read_checkpoint(tmp_path / "a/last.pt")
    state["plateau"]["since_best"] = 1
    write_checkpoint(tmp_path / "a/last.pt", state)
    capsys.readouterr()
    trainer, _ = run_training(configure_run(40, **stopping), tmp_path / "a/last.pt")
    assert trainer.progress.step == 12 and "has stopped early already, at step 12" in capsys.readouterr().err


def test_a_run_stopped_on_request_can_be_resumed_at_that_step(shard_folder, tmp_path):
    config = configure(shard_folder, tmp_path / "run")
    trainer = Trainer(config, join("cpu"))
    trainer.stop.set()
    trainer.run()
    state = read_checkpoint(tmp_path / "run" / "last.pt")
    assert state["progress"]["step"] == 0 and math.isfinite(state["progress"]["minutes"])
    resumed, _ = run_training(config, tmp_path / "run" / "last.pt")
    assert resumed.progress.step == 6


def test_a_stop_within_a_step_leaves_the_run_as_it_was_before_that_step(shard_folder, tmp_path):
    schedule = {"kind": "constant", "warmup_steps": 0, "max_steps": 5}
    whole, _ = run_training(configure(shard_folder, tmp_path / "a", schedule=schedule))
    for moment in ("forward", "backward"):
        config = configure(shard_folder, tmp_path / moment, schedule=schedule)
        trainer = Trainer(config, join("cpu"))

        def stop(*_, trainer=trainer):
            if trainer.progress.step == 3:
                trainer.stop.set()

        module = [m for m in trainer.network.modules() if isinstance(m, torch.nn.BatchNorm2d)][-1]
        if moment == "forward":
            module.register_forward_hook(stop)
        else:
            module.weight.register_post_accumulate_grad_hook(stop)
        trainer.run()
        assert read_checkpoint(tmp_path / moment / "last.pt")["progress"]["step"] == 3
        resumed, _ = run_training(config, tmp_path / moment / "last.pt")
        for name, tensor in whole.network.state_dict().items():
            assert torch.equal(tensor, resumed.network.state_dict()[name]), (moment, name)


def test_a_run_goes_on_in_the_precision_that_auto_chose_and_with_its_minibatches(shard_folder, tmp_path, monkeypatch, capsys):
    run = {"precision": "auto"}
    monkeypatch.setattr(precision, "_time_step", lambda network, batch, name: 1.0 if name == "bf16" else 2.0)
    run_training(configure(shard_folder, tmp_path / "run", run=run, schedule={"max_steps": 2}))
    resolved = read_checkpoint(tmp_path / "run" / "last.pt")["resolved"]
    assert (resolved["precision"], resolved["device"], resolved["threads"]) == ("bf16", "cpu", torch.get_num_threads())
    monkeypatch.setattr(precision, "_time_step", lambda network, batch, name: 1.0 if name == "fp32" else 2.0)
    trainer, _ = run_training(configure(shard_folder, tmp_path / "run", run=run, schedule={"max_steps": 3}), tmp_path / "run" / "last.pt")
    assert trainer.precision == "bf16" and "trains in bf16, as the run began" in capsys.readouterr().err
    with pytest.raises(TrainError, match="data.batch_size 32, the configuration has 16"):
        run_training(configure(shard_folder, tmp_path / "run", data={"batch_size": 16}), tmp_path / "run" / "last.pt")


def test_accumulating_two_halves_equals_the_whole_batch(shard_folder, tmp_path):
    model = {"norm": "group", "norm_groups": 2}
    schedule = {"max_steps": 1, "warmup_steps": 0}
    data = {"mirror": False, "shuffle_batches": 4}
    optimizer = {"kind": "sgd", "learning_rate": 0.1, "momentum": 0.0}
    loss = {"value": 0.0, "moves_left": 0.0}  # every position has a policy, so means of halves average exactly
    common = {"model": model, "schedule": schedule, "loss": loss}
    one, _ = run_training(configure(shard_folder, tmp_path / "a", data={**data, "batch_size": 64}, optimizer=optimizer, **common))
    two, _ = run_training(configure(shard_folder, tmp_path / "b", data=data, optimizer={**optimizer, "accumulation": 2}, **common))
    for (name, a), b in zip(one.network.named_parameters(), two.network.parameters()):
        assert torch.allclose(a, b, atol=1e-6), name


def test_early_stopping_ends_a_run_that_no_longer_improves(shard_folder, tmp_path):
    config = configure(
        shard_folder,
        tmp_path / "run",
        data={"validation": [str(shard_folder)]},
        schedule={"max_steps": 50, "warmup_steps": 0, "kind": "constant"},
        optimizer={"kind": "sgd", "learning_rate": 1e-12, "momentum": 0.0},
        run={"evaluate_steps": 1, "early_stopping": 2, "ema_decay": 0.0},
        model={"norm": "group", "norm_groups": 2},
    )
    trainer, _ = run_training(config)
    assert trainer.progress.step < 50


@pytest.mark.parametrize("kind", ["bf16", "fp16"])
def test_training_in_half_precision_gives_finite_losses(shard_folder, tmp_path, kind):
    run_training(configure(shard_folder, tmp_path / "run", run={"precision": kind}, model={"se_ratio": 2}))
    rows = read_rows(tmp_path / "run" / "history.jsonl")
    assert all(row["total"] == row["total"] for row in rows) and len(rows) == 6


def test_the_precision_is_measured_and_the_measurement_changes_nothing(shard_folder, tmp_path, monkeypatch, capsys):
    run_training(configure(shard_folder, tmp_path / "plain"))
    for fastest in ("fp32", "bf16"):
        monkeypatch.setattr(precision, "_time_step", lambda network, batch, name, best=fastest: 1.0 if name == best else 2.0)
        trainer, _ = run_training(configure(shard_folder, tmp_path / fastest, run={"precision": "auto"}))
        assert trainer.precision == fastest
        assert f"trains in {fastest}: 32 positions take" in capsys.readouterr().err
    monkeypatch.undo()
    network = create_network(configure(shard_folder, tmp_path / "any"), False)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    state = torch.get_rng_state()
    assert precision.choose_precision(network, 112, 8, torch.device("cpu"))[0] in ("fp32", "bf16")
    assert torch.equal(torch.get_rng_state(), state)
    assert all(torch.equal(tensor, before[name]) for name, tensor in network.state_dict().items())
    plain, measured = (read_checkpoint(tmp_path / name / "last.pt")["network"] for name in ("plain", "fp32"))
    assert all(torch.equal(tensor, measured[name]) for name, tensor in plain.items())


def test_another_shape_or_encoding_is_refused_by_name(shard_folder, tmp_path):
    run_training(configure(shard_folder, tmp_path / "run", schedule={"max_steps": 1}))
    with pytest.raises(TrainError, match="another network shape"):
        run_training(configure(shard_folder, tmp_path / "run", model={"filters": 4}), tmp_path / "run" / "last.pt")
    with pytest.raises(TrainError, match="not a readable checkpoint"):
        read_checkpoint(shard_folder / "0000.arrow")
    with pytest.raises(TrainError, match="shards hold lc0-112 / lc0-1858, the network wants mini-19"):
        run_training(configure(shard_folder, tmp_path / "run", model={"input": "mini-19"}))


def test_a_resumed_run_takes_its_rate_and_its_precision_from_the_new_configuration(shard_folder, tmp_path):
    schedule = {"kind": "constant", "warmup_steps": 0}
    run_training(configure(shard_folder, tmp_path / "run", schedule={**schedule, "max_steps": 2}))
    changed = configure(
        shard_folder,
        tmp_path / "run",
        schedule={**schedule, "max_steps": 4},
        optimizer={"learning_rate": 1e-5, "weight_decay": 0.5},
        run={"precision": "fp16"},
    )
    trainer, _ = run_training(changed, tmp_path / "run" / "last.pt")
    assert trainer.progress.step == 4 and trainer.optimizer.rate == 1e-5
    assert trainer.optimizer.parts[0].param_groups[0]["weight_decay"] == 0.5
    assert read_rows(tmp_path / "run" / "history.jsonl")[-1]["learning_rate"] == 1e-5


def test_a_folder_that_holds_a_run_is_neither_restarted_nor_shared(shard_folder, tmp_path, capsys):
    from sardonyx_train.base.lock import lock_folder

    out = tmp_path / "run"
    run_training(configure(shard_folder, out, schedule={"max_steps": 2}))
    config = tmp_path / "config.yaml"
    config.write_text(json.dumps(configure(shard_folder, out, schedule={"max_steps": 3}).model_dump()))
    assert main(["train", "--config", str(config)]) == 1
    assert "by --resume, or delete it by --overwrite" in capsys.readouterr().err
    assert len(read_rows(out / "history.jsonl")) == 2 and read_checkpoint(out / "last.pt")["progress"]["step"] == 2
    with pytest.MonkeyPatch.context() as patch, lock_folder(out), pytest.raises(TrainError, match="still working in"):
        patch.setattr("sardonyx_train.base.lock.TIMEOUT_SECONDS", 0.1)
        run_training(configure(shard_folder, out), out / "last.pt")
    (out / "stable.pt").write_text("of the run before")
    assert main(["train", "--config", str(config), "--overwrite"]) == 0
    assert [row["step"] for row in read_rows(out / "history.jsonl")] == [1, 2, 3]
    assert not (out / "stable.pt").exists()


def test_a_trapezoid_keeps_the_checkpoint_from_before_its_rate_falls(shard_folder, tmp_path):
    schedule = {"kind": "trapezoid", "warmup_steps": 0, "decay_start": 0.5, "max_steps": 6}
    run_training(configure(shard_folder, tmp_path / "a", schedule=schedule))
    stable = tmp_path / "a" / "stable.pt"
    assert read_checkpoint(stable)["progress"]["step"] == 3
    stable.rename(tmp_path / "stable.pt")
    run_training(configure(shard_folder, tmp_path / "a", schedule=schedule), tmp_path / "stable.pt")
    assert not stable.exists()  # it fell from the first step on
    run_training(configure(shard_folder, tmp_path / "a", schedule={**schedule, "max_steps": 12}), tmp_path / "stable.pt")
    assert read_checkpoint(stable)["progress"]["step"] == 6


def test_a_resumed_run_does_not_ask_for_what_it_once_started_from(shard_folder, tmp_path):
    run_training(configure(shard_folder, tmp_path / "a", schedule={"max_steps": 1}))
    start = tmp_path / "a" / "last.pt"
    run = {"start_from": str(start)}
    run_training(configure(shard_folder, tmp_path / "b", schedule={"max_steps": 1}, run=run))
    start.unlink()
    trainer, _ = run_training(configure(shard_folder, tmp_path / "b", schedule={"max_steps": 2}, run=run), tmp_path / "b" / "last.pt")
    assert trainer.progress.step == 2


def test_a_start_from_weights_of_another_recipe_says_once_what_differs(shard_folder, tmp_path):
    recipe = {"loss": {"value": 2.0}, "targets": {"result_weight": 0.0}, "schedule": {"max_steps": 1}}
    run_training(configure(shard_folder, tmp_path / "a", **recipe))
    start, following = tmp_path / "a" / "last.pt", tmp_path / "b" / "last.pt"
    state = read_checkpoint(start)
    del state["config"]["targets"]["policy_mate_step_cp"]  # of an earlier program
    state["config"]["loss"]["unknown"] = 1.0
    write_checkpoint(start, state)

    def begin(place, **sections):
        said = []
        create_network(configure(shard_folder, tmp_path / "b", run={"start_from": str(place)}, **sections), tell=said.append)
        return said

    other = {"targets": {"policy_mate_step_cp": 60.0}}
    assert begin(start, **other) == [f"{start} learnt with loss.value 2.0 and targets.result_weight 0.0; this run has 1.0 and 0.1"]
    assert begin(start, **recipe) == []
    config = configure(shard_folder, tmp_path / "b", run={"start_from": str(start)}, schedule={"max_steps": 1}, **other)
    run_training(config)
    assert begin(following, **other) == []


def test_another_optimizer_or_weights_alone_cannot_be_resumed(shard_folder, tmp_path):
    last = tmp_path / "run" / "last.pt"
    config = configure(shard_folder, tmp_path / "run", schedule={"max_steps": 1})
    run_training(config)
    with pytest.raises(TrainError, match="moments of adamw, the configuration's optimizer is sgd"):
        run_training(configure(shard_folder, tmp_path / "run", optimizer={"kind": "sgd"}), last)
    state = read_checkpoint(last)
    write_checkpoint(last, {name: state[name] for name in ("config", "network", "average", "progress")})
    with pytest.raises(TrainError, match="weights only.*run.start_from"):
        run_training(config, last)


def test_weights_that_are_no_numbers_end_the_run_and_are_not_written(shard_folder, tmp_path):
    optimizer = {"kind": "sgd", "learning_rate": 1e30}
    config = configure(shard_folder, tmp_path / "run", optimizer=optimizer, schedule={"max_steps": 60, "warmup_steps": 0})
    with pytest.raises(TrainError, match="no longer finite at step .*: lower the rates"):
        run_training(config)
    assert not (tmp_path / "run" / "last.pt").exists()


def test_training_computes_with_zero_for_subnormal_numbers(shard_folder, tmp_path):
    if not torch.set_flush_denormal(False):
        pytest.skip("this processor cannot be told to")
    run_training(configure(shard_folder, tmp_path / "run", schedule={"max_steps": 1}))
    assert torch.tensor([2.0**-126]).mul(0.5).item() == 0
    torch.set_flush_denormal(False)


def test_a_checkpoint_of_another_run_does_not_take_a_folder_that_holds_one(shard_folder, tmp_path):
    for name in "ab":
        run_training(configure(shard_folder, tmp_path / name, schedule={"max_steps": 1}))
    with pytest.raises(TrainError, match="holds another run than"):
        run_training(configure(shard_folder, tmp_path / "b", schedule={"max_steps": 2}), tmp_path / "a" / "last.pt")


def test_going_on_from_an_earlier_checkpoint_keeps_a_better_network_that_came_later(shard_folder, tmp_path):
    folder = tmp_path / "run"
    data = {"validation": [str(shard_folder)]}
    run_training(configure(shard_folder, folder, data=data, schedule={"max_steps": 2}))
    (folder / "last.pt").rename(tmp_path / "early.pt")
    best = read_checkpoint(folder / "best.pt")
    best["plateau"]["best"] = 0.0  # nothing will be better
    del best["version"]
    write_checkpoint(folder / "best.pt", best)
    before = (folder / "best.pt").read_bytes()
    run_training(configure(shard_folder, folder, data=data, schedule={"max_steps": 4}), tmp_path / "early.pt")
    assert (folder / "best.pt").read_bytes() == before


def test_an_exception_in_a_loader_process_ends_the_program(shard_folder, tmp_path):
    config = configure(shard_folder, tmp_path / "run", schedule={"max_steps": 1000})
    raw = config.model_dump()
    raw["data"] |= {"workers": 1, "shuffle_batches": 1, "batch_size": 90}
    (tmp_path / "config.yaml").write_text(yaml.safe_dump(raw))
    damage = "\n".join(
        [
            "import sys",
            "from sardonyx_train.data import batch, shards",
            "from sardonyx_train.program import main",
            "made = batch.BatchMaker.make",
            "def make(self, *rest):",
            "    make.calls += 1",
            "    if make.calls > 3: raise shards.TrainError('damaged')",
            "    return made(self, *rest)",
            "make.calls = 0",
            "batch.BatchMaker.make = make",
            f"sys.exit(main(['train', '--config', {str(tmp_path / 'config.yaml')!r}]))",
        ]
    )
    result = subprocess.run([sys.executable, "-c", damage], capture_output=True, text=True, timeout=300)
    assert result.returncode == 1
    assert "damaged" in result.stderr


@pytest.mark.parametrize("preset", ["mini-leela", "neuralmate2"])
def test_seed_presets_train_on_shards_of_their_own_encoding(tmp_path, preset):
    config = configure("unused", tmp_path / "run", model={"preset": preset})
    folder = tmp_path / "shards"
    folder.mkdir()
    write_shard(folder / "0.arrow", 1, 1, 96, config.model.input, config.model.policy)
    config = configure(folder, tmp_path / "run", model={"preset": preset}, schedule={"max_steps": 2})
    trainer, _ = run_training(config)
    assert trainer.progress.step == 2


def test_the_command_reports_a_wrong_configuration_in_one_line(tmp_path, capsys):
    path = tmp_path / "config.yaml"
    path.write_text("schedule: {max_steps: 1}\nmodle: {}\n")
    assert main(["train", "--config", str(path)]) == 1
    assert capsys.readouterr().err.strip() == "train: modle: there is no such key; did you mean model?"


def test_the_command_reports_a_folder_that_cannot_be_made_in_one_line(shard_folder, tmp_path, capsys):
    (tmp_path / "file").touch()
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(configure(shard_folder, tmp_path / "file" / "run").model_dump()))
    assert main(["train", "--config", str(path)]) == 1
    said = [line for line in capsys.readouterr().err.splitlines() if line.startswith("train: ")]
    assert len(said) == 1 and str(tmp_path / "file") in said[0]


@pytest.mark.slow
def test_a_signal_to_the_whole_group_ends_the_run_in_good_order(shard_folder, tmp_path):
    config = configure(shard_folder, tmp_path / "run", schedule={"max_steps": 1_000_000}, data={"workers": 1})
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(config.model_dump()))
    process = subprocess.Popen([*TRAIN, "--config", str(path)], stderr=subprocess.PIPE, text=True, start_new_session=True)
    history = tmp_path / "run" / "history.jsonl"
    deadline = time.monotonic() + 100
    while not (history.exists() and history.stat().st_size > 0) and time.monotonic() < deadline:
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGTERM)
    errors = process.communicate(timeout=60)[1]
    assert process.returncode == 130, errors
    assert read_checkpoint(tmp_path / "run" / "last.pt")["progress"]["step"] > 0


@pytest.mark.slow
@pytest.mark.parametrize("reply_weight", [0.0, 0.15])
def test_two_processes_train_one_network(shard_folder, tmp_path, reply_weight):
    loss = {"reply_policy": reply_weight}  # none of these positions has a reply
    config = configure(shard_folder, tmp_path / "run", schedule={"max_steps": 3}, data={"batch_size": 16}, loss=loss)
    path = tmp_path / "config.yaml"
    path.write_text(json.dumps(config.model_dump()))
    processes = [
        subprocess.Popen(
            [*TRAIN, "--config", str(path)],
            env={
                **os.environ,
                "RANK": str(rank),
                "LOCAL_RANK": str(rank),
                "WORLD_SIZE": "2",
                "MASTER_ADDR": "127.0.0.1",
                "MASTER_PORT": str(20_000 + os.getpid() % 20_000),
            },
            stderr=subprocess.PIPE,
            text=True,
        )
        for rank in range(2)
    ]
    errors = [process.communicate(timeout=120)[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0], errors
    assert read_checkpoint(tmp_path / "run" / "last.pt")["progress"]["positions"] == 3 * 16 * 2


def test_a_run_of_epochs_evaluates_each_epoch_and_logs_the_l2_loss(shard_folder, tmp_path):
    config = configure(
        shard_folder,
        tmp_path / "run",
        data={"validation": [str(shard_folder)]},
        loss={"l2": 1e-4},
        schedule={"max_steps": None, "max_epochs": 2, "warmup_steps": 0},
        run={"evaluate_epochs": 1},
    )
    trainer, _ = run_training(config)
    rows = read_rows(tmp_path / "run" / "history.jsonl")
    assert trainer.progress.step == 2 * 12  # two passes of 384 positions, 32 a step
    assert [row["step"] for row in rows if row["kind"] == "validation"] == [12, 24]
    first = next(row for row in rows if row["kind"] == "train")
    assert first["l2"] > 0
    parts = first["policy"] + first["value"] + 0.02 * first["moves_left"] + 1e-4 * first["l2"]
    assert first["total"] == pytest.approx(parts, abs=1e-5)


def test_a_run_may_start_with_the_moments_of_another(shard_folder, tmp_path):
    run_training(
        configure(shard_folder, tmp_path / "first", schedule={"kind": "plateau", "max_steps": 6}, data={"validation": [str(shard_folder)]})
    )
    last = tmp_path / "first" / "last.pt"
    state = read_checkpoint(last)
    write_checkpoint(last, {**{k: v for k, v in state.items() if k != "version"}, "plateau": {**state["plateau"], "drops": 2}})
    second = configure(shard_folder, tmp_path / "second", run={"start_from": str(last), "start_moments": True})
    trainer = Trainer(second, join("cpu"))
    moments = trainer.optimizer.state_dict()[0]["state"]
    torch.testing.assert_close(moments[0]["exp_avg"], state["optimizer"][0]["state"][0]["exp_avg"])
    assert trainer.plateau.drops == 2 and trainer.progress.step == 0
    other = configure(shard_folder, tmp_path / "third", optimizer={"kind": "sgd"}, run={"start_from": str(last), "start_moments": True})
    assert Trainer(other, join("cpu")).optimizer.state_dict()[0]["state"] == {}


def test_batch_renormalisation_trains_resumes_and_needs_batch_norms(shard_folder, tmp_path):
    run = {"renorm_max_r": 3.0, "renorm_max_d": 5.0, "renorm_steps": 4}
    run_training(configure(shard_folder, tmp_path / "run", run=run))
    more = configure(shard_folder, tmp_path / "run", run=run, schedule={"max_steps": 9})
    trainer, _ = run_training(more, tmp_path / "run" / "last.pt")
    assert trainer.progress.step == 9
    with pytest.raises(TrainError, match="need model.norm batch, not group"):
        configure(shard_folder, tmp_path / "run", run=run, model={"norm": "group"})
