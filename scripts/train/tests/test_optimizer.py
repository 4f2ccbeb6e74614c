import pytest
import torch
from sardonyx_train.base.errors import TrainError
from sardonyx_train.config.training_config import ModelConfig, OptimizerConfig, parse_config
from sardonyx_train.data.batch import Batch
from sardonyx_train.model.network import Network
from sardonyx_train.training.distributed import Place
from sardonyx_train.training.losses import compute_l2
from sardonyx_train.training.muon import BatchedMuon
from sardonyx_train.training.optimizer import Optimizer, list_decayed
from sardonyx_train.training.training_step import AveragedNetwork, TrainingStep
from torch.utils._python_dispatch import TorchDispatchMode

CONFIG = ModelConfig(filters=16, blocks=1, se_ratio=2, heads=2)


def _train(network, optimizer, steps=15):
    torch.manual_seed(2)
    planes, target = (torch.rand(32, 112, 8, 8) < 0.1).float(), torch.randint(1858, (32,))
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(planes).policy, target)
        loss.backward()
        optimizer.prepare()
        for part in optimizer.parts:
            part.step()
        losses.append(loss.item())
    return losses


@pytest.mark.parametrize("kind", ["adamw", "adam", "sgd", "muon"])
def test_every_optimizer_learns_a_batch_by_heart(kind):
    torch.manual_seed(1)
    network = Network(CONFIG)
    rate = 0.1 if kind == "sgd" else 0.003
    losses = _train(network, Optimizer(network, OptimizerConfig(kind=kind, learning_rate=rate)))
    assert losses[-1] < 0.98 * losses[0]


def test_every_parameter_belongs_to_exactly_one_group():
    network = Network(CONFIG)
    optimizer = Optimizer(network, OptimizerConfig(kind="muon"))
    sizes = [p.numel() for part in optimizer.parts for g in part.param_groups for p in g["params"]]
    assert sum(sizes) == sum(p.numel() for p in network.parameters())


@pytest.mark.parametrize(
    ("keys", "ending"),
    [
        ({"body": "sight", "filters": 32, "ffn_ratio": 1.0, "heads": 16}, ".mixing"),
        ({"body": "transformer", "filters": 32, "position_bias": "relative", "heads": 16}, ".table"),
    ],
)
def test_matrices_of_many_heads_are_not_orthogonalised_across_them(keys, ending):
    network = Network(ModelConfig(blocks=1, **keys))
    _, muon = Optimizer(network, OptimizerConfig(kind="muon")).parts
    places = {p.data_ptr() for group in muon.param_groups for p in group["params"]}
    of_heads = [p for name, p in network.named_parameters() if name.endswith(ending)]
    assert of_heads and not places & {p.data_ptr() for p in of_heads}


@pytest.mark.parametrize("kind", ["adamw", "muon"])
def test_saved_state_continues_the_same_steps(kind):
    config = OptimizerConfig(kind=kind)
    runs = []
    for interrupted in (False, True):
        torch.manual_seed(1)
        network = Network(CONFIG)
        optimizer = Optimizer(network, config)
        _train(network, optimizer, 3)
        if interrupted:
            state, weights = optimizer.state_dict(), network.state_dict()
            network = Network(CONFIG)
            network.load_state_dict(weights)
            optimizer = Optimizer(network, config)
            optimizer.load_state_dict(state)
        runs.append(_train(network, optimizer, 3))
    assert runs[0] == pytest.approx(runs[1], rel=1e-4)


def test_rates_scale_from_their_first_value_and_survive_a_reload():
    network = Network(CONFIG)
    optimizer = Optimizer(network, OptimizerConfig(learning_rate=0.01))
    optimizer.scale_rates(0.5)
    assert optimizer.rate == pytest.approx(0.005)
    other = Optimizer(network, OptimizerConfig(learning_rate=0.01))
    other.load_state_dict(optimizer.state_dict())
    other.scale_rates(1.0)
    assert other.rate == pytest.approx(0.01)


def test_the_average_follows_weights_and_norm_statistics():
    network = Network(CONFIG)
    average = AveragedNetwork(network, 0.5)
    with torch.no_grad():
        for tensor in network.state_dict().values():
            tensor.add_(1)
    before = {k: v.clone() for k, v in average.network.state_dict().items()}
    average.update(network, step=1000)
    after = average.network.state_dict()
    assert torch.allclose(after["body.stem.norm.running_mean"], before["body.stem.norm.running_mean"] + 0.5)
    assert torch.allclose(after["body.stem.conv.weight"], before["body.stem.conv.weight"] + 0.5)
    assert after["body.stem.norm.num_batches_tracked"] == 1


@pytest.mark.parametrize("kind", ["adamw", "adam", "sgd", "muon"])
def test_a_reload_keeps_the_options_of_the_new_configuration(kind):
    network = Network(CONFIG)
    before = Optimizer(network, OptimizerConfig(kind=kind))
    _train(network, before, 1)
    config = OptimizerConfig(kind=kind, learning_rate=0.5, muon_learning_rate=0.25, weight_decay=0.3, momentum=0.5, beta2=0.7)
    fresh, reloaded = Optimizer(network, config), Optimizer(network, config)
    reloaded.load_state_dict(before.state_dict())
    for mine, wanted in zip(reloaded.parts, fresh.parts, strict=True):
        assert mine.state
        for group, other in zip(mine.param_groups, wanted.param_groups, strict=True):
            assert group | {"params": 0} == other | {"params": 0}


