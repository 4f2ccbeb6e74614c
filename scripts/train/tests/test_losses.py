import math

import pytest
import torch
from sardonyx_train.config.training_config import LossConfig
from sardonyx_train.data.batch import Batch, PolicyTarget
from sardonyx_train.model.network import Outputs
from sardonyx_train.training.losses import compute_losses, compute_metrics, expected_value
from sardonyx_train.training.training_step import evaluate


def _batch() -> Batch:
    """Two positions over a policy of four moves; the second knows neither policy nor value."""
    return Batch(
        masks=torch.zeros(2, 1, 8, dtype=torch.uint8),
        values=torch.zeros(2, 0),
        value_planes=torch.zeros(0, dtype=torch.int64),
        legal=torch.tensor([0, 2, 4 + 1]),
        policy_index=torch.tensor([[2, 0], [0, 0]]),
        policy_probability=torch.tensor([[0.75, 0.25], [0.0, 0.0]]),
        wdl=torch.tensor([[0.5, 0.25, 0.25], [0.0, 0.0, 0.0]]),
        wdl_weight=torch.tensor([1.0, 0.0]),
        plies_left=torch.tensor([40.0, 0.0]),
        plies_weight=torch.tensor([1.0, 0.0]),
    )


def _outputs(value: torch.Tensor | None = None) -> Outputs:
    policy = torch.tensor([[0.0, 9.0, 0.0, 0.0], [0.0, 1.0, 2.0, 3.0]])
    return Outputs(policy, torch.zeros(2, 3) if value is None else value, torch.tensor([[20.0], [7.0]]))


def test_losses_are_means_over_positions_that_have_the_target():
    losses = compute_losses(_outputs(), _batch(), LossConfig())
    assert losses["policy"].item() == pytest.approx(math.log(2))  # two legal moves, equal logits
    assert losses["value"].item() == pytest.approx(math.log(3))
    assert losses["moves_left"].item() == pytest.approx(0.5 * (1.0 - 0.25))  # Huber of one unit, delta a half
    expected = math.log(2) + math.log(3) + 0.02 * losses["moves_left"].item()
    assert losses["total"].item() == pytest.approx(expected)


def test_an_evaluation_weighs_minibatches_by_the_targets_that_they_have():
    class Constant(torch.nn.Module):
        def forward(self, planes):
            return Outputs(torch.zeros(len(planes), 4), torch.zeros(len(planes), 3), None)

    full = _batch()
    half = _batch()
    half.wdl_weight = torch.zeros_like(half.wdl_weight)
    config = LossConfig()
    place = torch.device("cpu")
    alone = evaluate(Constant(), [full], config, place)
    assert evaluate(Constant(), [full, half], config, place)["value"] == pytest.approx(alone["value"])


def _batch_with_replies() -> Batch:
    """The second position alone has a reply: moves 1 and 3 are legal, and 3 is three times as good."""
    batch = _batch()
    batch.reply = PolicyTarget(torch.tensor([4 + 1, 4 + 3]), torch.tensor([[0, 0], [3, 1]]), torch.tensor([[0.0, 0.0], [0.75, 0.25]]))
    return batch


@pytest.mark.parametrize(("legal_only", "moves"), [(True, 2), (False, 4)])
def test_the_loss_of_replies_is_added_with_its_weight(legal_only, moves):
    outputs = _outputs()._replace(reply=torch.zeros(2, 4))
    config = LossConfig(reply_policy=0.15, legal_only=legal_only)
    losses = compute_losses(outputs, _batch_with_replies(), config)
    assert losses["reply_policy"].item() == pytest.approx(math.log(moves))
    plain = compute_losses(_outputs(), _batch(), config)
    assert "reply_policy" not in plain
    assert (losses["total"] - plain["total"]).item() == pytest.approx(0.15 * math.log(moves), abs=1e-5)


def test_an_evaluation_counts_the_positions_that_have_a_reply():
    class Constant(torch.nn.Module):
        def forward(self, planes):
            return Outputs(torch.zeros(len(planes), 4), torch.zeros(len(planes), 3), None, torch.zeros(len(planes), 4))

    none = _batch_with_replies()
    none.reply = none.reply._replace(legal=none.reply.legal[:0], policy_probability=torch.zeros(2, 2))
    config = LossConfig(reply_policy=0.15)
    numbers = evaluate(Constant(), [_batch_with_replies(), none], config, torch.device("cpu"))
    assert numbers["reply_policy"] == pytest.approx(math.log(2))
    assert numbers["total"] == pytest.approx(numbers["policy"] + numbers["value"] + 0.15 * math.log(2))


def test_without_the_legal_mask_illegal_logits_count():
    losses = compute_losses(_outputs(), _batch(), LossConfig(legal_only=False))
    assert losses["policy"].item() > 8


def test_a_scalar_value_is_trained_by_squared_error():
    losses = compute_losses(_outputs(torch.tensor([[0.75], [0.0]])), _batch(), LossConfig())
    assert losses["value"].item() == pytest.approx(0.25)


def test_the_entropy_bonus_lowers_the_total():
    plain = compute_losses(_outputs(), _batch(), LossConfig())["total"]
    assert compute_losses(_outputs(), _batch(), LossConfig(entropy_bonus=0.1))["total"] < plain


def test_accuracy_looks_at_legal_moves_only():
    outputs = _outputs()
    outputs.policy[0, 2] = 1.0
    assert compute_metrics(outputs, _batch())["accuracy"].item() == 1.0


def test_expected_value_reads_both_kinds_of_head():
    assert expected_value(torch.tensor([[0.4]])).item() == pytest.approx(0.4)
    assert expected_value(torch.tensor([[1.0, 0.0, 1.0]])).item() == pytest.approx(0)
