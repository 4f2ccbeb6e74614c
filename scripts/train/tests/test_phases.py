import numpy as np
import onnx
import pytest
import torch
from sardonyx_train.config.training_config import ModelConfig
from sardonyx_train.export.graph import ModelCard, create_onnx
from sardonyx_train.export.phases import evaluate
from sardonyx_train.export.quantise import PRECISION_KEY
from sardonyx_train.export.verify import create_session
from sardonyx_train.model.network import Network
from sardonyx_train.program import main


def _export(path, seed, **keys):
    torch.manual_seed(seed)
    config = ModelConfig(**{"filters": 16, "blocks": 1, "heads": 2, **keys})
    onnx.save(create_onnx(Network(config).eval(), config, ModelCard(f"net {seed}", "GPL-3.0-or-later", f"run {seed}")), path)
    return str(path)


def _planes(men):
    planes = np.zeros((1, 112, 8, 8), np.float32)
    for i in range(men):
        planes[0, i % 12, i // 8, i % 8] = 1
    planes[0, 12:] = 0.25
    return planes


def test_each_phase_has_the_answers_of_its_network(tmp_path):
    parts = [_export(tmp_path / f"{i}.onnx", i) for i in range(3)]
    out = tmp_path / "joined.onnx"
    assert main(["join", *parts, "--men", "27", "15", "--name", "phases", "--out", str(out)]) == 0
    joined = create_session(onnx.load(out))
    card = joined.get_modelmeta().custom_metadata_map
    assert (card["sardonyx.phases"], card["sardonyx.name"]) == ("27 15", "phases")
    assert card["sardonyx.training"] == "run 0; run 1; run 2"
    for men, part in ((32, 0), (27, 0), (26, 1), (15, 1), (14, 2), (3, 2)):
        planes = np.concatenate([_planes(men)] * 3)
        expected = create_session(onnx.load(parts[part])).run(None, {"/input/planes": planes})
        for ours, theirs in zip(joined.run(None, {"/input/planes": planes}), expected, strict=True):
            assert np.allclose(ours, theirs, atol=1e-5), men


def test_positions_of_all_phases_are_evaluated_each_by_its_network(tmp_path):
    parts = [_export(tmp_path / f"{i}.onnx", i) for i in range(3)]
    assert main(["join", *parts, "--men", "27", "15", "--out", str(tmp_path / "joined.onnx")]) == 0
    men = [3, 32, 20, 14, 27, 26, 15]
    planes = np.concatenate([_planes(number) for number in men])
    found = evaluate(create_session(onnx.load(tmp_path / "joined.onnx")), planes)
    for row, number in enumerate(men):
        part = parts[0 if number >= 27 else 1 if number >= 15 else 2]
        for ours, theirs in zip(found, evaluate(create_session(onnx.load(part)), planes[row : row + 1]), strict=True):
            assert np.allclose(ours[row], theirs[0], atol=1e-5), number


def test_weights_in_8_bits_stay_beside_their_operators(tmp_path):
    parts = [_export(tmp_path / f"{i}.onnx", i) for i in range(2)]
    for part in parts:
        model = onnx.load(part)
        model.metadata_props.add(key=PRECISION_KEY, value="int8")
        onnx.save(model, part)
    out = tmp_path / "joined.onnx"
    assert main(["join", *parts, "--men", "20", "--out", str(out)]) == 0
    assert all(tensor.name.startswith("men/") for tensor in onnx.load(out).graph.initializer)
    for men, part in ((32, 0), (10, 1)):
        planes = np.concatenate([_planes(men)] * 3)
        expected = create_session(onnx.load(parts[part])).run(None, {"/input/planes": planes})
        for ours, theirs in zip(create_session(onnx.load(out)).run(None, {"/input/planes": planes}), expected, strict=True):
            assert np.allclose(ours, theirs, atol=1e-5), men


@pytest.mark.parametrize(
    ("men", "sentence"),
    [
        (["15", "27"], "falling numbers"),
        (["27"], "takes 2 falling numbers from 32 to 3 for 3 networks"),
        (["33", "15"], "falling numbers"),
        (["27", "2"], "falling numbers"),
    ],
)
def test_wrong_borders_are_one_sentence(men, sentence, tmp_path, capsys):
    parts = [_export(tmp_path / f"{i}.onnx", i) for i in range(3)]
    assert main(["join", *parts, "--men", *men, "--out", str(tmp_path / "out.onnx")]) == 1
    assert sentence in capsys.readouterr().err and not (tmp_path / "out.onnx").exists()


def test_networks_that_do_not_fit_together_are_refused(tmp_path, capsys):
    first = _export(tmp_path / "a.onnx", 1)
    for other in (_export(tmp_path / "b.onnx", 2, moves_left=False), _export(tmp_path / "c.onnx", 2, input="attacks-50")):
        assert main(["join", first, other, "--men", "20", "--out", str(tmp_path / "out.onnx")]) == 1
        assert "different inputs or outputs" in capsys.readouterr().err
    mini = [_export(tmp_path / f"mini{i}.onnx", i, input="mini-19") for i in (0, 1)]
    assert main(["join", *mini, "--men", "20", "--out", str(tmp_path / "out.onnx")]) == 1
    assert "lc0-112 and attacks-50" in capsys.readouterr().err
    (tmp_path / "text.onnx").write_text("no network")
    assert main(["join", first, str(tmp_path / "text.onnx"), "--men", "20", "--out", str(tmp_path / "out.onnx")]) == 1
    assert "cannot read" in capsys.readouterr().err
