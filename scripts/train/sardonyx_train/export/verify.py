"""Compares an ONNX file with the PyTorch network on held-out positions."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import onnx
import onnxruntime as ort
import torch

from ..base.errors import TrainError
from ..data.batch import Batch
from ..training.losses import mask_illegal, win_minus_loss
from .graph import INPUT_NAME, ExportNetwork


@dataclass(frozen=True)
class Verification:
    """ONNX against PyTorch over `positions`; differences of the legal moves' probabilities, of W − L, and of plies left."""

    positions: int
    policy_max_difference: float
    policy_kl: float  # mean, nats
    same_top_move: float  # share
    value_mean_difference: float
    moves_left_mean_difference: float
    accuracy: float  # of the ONNX file: top move = best target move
    accuracy_torch: float
    value_mae: float  # of the ONNX file against the value target
    value_mae_torch: float

    def format(self) -> str:
        return (
            f"{self.positions:,} positions: top-1 {self.accuracy:.2%} (PyTorch {self.accuracy_torch:.2%}), "
            f"value error {self.value_mae:.4f} (PyTorch {self.value_mae_torch:.4f}); against PyTorch: "
            f"same top move {self.same_top_move:.2%}, policy KL {self.policy_kl:.2g}, "
            f"largest probability difference {self.policy_max_difference:.2g}, "
            f"value {self.value_mean_difference:.2g}, moves left {self.moves_left_mean_difference:.2g} plies"
        )


def create_session(model: onnx.ModelProto) -> ort.InferenceSession:
    options = ort.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        return ort.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    except Exception as error:  # ONNX Runtime has many
        raise TrainError(f"ONNX Runtime cannot run the network: {' '.join(str(error).split())}") from None


@torch.no_grad()
def verify(model: onnx.ModelProto, network: torch.nn.Module, batches: Iterable[Batch]) -> Verification:
    session = create_session(model)
    reference = ExportNetwork(network).eval()
    rows: list[np.ndarray] = []
    largest = 0.0
    for batch in batches:
        planes = batch.expand_planes()
        theirs = [torch.from_numpy(output) for output in session.run(None, {INPUT_NAME: planes.numpy()})]
        ours = reference(planes)
        log_p = [mask_illegal(o[0], batch.legal).log_softmax(1) for o in (ours, theirs)]
        value = [win_minus_loss(o[1]) for o in (ours, theirs)]
        target = batch.best_move
        # Rows without a policy or value target do not count.
        known = torch.where(batch.policy_probability.sum(1) > 0, 1.0, torch.nan)
        goal = torch.where(batch.wdl_weight > 0, win_minus_loss(batch.wdl), torch.nan)
        top = [p.argmax(1) for p in log_p]
        largest = max(largest, float((log_p[0].exp() - log_p[1].exp()).abs().max()))
        moves = (ours[2] - theirs[2]).abs().squeeze(1) if len(ours) > 2 else torch.zeros(batch.size)
        columns = [  # in the order of `Verification`, behind its first two
            (log_p[0].exp() * (log_p[0] - log_p[1])).sum(1),
            top[0] == top[1],
            (value[0] - value[1]).abs(),
            moves,
            (top[1] == target) * known,
            (top[0] == target) * known,
            (value[1] - goal).abs(),
            (value[0] - goal).abs(),
        ]
        rows.append(torch.stack([c.float() for c in columns], 1).numpy())
    table = np.concatenate(rows)
    return Verification(len(table), largest, *np.nanmean(table, 0).tolist())
