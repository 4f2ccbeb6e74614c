import itertools
import platform

import numpy as np
import onnx
import onnxruntime
import pytest
import torch
from sardonyx_train.config.presets import PRESETS
from sardonyx_train.config.training_config import ModelConfig, TargetConfig, parse_config
from sardonyx_train.data.batch import BatchMaker
from sardonyx_train.data.shards import find_shards, read_common_format
from sardonyx_train.data.stream import read_sequentially
from sardonyx_train.export.graph import ModelCard, convert_to_half, create_onnx, output_shapes
from sardonyx_train.export.passes import merge_policy, pack_tables
from sardonyx_train.export.quantise import check_pair_sums, find_logit_layers, quantise, reads_planes, store_constants, take_evenly
from sardonyx_train.export.verify import create_session, verify
from sardonyx_train.model.network import Network
from sardonyx_train.program import main
from sardonyx_train.training.distributed import join
from sardonyx_train.training.trainer import Trainer

CARD = ModelCard("test", "GPL-3.0-or-later", "none")
SMALL = {"filters": 16, "blocks": 2, "heads": 2}


def _network(**keys):
    torch.manual_seed(4)
    config = ModelConfig(**{**SMALL, **keys})
    network = Network(config)
    with torch.no_grad():
        for name, tensor in network.state_dict().items():  # statistics and gains as after some training
            if "norm" in name and tensor.is_floating_point():
                tensor.add_(0.3 * torch.rand_like(tensor))
    return network.eval(), config


class _Data:
    def __init__(self, folder, count=192):
        self.files = find_shards([str(folder)])
        self.form = read_common_format(self.files)
        self.maker = BatchMaker(self.form, TargetConfig(), False)
        self.count = count

    def __iter__(self):
        return read_sequentially(self.files, self.maker, 64, self.count)


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_preset_exports_with_metadata_and_an_open_batch(preset):
    network, config = _network(preset=preset)
    model = create_onnx(network, config, CARD)
    session = create_session(model)
    planes = network.input_scale.shape[1]
    for count in (1, 5):
        torch.manual_seed(count)
        x = (torch.rand(count, planes, 8, 8) < 0.2).float()
        theirs = session.run(None, {"/input/planes": x.numpy()})
        with torch.no_grad():
            policy = network(x).policy.numpy()
        assert np.abs(theirs[0] - policy).max() < 1e-3
        assert [o.shape for o in theirs] == [(count, width) for width in output_shapes(config).values()]
    metadata = {p.key: p.value for p in model.metadata_props}
    assert metadata["sardonyx.input"] == config.input and metadata["sardonyx.policy"] == config.policy
    assert metadata["sardonyx.value.activation"] == ("tanh" if config.value == "scalar" else "softmax")
    norms = [node.name for node in model.graph.node if node.op_type == "BatchNormalization"]
    assert len(norms) == (config.blocks if config.body == "sight" else 0)  # a gate's follows no convolution
    assert all("/gate/" in name for name in norms)


@pytest.mark.parametrize("has_features", [False, True])
def test_fp32_equals_pytorch_on_positions(shard_folder, has_features):
    network, config = _network(se_ratio=4, board_features=has_features)
    data = _Data(shard_folder)
    result = verify(create_onnx(network, config, CARD), network, data)
    assert result.positions == 192 and result.same_top_move == 1.0
    assert result.policy_max_difference < 1e-5 and result.value_mean_difference < 1e-5
    assert result.accuracy == result.accuracy_torch
    assert "192 positions" in result.format()


def test_fp16_keeps_fp32_inputs_and_outputs_and_nearly_the_same_answers(shard_folder):
    network, config = _network(se_ratio=4)
    data = _Data(shard_folder)
    half = convert_to_half(create_onnx(network, config, CARD))
    types = {t.type.tensor_type.elem_type for t in [*half.graph.input, *half.graph.output]}
    assert types == {onnx.TensorProto.FLOAT}
    assert any(w.data_type == onnx.TensorProto.FLOAT16 for w in half.graph.initializer)
    result = verify(half, network, data)
    assert result.policy_kl < 1e-4 and result.value_mean_difference < 5e-3
    assert {p.key for p in half.metadata_props} >= {"sardonyx.input", "sardonyx.name"}


