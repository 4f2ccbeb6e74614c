import pytest
import torch
from sardonyx_train.config.encodings import POLICY_SIZES, get_input_encoding, lc0_moves
from sardonyx_train.config.presets import PRESETS
from sardonyx_train.config.training_config import ModelConfig
from sardonyx_train.model.layers import DenseHead
from sardonyx_train.model.network import Network, count_parameters, drop_reply, has_reply

SMALL = {"filters": 16, "blocks": 2, "heads": 2}


def _planes(config, count=3, seed=0):
    torch.manual_seed(seed)
    return (torch.rand(count, get_input_encoding(config.input).planes, 8, 8) < 0.2).float()


@pytest.mark.parametrize("preset", list(PRESETS))
def test_every_preset_in_small_maps_planes_to_its_heads_and_learns_everywhere(preset):
    config = ModelConfig(preset=preset, **SMALL)
    network = Network(config).train()
    outputs = network(_planes(config))
    assert outputs.policy.shape == (3, POLICY_SIZES[config.policy])
    assert outputs.value.shape == (3, 1 if config.value == "scalar" else 3)
    assert (outputs.moves_left is not None) == config.moves_left
    total = outputs.policy.square().sum() + outputs.value.sum()
    if outputs.moves_left is not None:
        total = total + outputs.moves_left.sum()
    total.backward()
    assert all(p.grad is not None for p in network.parameters())


@pytest.mark.parametrize(
    ("preset", "parameters"), [("mini-leela", 10_129_665), ("razzle-tiny", 639_271), ("neuralmate2", 9_281_076), ("sardonyx-64x6", 838_772)]
)
def test_parameter_counts_do_not_change_unnoticed(preset, parameters):
    assert count_parameters(Network(ModelConfig(preset=preset))) == parameters


@pytest.mark.parametrize("norm", ["batch", "group"])
def test_a_value_head_sees_what_is_the_same_on_all_squares(norm):
    torch.manual_seed(1)
    head = DenseHead(ModelConfig(norm=norm, **SMALL), channels=8, hidden=16, outputs=3).eval()
    features = torch.randn(1, 16, 8, 8)
    assert not torch.allclose(head(features), head(features + 1), atol=1e-3)


@pytest.mark.parametrize("head", ["attention", "convolution", "dense"])
def test_every_policy_head_fits_the_1858_moves(head):
    config = ModelConfig(policy_head=head, **SMALL)
    assert Network(config)(_planes(config)).policy.shape == (3, 1858)


@pytest.mark.parametrize("head", ["attention", "convolution", "dense"])
def test_the_head_of_replies_reads_the_board_from_the_opponents_side(head):
    config = ModelConfig(policy_head=head, **SMALL)
    network = Network(config, with_reply=True).eval()
    network.reply.load_state_dict(network.policy.state_dict())
    planes = _planes(config)
    squares = network.body(planes * network.input_scale)
    with torch.no_grad():
        assert torch.equal(network(planes).reply, network.policy(squares.flip(2)))
    assert Network(config)(planes).reply is None


def test_the_logit_of_a_reply_comes_from_the_squares_that_it_joins():
    network = Network(ModelConfig(filters=64, blocks=0), with_reply=True)
    network.reply.load_state_dict(network.policy.state_dict())
    squares = torch.eye(64).reshape(1, 64, 8, 8)  # each square has a channel of its own
    network.body.forward = lambda _planes, _between: squares
    policy, reply = (logits[0] for logits in network(torch.zeros(1, 112, 8, 8))[::3])
    index = {move: i for i, move in enumerate(lc0_moves())}
    turned = [(i, index[source ^ 56, target ^ 56, ""]) for (source, target, piece), i in index.items() if piece == ""]
    own, others = zip(*turned)
    assert torch.allclose(reply[list(own)], policy[list(others)], atol=1e-6) and not torch.allclose(reply, policy, atol=1e-3)


def test_a_seed_gives_the_same_weights_with_and_without_the_head_of_replies():
    states = []
    for with_reply in (False, True):
        torch.manual_seed(1)
        states.append(Network(ModelConfig(**SMALL), with_reply=with_reply).state_dict())
    assert has_reply(states[1]) and not has_reply(states[0])
    kept = drop_reply(states[1])
    assert kept.keys() == states[0].keys() and all(torch.equal(kept[name], states[0][name]) for name in kept)


@pytest.mark.parametrize("bias", ["smolgen", "relative", "none"])
def test_transformer_bodies_tell_squares_apart(bias):
    config = ModelConfig(body="transformer", position_bias=bias, **SMALL)
    network = Network(config).eval()
    with torch.no_grad():
        network.body.square.normal_()
        planes = _planes(config, 1)
        assert not torch.allclose(network(planes).value, network(planes.flip(-1)).value, atol=1e-6)


def test_the_rule50_plane_is_scaled_inside_the_network():
    config = ModelConfig(**SMALL)
    network = Network(config)
    assert network.input_scale[0, 109].item() == pytest.approx(1 / 99)
    assert network.input_scale.sum().item() == pytest.approx(111 + 1 / 99)


def test_relative_bias_depends_on_the_step_alone():
    from sardonyx_train.model.transformer import RelativeBias

    bias = RelativeBias(1).requires_grad_(False)
    torch.nn.init.normal_(bias.table)
    table = bias(torch.zeros(1))[0, 0]
    assert table[0, 9] == table[9, 18] == table[36, 45]
    assert len({float(x) for x in table.flatten()}) == 225


def test_checkpointed_activations_give_the_same_gradients():
    config = ModelConfig(norm="group", se_ratio=4, **SMALL)
    gradients = []
    for checkpointed in (False, True):
        torch.manual_seed(1)
        network = Network(config, checkpointed).train()
        network(_planes(config)).policy.square().sum().backward()
        gradients.append([p.grad for p in network.parameters() if p.grad is not None])
    assert all(torch.allclose(a, b, atol=1e-5) for a, b in zip(*gradients))


def test_attention_sizes_that_do_not_divide_are_refused():
    with pytest.raises(ValueError, match="multiple of heads"):
        Network(ModelConfig(body="transformer", filters=10, blocks=1, heads=3))


@pytest.mark.parametrize("body", ["resnet", "sight"])
def test_recomputed_activations_change_neither_gradients_nor_running_statistics(body):
    results = []
    for is_checkpointed in (False, True):
        torch.manual_seed(1)
        config = ModelConfig(body=body, filters=16, blocks=2, heads=2, ffn_ratio=1.0)
        network = Network(config, is_checkpointed).train()
        planes = (torch.rand(8, 112, 8, 8) < 0.1).float()
        for _ in range(2):
            network(planes).policy.square().mean().backward()
        results.append({**dict(network.named_buffers()), **{n: p.grad for n, p in network.named_parameters() if p.grad is not None}})
    assert results[0].keys() == results[1].keys() and any("running_mean" in name for name in results[0])
    for name, tensor in results[0].items():
        assert torch.allclose(tensor.float(), results[1][name].float(), rtol=1e-4, atol=1e-7), name


@pytest.mark.parametrize("keys", [{"norm": "group"}, {"body": "transformer"}])
def test_blocks_without_running_statistics_are_recomputed_too(keys):
    config = ModelConfig(filters=16, blocks=1, heads=2, **keys)
    network = Network(config, checkpoint_activations=True).train()
    network((torch.rand(2, 112, 8, 8) < 0.1).float()).policy.sum().backward()
    assert all(parameter.grad is not None for parameter in network.body.parameters())