BODIES = {
    "squares": {"body": "transformer", "filters": 32, "position_bias": "none"},
    "tables": {"body": "transformer", "filters": 32, "position_bias": "relative"},
}


@pytest.mark.parametrize("kind", ["adamw", "adam", "sgd", "muon"])
@pytest.mark.parametrize("keys", BODIES.values(), ids=BODIES)
def test_decay_spares_what_only_scales_or_is_added(kind, keys):
    network = Network(ModelConfig(blocks=1, **keys))
    spared = ["square", ".table"]
    wanted = {n for n, p in network.named_parameters() if p.ndim < 2 or n.endswith(tuple(spared))}
    before = {name: p.detach().clone() for name, p in network.named_parameters()}
    optimizer = Optimizer(network, OptimizerConfig(kind=kind, weight_decay=0.5))
    assert len(wanted) > sum(p.ndim < 2 for p in network.parameters())
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(1)
    for parameter in network.parameters():
        parameter.grad = torch.zeros_like(parameter)
    optimizer.prepare()
    for part in optimizer.parts:
        part.step()
    kept = {name for name, p in network.named_parameters() if torch.equal(p, before[name] + 1)}
    assert kept == wanted


def test_moments_in_the_order_of_an_earlier_program_are_refused_in_one_sentence():
    network = Network(CONFIG)
    optimizer = Optimizer(network, OptimizerConfig())
    state = optimizer.state_dict()
    first, second = state[0]["param_groups"]
    second["params"].append(first["params"].pop())
    with pytest.raises(TrainError, match="moments are in the order of an earlier program"):
        optimizer.load_state_dict(state)


def test_adams_decay_goes_through_its_moments_and_adamws_does_not():
    after = {}
    for kind in ("adam", "adamw"):
        torch.manual_seed(1)
        network = Network(CONFIG)
        optimizer = Optimizer(network, OptimizerConfig(kind=kind, learning_rate=0.001, weight_decay=0.1))
        weight = list_decayed(network)[0]
        before = weight.detach().clone()
        for parameter in network.parameters():
            parameter.grad = torch.zeros_like(parameter)
        optimizer.parts[0].step()
        after[kind] = (before, weight.detach().clone())
    before, decayed = after["adamw"]
    torch.testing.assert_close(decayed, before * (1 - 0.001 * 0.1))
    before, stepped = after["adam"]  # Adam makes steps of the rate's size, however small the gradient
    clear = before.abs() > 1e-3
    torch.testing.assert_close(stepped[clear], (before - 0.001 * before.sign())[clear], atol=1e-6, rtol=0)


def test_the_l2_loss_has_the_weights_as_its_gradient():
    network = Network(CONFIG)
    weights = list_decayed(network)
    compute_l2(weights).backward()
    for weight in weights:
        torch.testing.assert_close(weight.grad, weight.detach())
    assert all(parameter.grad is None for parameter in network.parameters() if parameter.ndim < 2)


class CountKernels(TorchDispatchMode):
    """Counts what a GPU would start a kernel for: all calls that are no views."""

    count = 0

    def __torch_dispatch__(self, call, _types, args=(), kwargs=None):
        self.count += not call.is_view
        return call(*args, **(kwargs or {}))


def test_muon_in_batches_takes_the_steps_of_torchs_muon_with_less_than_half_of_its_kernels():
    networks, kernels = [], []
    for kind in (torch.optim.Muon, BatchedMuon):
        torch.manual_seed(1)
        network = Network(ModelConfig(preset="sardonyx-sight-96x8"))
        matrices = Optimizer(network, OptimizerConfig(kind="muon")).parts[1].param_groups[0]["params"]
        assert {rows > columns for rows, columns in (matrix.shape for matrix in matrices)} == {True, False}
        muon = kind(matrices, lr=0.01, momentum=0.9, weight_decay=0.1)
        for _ in range(2):
            for matrix in matrices:
                matrix.grad = torch.randn_like(matrix)
            with CountKernels() as counted:
                muon.step()
        networks.append(network)
        kernels.append(counted.count)
    for one, other in zip(*(network.parameters() for network in networks), strict=True):
        torch.testing.assert_close(one, other, atol=1e-4, rtol=1e-3)
    assert kernels[1] < kernels[0] / 2


def test_a_step_of_the_bundled_network_starts_at_most_a_thousand_kernels():
    config = parse_config({"model": {"preset": "sardonyx-sight-96x8"}, "optimizer": {"kind": "muon"}, "schedule": {"max_steps": 1}})
    network = Network(config.model)
    one, none = torch.ones(2), torch.zeros(2, 1, dtype=torch.int64)
    planes = torch.randint(0, 255, (2, 112, 8), dtype=torch.uint8)
    wdl = torch.tensor([[1.0, 0, 0], [0, 1, 0]])
    batch = Batch(planes, torch.ones(2, 0), torch.zeros(0, dtype=torch.int64), none.squeeze(1), none, one[:, None], wdl, one, one, one)
    step = TrainingStep(network, Optimizer(network, config.optimizer), config, Place(0, 1, torch.device("cpu")), "bf16")
    average = AveragedNetwork(network, 0.999)
    step.run(network, iter([batch]))
    with CountKernels() as counted:
        step.run(network, iter([batch]))
        average.update(network, 1)
    assert 300 < counted.count <= 1000