@pytest.mark.parametrize(("head", "has_features"), [("attention", False), ("convolution", False), ("attention", True)])
def test_int8_stays_close_and_fits_cpus_without_vnni(shard_folder, head, has_features):
    network, config = _network(se_ratio=4, policy_head=head, board_features=has_features)
    data = _Data(shard_folder)
    model = create_onnx(network, config, CARD)
    small = quantise(model, data)
    result = verify(small, network, data)
    assert result.policy_kl < 0.02 and result.value_mean_difference < 0.05
    kernels = _int8_weights(small, 4)
    convolutions = [n for n in model.graph.node if n.op_type == "Conv"]
    assert len(kernels) == len(convolutions) - len(find_logit_layers(model))
    assert sorted(int(np.abs(w.astype(int)).max()) for w in kernels) == [*[64] * (len(kernels) - 1), 127]
    assert len(_int8_weights(small, 2)) == 2 + has_features  # hidden layers of value and moves left; men between squares
    metadata = {p.key: p.value for p in small.metadata_props}
    assert metadata["sardonyx.precision"] == "int8" and metadata["sardonyx.input"] == "lc0-112"


def test_int8_of_a_sight_body_rounds_its_products_too(shard_folder):
    network, config = _network(body="sight", filters=32, heads=4, ffn_ratio=1.0, board_features=True)
    data = _Data(shard_folder)
    small = quantise(create_onnx(network, config, CARD), data)
    result = verify(small, network, data)
    assert result.policy_kl < 0.02 and result.value_mean_difference < 0.05
    mixing = _int8_weights(small, 3)
    assert len(mixing) == config.blocks and max(int(np.abs(w.astype(int)).max()) for w in mixing) <= 64
    rounded = {name for node in small.graph.node if node.op_type == "DequantizeLinear" for name in node.output}
    assert not any(n.op_type == "Split" and rounded & set(n.input) for n in small.graph.node)
    products = [n for n in small.graph.node if n.op_type == "MatMul" and "/blocks." in n.name]
    assert len(products) == 2 * config.blocks and all(name in rounded for n in products for name in n.input)
    results = {name for n in small.graph.node if n.op_type == "MatMul" for name in n.output}
    assert not any(n.op_type == "QuantizeLinear" and n.input[0] in results for n in small.graph.node)
    exact = {n.name for n in small.graph.node if n.op_type == "Conv" and n.input[1] not in rounded}
    assert sum("contract" in name for name in exact) == config.blocks and any("stem" in name for name in exact)


@pytest.mark.parametrize(
    "keys",
    [
        {"body": "sight", "filters": 32, "heads": 4, "ffn_ratio": 1.0},
        {},
        {"policy_channels": 24},
        {"policy": "from-to-4096"},
        {"policy_head": "dense"},
    ],
)
def test_query_and_key_in_one_matrix_give_the_same_logits(keys):
    network, config = _network(**keys)
    with torch.no_grad():
        for tensor in network.policy.parameters():
            tensor.add_(0.1 * torch.randn_like(tensor))
    model = create_onnx(network, config, CARD)
    store_constants(model)
    layers = sum(n.op_type == "MatMul" and n.name.endswith(("query/MatMul", "key/MatMul")) for n in model.graph.node)
    planes = {"/input/planes": (np.random.default_rng(1).random((5, 112, 8, 8)) < 0.2).astype(np.float32)}
    wanted = create_session(model).run(None, planes)
    merge_policy(model)
    onnx.checker.check_model(model)
    for a, b in zip(wanted, create_session(model).run(None, planes)):
        assert np.abs(a - b).max() <= 1e-5 * max(1, np.abs(a).max())
    left = sum(n.op_type == "MatMul" and n.name.endswith(("query/MatMul", "key/MatMul")) for n in model.graph.node)
    assert left == layers // 2


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="blocked layouts of other processors are not known")
def test_convolutions_of_a_sight_body_add_the_skip_connection_and_apply_its_relu(shard_folder, tmp_path):
    network, config = _network(body="sight", filters=32, heads=4, ffn_ratio=1.0, board_features=True)
    data = _Data(shard_folder, 64)
    model = create_onnx(network, config, CARD)
    for number, form in enumerate((model, quantise(model, data))):
        options = onnxruntime.SessionOptions()
        options.optimized_model_filepath = str(tmp_path / f"{number}.onnx")
        onnxruntime.InferenceSession(form.SerializeToString(), options, providers=["CPUExecutionProvider"])
        optimised = onnx.load(options.optimized_model_filepath)
        added = [n for n in optimised.graph.node if n.op_type == "Conv" and len(n.input) == 4]
        assert len(added) == config.blocks
        assert all(any(a.name == "activation" and a.s == b"Relu" for a in n.attribute) for n in added)


