from pathlib import Path

import pytest
from sardonyx_train.base.errors import TrainError
from sardonyx_train.config.training_config import (
    ModelConfig,
    TrainingConfig,
    describe_config,
    format_config,
    is_same_shape,
    load_config,
    override,
    parse_config,
    read_saved,
)
from sardonyx_train.model.network import Network

FOLDER = Path(__file__).parent.parent / "configs"
CONFIGS = sorted(path for path in FOLDER.glob("*.yaml") if not path.stem.startswith("loop-"))


def test_an_unknown_key_is_named():
    with pytest.raises(TrainError, match=r"model\.filtres"):
        parse_config({"schedule": {"max_steps": 1}, "model": {"filtres": 3}})


def test_a_value_out_of_range_is_named_with_the_reason():
    with pytest.raises(TrainError, match=r"targets\.result_weight must be a number ≥ 0 and ≤ 1, not 2"):
        parse_config({"schedule": {"max_steps": 1}, "targets": {"result_weight": 2}})


@pytest.mark.parametrize(
    ("section", "key", "value", "allowed"),
    [
        ("run", "seed", 10**30, "a whole number ≥ 0 and ≤ 9223372036854775807"),
        ("run", "threads", 100_000, "a whole number ≥ 0 and ≤ 512"),
        ("data", "batch_size", True, "a whole number ≥ 1"),
        ("model", "policy", "foo", "one of lc0-1858, from-to-4096, alphazero-4672"),
    ],
)
def test_what_a_key_may_be_is_said_with_it(section, key, value, allowed):
    with pytest.raises(TrainError) as raised:
        parse_config({"schedule": {"max_steps": 1}, section: {key: value}})
    assert str(raised.value) == f"{section}.{key} must be {allowed}, not {value!r}"


def test_a_run_without_an_end_is_refused():
    with pytest.raises(TrainError, match="max_steps or max_minutes"):
        parse_config({"schedule": {}})


def test_a_preset_is_a_base_that_other_keys_override():
    config = parse_config({"schedule": {"max_steps": 1}, "model": {"preset": "neuralmate2", "blocks": 3}})
    assert (config.model.filters, config.model.blocks, config.model.norm) == (192, 3, "group")


def test_an_unknown_preset_lists_the_known_ones():
    with pytest.raises(TrainError, match=r"unknown preset 'huge'.*mini-leela"):
        parse_config({"schedule": {"max_steps": 1}, "model": {"preset": "huge"}})


def test_format_then_parse_is_the_identity(tmp_path):
    config = parse_config({"schedule": {"max_steps": 9}, "model": {"preset": "sardonyx-64x6"}})
    path = tmp_path / "config.yaml"
    path.write_text(format_config(config))
    assert load_config(path) == config


def test_overrides_reach_one_key_and_leave_the_rest():
    raw = {"schedule": {"max_steps": 1}}
    override(raw, "schedule.warmup_steps=7")
    override(raw, "data.train=[a, b]")
    assert raw == {"schedule": {"max_steps": 1, "warmup_steps": 7}, "data": {"train": ["a", "b"]}}


def test_a_malformed_override_is_an_error():
    with pytest.raises(TrainError, match="section.key=value"):
        override({}, "max_steps")


def test_the_description_lists_every_section():
    text = "\n".join(describe_config())
    assert all(f"{section}:" in text for section in ("data", "targets", "model", "loss", "optimizer", "schedule", "run"))


def test_a_shape_does_not_hang_on_the_preset_that_it_was_spelled_with():
    preset = ModelConfig(preset="sardonyx-64x6")
    spelled_out = ModelConfig(**{**preset.model_dump(), "preset": None})
    assert is_same_shape(preset, spelled_out) and is_same_shape(preset.model_dump(), spelled_out)
    assert is_same_shape({**preset.model_dump(), "preset": "of an older version"}, preset)
    assert not is_same_shape({**preset.model_dump(), "filters": 63}, preset)


def test_an_override_that_is_no_yaml_is_named():
    with pytest.raises(TrainError, match=r"override 'run.name=\[': '\[' is not YAML"):
        override({}, "run.name=[")


def test_values_are_taken_as_they_are_and_overrides_come_after_them(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text("schedule: {max_steps: 1}")
    own = {"run": {"name": "1", "out": "runs/[a], b"}, "data": {"train": ["x: y"]}}
    config = load_config(path, ["run.out=elsewhere"], own)
    assert (config.run.name, config.run.out, config.data.train) == ("1", "elsewhere", ["x: y"])


def test_the_description_says_of_every_key_what_it_is_what_it_may_be_and_how_large():
    text = "\n".join(describe_config())
    assert "body: resnet  # what lies between the planes and the heads; resnet, transformer, sight" in text
    assert "history_dropout: 0.0  # share of positions whose boards before a random ply are blanked; ≥ 0, ≤ 1" in text
    assert [line for line in text.splitlines() if line.startswith("  ") and "  # " not in line] == []


@pytest.mark.parametrize(
    ("sections", "key"),
    [
        ({"schedule": {"max_steps": 1, "kind": "plateau"}}, "schedule.kind plateau"),
        ({"schedule": {"max_steps": 1}, "run": {"early_stopping": 2}}, "run.early_stopping"),
    ],
)
def test_what_waits_for_improvement_needs_held_out_positions(sections, key):
    with pytest.raises(TrainError, match=f"{key} needs data.validation") as caught:
        parse_config(sections)
    assert "\n" not in str(caught.value)
    parse_config({**sections, "data": {"validation": ["held-out"]}})


@pytest.mark.parametrize("path", CONFIGS, ids=lambda p: p.stem)
def test_every_training_configuration_in_the_repository_is_valid_and_builds_its_network(path):
    config = load_config(path)
    Network(config.model)
    assert config.run.out.startswith("runs/")


def test_keys_that_earlier_programs_had_are_left_out_of_a_saved_configuration():
    raw = {"schedule": {"max_steps": 1}, "run": {"name": "old", "quantisation_aware": False, "signed_share": 1.0}}
    assert read_saved(TrainingConfig, raw).run.name == "old"
    with pytest.raises(TrainError, match=r"run\.signed_shares"):
        read_saved(TrainingConfig, {"schedule": {"max_steps": 1}, "run": {"signed_shares": 1.0}})
