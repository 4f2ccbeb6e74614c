import json
import subprocess

import explain
import numpy as np
import pytest
import torch
from sardonyx_train.checkpoint import write_checkpoint
from sardonyx_train.config import ConfigError, parse_config
from sardonyx_train.explain.maps import compute_grad_cam, compute_occlusion, form_opinions
from sardonyx_train.explain.loaded_network import load_network, win_minus_loss
from sardonyx_train.explain.position import ExplainError, encode_position, parse_position
from sardonyx_train.export.graph import ModelCard, create_onnx
from sardonyx_train.loop.loop_config import LoopConfig, find_engine
from sardonyx_train.model.network import Network, Outputs

WHOLE = "f" * 16


def _position(side="white", squares=range(64)):
    """A made-up encoding of three planes: one piece on c2 and one on e4, and the whole board at half strength."""
    return parse_position(
        {
            "fen": "8/8/8/8/4n3/8/2Q5/8 w - - 0 1",
            "sideToMove": side,
            "masks": [f"{1 << 10:016x}", f"{1 << 28:016x}", WHOLE],
            "values": [1, 1, 0.5],
            "board": "." * 10 + "Q" + "." * 17 + "n" + "." * 35,
            "squares": list(squares),
            "legal": [{"move": "c2e4", "index": 3}, {"move": "c2c3", "index": 1}],
        }
    )


def _evaluate(planes):
    """The move of index 3 likes what stands on e4, the value likes c2; the whole-board plane counts for both."""
    flat = planes.reshape(len(planes), 3, 64)
    logits = np.zeros((len(planes), 5), np.float32)
    logits[:, 3] = 2 * flat[:, 1, 28] + flat[:, 2, 0]
    logits[:, 0] = 99  # illegal
    return logits, flat[:, 0, 10] * 0.25 + flat[:, 2, 0]


def test_an_opinion_counts_legal_moves_only():
    position = _position()
    (opinion,) = form_opinions(_evaluate, position, position.planes[None])
    assert opinion.probabilities == pytest.approx([1 / (1 + np.exp(-2.5)), 1 / (1 + np.exp(2.5))])
    assert opinion.value == 0.75


def test_occlusion_finds_the_squares_that_matter_and_only_those():
    maps = compute_occlusion(_evaluate, _position(), 0)
    assert np.flatnonzero(maps.policy).tolist() == [28] and maps.policy[28] > 0.2
    assert np.flatnonzero(maps.value).tolist() == [10] and maps.value[10] == 0.25


def test_maps_are_turned_to_the_board_as_the_encoding_says():
    position = _position("black", [square ^ 56 for square in range(64)])
    board = position.to_board(np.arange(64))
    assert board[7, 0] == 0 and board[0, 7] == 63 and board[7, 3] == 3


class _Planted(torch.nn.Module):
    """Feature 0 speaks for the value, feature 1 against it; the policy hears feature 1 alone."""

    scalar_value = True

    def __init__(self):
        super().__init__()
        self.body = torch.nn.Identity()

    def forward(self, planes):
        features = self.body(planes.requires_grad_())
        value = features[:, 0].sum((1, 2)) - features[:, 1].sum((1, 2))
        policy = torch.zeros(1, 5) + features[:, 1].sum() * torch.tensor([0, 0, 0, 1.0, 0])
        return Outputs(policy, value[:, None], None)


def test_grad_cam_shows_features_that_raise_the_target():
    maps = compute_grad_cam(_Planted(), _position(), 0)
    assert np.flatnonzero(maps.value).tolist() == [10]
    assert np.flatnonzero(maps.policy).tolist() == [28]


def test_values_of_both_kinds_become_win_minus_loss():
    assert win_minus_loss(np.array([[0.5, 0.3, 0.2]])) == pytest.approx([0.3])
    assert win_minus_loss(np.array([[-0.4]])) == pytest.approx([-0.4])


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """One random network as a checkpoint and as ONNX."""
    folder = tmp_path_factory.mktemp("networks")
    config = parse_config({"model": {"filters": 8, "blocks": 1, "heads": 2}, "schedule": {"max_steps": 1}})
    torch.manual_seed(5)
    network = Network(config.model).eval()
    weights = network.state_dict()
    write_checkpoint(folder / "net.pt", {"config": config.model_dump(), "network": weights, "average": weights})
    model = create_onnx(network, config.model, ModelCard("tiny", "none", "none"))
    (folder / "net.onnx").write_bytes(model.SerializeToString())
    return folder


