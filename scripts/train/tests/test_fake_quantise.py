import pytest
import torch
from sardonyx_train.base.errors import TrainError
from sardonyx_train.config.training_config import ModelConfig, TargetConfig, parse_config
from sardonyx_train.data.batch import BatchMaker
from sardonyx_train.data.shards import find_shards, read_common_format
from sardonyx_train.data.stream import read_sequentially
from sardonyx_train.export.graph import ModelCard, build_network, create_onnx
from sardonyx_train.export.quantise import quantise
from sardonyx_train.export.verify import verify
from sardonyx_train.model.fake_quantise import FakeQuantisedConv2d, enable_fake_quantisation
from sardonyx_train.model.network import Network
from sardonyx_train.model.reshape import fold_norms
from sardonyx_train.training.checkpoint import read_checkpoint
from sardonyx_train.training.distributed import join
from sardonyx_train.training.trainer import Trainer

MODEL = {"filters": 16, "blocks": 1, "heads": 2, "se_ratio": 4}


def _config(shards, out, model=None, **run):
    return parse_config(
        {
            "data": {"train": [str(shards)], "batch_size": 32, "workers": 0},
            "model": {**MODEL, **(model or {})},
            "schedule": {"max_steps": 12, "warmup_steps": 2},
            "optimizer": {"learning_rate": 0.003},
            "run": {"out": str(out), "precision": "fp32", "tensorboard": False, "device": "cpu", "ema_decay": 0.5, **run},
        }
    )


@pytest.mark.parametrize("head", ["attention", "convolution", "dense"])
def test_folding_norms_keeps_the_function(head):
    torch.manual_seed(1)
    config = ModelConfig(**MODEL, policy_head=head)
    network = Network(config).eval()
    with torch.no_grad():
        for name, tensor in network.state_dict().items():
            if "norm" in name and tensor.is_floating_point():
                tensor.add_(torch.rand_like(tensor))
        folded, folded_config = fold_norms(network, config)
        planes = (torch.rand(4, 112, 8, 8) < 0.2).float()
        for a, b in zip(network(planes)[:3], folded.eval()(planes)):
            assert torch.allclose(a, b, atol=1e-4)
    assert folded_config.norm == "none"


class _Data:
    def __init__(self, folder):
        self.files = find_shards([str(folder)])
        form = read_common_format(self.files)
        self.maker = BatchMaker(form, TargetConfig(), False)

    def __iter__(self):
        return read_sequentially(self.files, self.maker, 96, 384)


@pytest.mark.parametrize("head", ["attention", "convolution"])
def test_a_rounding_network_answers_as_its_int8_file_does(shard_folder, head):
    torch.manual_seed(3)
    config = ModelConfig(**MODEL, norm="none", policy_head=head)
    network = Network(config).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(2)  # answers as pronounced as a trained network's
    data = _Data(shard_folder)
    model = create_onnx(network, config, ModelCard("t", "", ""))
    rounded = quantise(model, data, keep=["hidden"])  # dense layers do not round in training
    against_plain = verify(rounded, network, data)
    enable_fake_quantisation(network, config)
    network.train()(torch.cat([b.expand_planes() for b in data]))  # sets the ranges
    against_fake = verify(rounded, network.eval(), data)
    assert against_fake.value_mean_difference < 0.8 * against_plain.value_mean_difference
    if head == "convolution":  # the attention head of this tiny network hardly feels the rounding
        assert against_fake.policy_kl < 0.8 * against_plain.policy_kl


def test_training_with_rounding_starts_from_a_folded_run_and_exports(shard_folder, tmp_path):
    Trainer(_config(shard_folder, tmp_path / "a"), join("cpu")).run()
    start = str(tmp_path / "a" / "last.pt")
    aware = _config(shard_folder, tmp_path / "b", {"norm": "none"}, start_from=start, quantisation_aware=True)
    trainer = Trainer(aware, join("cpu"))
    assert sum(isinstance(m, FakeQuantisedConv2d) for m in trainer.network.modules()) == 5
    trainer.run()
    network, config = build_network(read_checkpoint(tmp_path / "b" / "last.pt"))
    data = _Data(shard_folder)
    rounded = quantise(create_onnx(network, config.model, ModelCard("t", "", "")), data)
    assert verify(rounded, network, data).policy_kl < 0.01


def test_rounding_needs_folded_norms_and_a_fitting_start(shard_folder, tmp_path):
    with pytest.raises(TrainError, match="quantisation_aware needs model.norm none"):
        _config(shard_folder, tmp_path, quantisation_aware=True)
    Trainer(_config(shard_folder, tmp_path / "a"), join("cpu")).run()
    other = _config(shard_folder, tmp_path / "b", {"filters": 8}, start_from=str(tmp_path / "a" / "last.pt"))
    with pytest.raises(TrainError, match="another network shape"):
        Trainer(other, join("cpu"))