def _int8_weights(model, rank):
    tensors = [w for w in model.graph.initializer if w.data_type == onnx.TensorProto.INT8 and len(w.dims) == rank]
    return [onnx.numpy_helper.to_array(w) for w in tensors]


def test_weights_whose_products_could_overflow_are_refused(shard_folder):
    """Two products of a CPU without VNNI share 16 bits; one weight of full 8 bits behind the stem is enough."""
    network, config = _network()
    data = _Data(shard_folder, 64)
    small = quantise(create_onnx(network, config, CARD), data)
    stem = next(n for n in small.graph.node if reads_planes(small, n))
    for weights in small.graph.initializer:
        if weights.data_type == onnx.TensorProto.INT8 and len(weights.dims) == 4 and weights.dims[1] == 16:
            values = onnx.numpy_helper.to_array(weights).copy()
            values[0, 0, 0, 0] = 65
            weights.CopyFrom(onnx.numpy_helper.from_array(values, weights.name))
            break
    assert stem.name == "/network/body/stem/conv/Conv"
    with pytest.raises(ValueError, match="blocks.0/first.* can reach 33150, more than 32767"):
        check_pair_sums(small)


def test_int8_leaves_the_named_convolutions_exact(shard_folder):
    network, config = _network(se_ratio=4)
    data = _Data(shard_folder, 64)
    model = create_onnx(network, config, CARD)
    whole, partly = (quantise(model, data, keep) for keep in ([], ["stem", "moves_left"]))

    def count(quantised):
        return sum(w.data_type == onnx.TensorProto.INT8 and len(w.dims) == 4 for w in quantised.graph.initializer)

    assert count(whole) - count(partly) == 2


def test_the_layer_that_makes_logits_is_found():
    network, config = _network(policy_head="convolution")
    assert len(find_logit_layers(create_onnx(network, config, CARD))) == 1
    network, config = _network(policy_head="attention")
    assert find_logit_layers(create_onnx(network, config, CARD)) == []
    network, config = _network(policy_head="dense")
    assert find_logit_layers(create_onnx(network, config, CARD)) == ["/network/policy/output/Gemm"]


def test_the_command_exports_a_checkpoint_and_verifies_it(shard_folder, tmp_path, capsys):
    config = parse_config(
        {
            "data": {"train": [str(shard_folder)], "batch_size": 32, "workers": 0},
            "model": {"filters": 8, "blocks": 1, "heads": 2},
            "schedule": {"max_steps": 2},
            "run": {"out": str(tmp_path), "name": "little", "precision": "fp32", "tensorboard": False, "device": "cpu"},
        }
    )
    Trainer(config, join("cpu")).run()
    out = tmp_path / "little.onnx"
    arguments = ["export", str(tmp_path / "last.pt"), "--out", str(out), "--shards", str(shard_folder), "--positions", "64"]
    assert main(arguments) == 0
    assert "same top move 100.00%" in capsys.readouterr().out
    metadata = {p.key: p.value for p in onnx.load(out).metadata_props}
    assert metadata["sardonyx.name"] == "little" and metadata["sardonyx.training"] == "64 positions in 2 steps"
    assert metadata["sardonyx.body"] == "resnet 8x1"


def test_the_command_says_what_is_wrong_with_a_checkpoint(tmp_path, capsys):
    assert main(["export", str(tmp_path / "none.pt"), "--out", str(tmp_path / "x.onnx")]) == 1
    assert capsys.readouterr().err.startswith("export: ")


def test_what_decides_about_ranges_is_taken_from_all_over_the_calibration():
    from types import SimpleNamespace

    for sizes, wanted in (([128] * 32, 8), ([128] * 16, 8), ([128] * 15 + [80], 8), ([13] * 20, 20)):
        batches = [SimpleNamespace(size=size, number=i) for i, size in enumerate(sizes)]
        taken = take_evenly(batches, 1000)
        assert len(taken) == wanted and len({b.number - a.number for a, b in itertools.pairwise(taken)}) == 1


def test_large_constants_of_small_whole_numbers_are_stored_as_bytes_and_change_nothing():
    network, config = _network(preset="sardonyx-sight-96x6")
    plain, packed = (create_onnx(network, config, CARD) for _ in range(2))
    pack_tables(packed)
    assert packed.ByteSize() < plain.ByteSize() - 700_000
    torch.manual_seed(1)
    x = (torch.rand(5, network.input_scale.shape[1], 8, 8) < 0.2).float().numpy()
    for ours, theirs in zip(*(create_session(model).run(None, {"/input/planes": x}) for model in (packed, plain)), strict=True):
        assert np.array_equal(ours, theirs)