def test_a_checkpoint_and_its_onnx_file_have_one_opinion(files):
    planes = np.random.default_rng(1).random((3, 112, 8, 8), np.float32)
    (policy, value), (policy_onnx, value_onnx) = (load_network(files / n).evaluate(planes) for n in ("net.pt", "net.onnx"))
    assert np.allclose(policy, policy_onnx, atol=1e-4) and np.allclose(value, value_onnx, atol=1e-5)
    with pytest.raises(ExplainError, match="no network file"):
        load_network(files / "other.onnx")


def _engine():
    try:
        engine = find_engine(LoopConfig())
    except ConfigError as error:
        pytest.skip(str(error))
    if subprocess.run([*engine, "encode", "--help"], capture_output=True).returncode != 0:
        pytest.skip("the engine that is built here has no encode command")
    return engine


def test_the_engine_encodes_a_position_for_us(files):
    position = encode_position(_engine(), "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1", "e2e4", "lc0-112", "lc0-1858")
    assert position.is_black_to_move and len(position.moves) == 5
    pawn = np.zeros(64)
    pawn[36] = 1  # e4 seen from Black's side
    assert np.array_equal(position.planes[6], pawn) and position.to_board(pawn)[3, 4] == 1
    assert position.board[28] == "P"
    with pytest.raises(ExplainError):
        encode_position(_engine(), "no position", "", "lc0-112", "lc0-1858")


@pytest.mark.parametrize(("name", "method"), [("net.onnx", "occlusion"), ("net.pt", "grad-cam")])
def test_the_command_draws_a_picture(files, tmp_path, capsys, name, method):
    _engine()
    out = tmp_path / "why.png"
    arguments = [files / name, "--moves", "e2e4 c7c5", "--move", "g1f3", "--method", method, "--out", out]
    assert explain.main([*map(str, arguments)]) == 0
    assert f"{out}: g1f3" in capsys.readouterr().out and out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize("keys", [{"filters": 8, "blocks": 1}, {"filters": 8, "blocks": 1, "policy": "from-to-4096", "policy_head": "dense", "value": "scalar"}])
@pytest.mark.parametrize("moves", ["", "e2e4"])
def test_the_engines_grad_cam_by_finite_differences_agrees_with_the_gradients(tmp_path, keys, moves):
    engine = _engine()
    config = parse_config({"model": {"heads": 2, **keys}, "schedule": {"max_steps": 1}})
    torch.manual_seed(7)
    network = Network(config.model).eval()
    with torch.no_grad():
        for weight in (*network.value.parameters(), *network.policy.parameters()):
            weight *= 3  # a random network's slopes are too small for single precision
        for module in network.modules():  # without biases an empty square stands exactly at the corner of its ReLUs
            if isinstance(module, torch.nn.BatchNorm2d):
                module.bias.normal_(0, 0.3)
    model = create_onnx(network, config.model, ModelCard("tiny", "none", "none"))
    (tmp_path / "net.onnx").write_bytes(model.SerializeToString())
    command = [*engine, "explain", "--method=gradcam", "--json", "--weights", str(tmp_path / "net.onnx"), "--moves", moves]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    fen = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1"
    position = encode_position(engine, fen, moves, config.model.input, config.model.policy)
    maps = compute_grad_cam(network, position, position.moves.index(answer["move"]))
    for name, map in (("policy", maps.policy), ("value", maps.value)):
        board = position.to_board(map / max(map.max(), 1e-12)).reshape(64)
        assert np.array([square[name] for square in answer["squares"]]) == pytest.approx(board, abs=0.03)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--method", "grad-cam"], "explain: Grad-CAM needs gradients"),
        (["--move", "e2e5"], "explain: e2e5 is not a legal move here; legal are"),
        (["--fen", "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"], "explain: the game is over in this position"),
        (["--out", f"{__file__}/why.png"], "explain: [Errno 20] Not a directory"),
    ],
)
def test_the_command_says_in_one_line_what_is_wrong(files, tmp_path, capsys, arguments, sentence):
    _engine()
    out = tmp_path / "why.png"
    assert explain.main([str(files / "net.onnx"), "--out", str(out), *arguments]) == 1
    error = capsys.readouterr().err
    assert error.startswith(sentence) and len(error.splitlines()) == 1
    assert not out.exists()
