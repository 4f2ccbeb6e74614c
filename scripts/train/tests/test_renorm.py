import copy

import torch
from sardonyx_train.config.training_config import ModelConfig
from sardonyx_train.model.layers import BatchRenorm2d, enable_batch_renorm
from sardonyx_train.model.network import Network
from torch import nn


def _norms(max_r, max_d, rise_steps):
    torch.manual_seed(1)
    plain = nn.BatchNorm2d(5)
    nn.init.normal_(plain.weight)
    nn.init.normal_(plain.bias)
    other = copy.deepcopy(plain)
    enable_batch_renorm(other, max_r, max_d, rise_steps)
    assert isinstance(other, BatchRenorm2d)
    return plain, other


def test_with_limits_of_one_and_zero_it_is_batch_norm():
    plain, other = _norms(1.0, 0.0, 0)
    for _ in range(3):
        x = torch.randn(6, 5, 8, 8) * 3 + 1
        torch.testing.assert_close(other(x), plain(x))
    torch.testing.assert_close(other.running_mean, plain.running_mean)
    torch.testing.assert_close(other.running_var, plain.running_var)
    x = torch.randn(6, 5, 8, 8)
    torch.testing.assert_close(other.eval()(x), plain.eval()(x))


def test_with_wide_limits_training_normalises_by_the_running_statistics():
    plain, other = _norms(100.0, 100.0, 0)
    other.running_mean.uniform_(-1, 1)
    other.running_var.uniform_(0.5, 2)
    other.num_batches_tracked.fill_(1)
    plain.load_state_dict(other.state_dict())
    x = torch.randn(6, 5, 8, 8) * 3 + 1
    torch.testing.assert_close(other(x), plain.eval()(x), atol=1e-5, rtol=1e-5)


def test_the_limits_rise_from_batch_norm():
    plain, other = _norms(3.0, 5.0, 10)
    x = torch.randn(6, 5, 8, 8) * 3 + 1
    torch.testing.assert_close(other(x), plain(x))
    assert not torch.allclose(other(2 * x), plain(2 * x))


def test_a_network_with_it_trains():
    network = Network(ModelConfig(filters=8, blocks=1, heads=2))
    enable_batch_renorm(network, 3.0, 5.0, 0)
    planes = (torch.rand(4, 112, 8, 8) < 0.1).float()
    network(planes).policy.sum().backward()
    assert all(p.grad is not None and torch.isfinite(p.grad).all() for p in network.body.parameters())


def test_recomputed_activations_change_neither_gradients_nor_running_statistics():
    results = []
    for is_checkpointed in (False, True):
        torch.manual_seed(1)
        network = Network(ModelConfig(filters=8, blocks=2, heads=2), is_checkpointed)
        enable_batch_renorm(network, 3.0, 5.0, 4)
        planes = (torch.rand(8, 112, 8, 8) < 0.1).float()
        for _ in range(3):
            network(planes).policy.square().mean().backward()
        results.append({**dict(network.named_buffers()), **{n: p.grad for n, p in network.named_parameters() if p.grad is not None}})
    for name, tensor in results[0].items():
        torch.testing.assert_close(results[1][name], tensor, msg=name)
