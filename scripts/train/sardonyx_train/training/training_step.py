"""One step of training: minibatches in, moved weights out, and their average; and losses and accuracy on held-out positions. It knows no
files, no clock and no schedule."""

import copy
from collections.abc import Callable, Iterable, Iterator

import torch
from torch import nn

from ..base.errors import Stopped
from ..config.training_config import LossConfig, TrainingConfig
from ..data.batch import Batch
from .distributed import Place
from .losses import compute_l2, compute_losses, compute_metrics, count_targets, sum_losses
from .optimizer import Optimizer, list_decayed
from .precision import AUTOCAST


class TrainingStep:
    def __init__(self, network: nn.Module, optimizer: Optimizer, config: TrainingConfig, place: Place, precision: str) -> None:
        self._network, self._optimizer, self._config, self._place, self._precision = network, optimizer, config, place, precision
        # Counts up to 256 are exact in bf16, so planes are created in the first convolution's type.
        self._planes_type = torch.bfloat16 if precision == "bf16" else torch.float32
        self._decayed = list_decayed(network)
        self._buffers = list(network.buffers())
        self._before = [buffer.clone() for buffer in self._buffers]  # norm statistics before the step
        self.scaler = torch.amp.GradScaler(place.device.type, enabled=precision == "fp16")

    def watch(self, is_stopped: Callable[[], bool]) -> None:
        """From now on a step looks between its layers, forward and backward, whether to stop: one may take a minute."""

        def look(*_: object) -> None:
            if is_stopped():
                raise Stopped

        for module in self._network.modules():
            if next(module.children(), None) is None:
                module.register_forward_pre_hook(look)
        for parameter in self._network.parameters():
            parameter.register_post_accumulate_grad_hook(look)

    def run(self, model: nn.Module, batches: Iterator[Batch]) -> tuple[int, dict[str, torch.Tensor]]:
        """`model`: the network, perhaps wrapped or compiled. Returns positions and the sums of losses and metrics over the
        step's minibatches. Raises Stopped; then the step did not happen, weights and statistics are those before it."""
        torch._foreach_copy_(self._before, self._buffers)
        try:
            positions, numbers = self._add_gradients(model, batches)
        except Stopped:
            torch._foreach_copy_(self._buffers, self._before)
            self._optimizer.zero_grad()
            raise
        self._move_weights()
        return positions, numbers

    def _add_gradients(self, model: nn.Module, batches: Iterator[Batch]) -> tuple[int, dict[str, torch.Tensor]]:
        model.train()
        self._optimizer.zero_grad()
        parts = self._config.optimizer.accumulation
        positions = 0
        numbers: dict[str, torch.Tensor] = {}
        for _ in range(parts):
            batch = next(batches).to(self._place.device)
            losses, metrics = self._compute_losses(model, batch)
            self.scaler.scale(losses["total"] / parts).backward()
            positions += batch.size
            for name, number in {**losses, **metrics}.items():
                numbers[name] = numbers.get(name, 0) + number.detach()
        return positions, numbers

    def _compute_losses(self, model: nn.Module, batch: Batch) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
        planes = batch.expand_planes(self._planes_type)
        if self._place.device.type == "cpu" or self._precision != "fp32":
            planes = planes.contiguous(memory_format=torch.channels_last)
        kind = AUTOCAST.get(self._precision, torch.bfloat16)
        with torch.autocast(self._place.device.type, dtype=kind, enabled=self._precision != "fp32"):
            outputs = model(planes)
        losses = compute_losses(outputs, batch, self._config.loss)
        if self._config.loss.l2 > 0:
            losses["l2"] = compute_l2(self._decayed)
            losses["total"] = losses["total"] + self._config.loss.l2 * losses["l2"]
        with torch.no_grad():
            return losses, compute_metrics(outputs, batch)

    def _move_weights(self) -> None:
        optimizer, clip = self._optimizer, self._config.optimizer.gradient_clip
        optimizer.prepare()
        for part in optimizer.parts:
            self.scaler.unscale_(part)
        if clip > 0:
            parameters = [p for part in optimizer.parts for group in part.param_groups for p in group["params"]]
            norm = nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None])
            # In half precision the scaler skips the step of the parts whose norm is not finite.
            if torch.isfinite(norm):
                nn.utils.clip_grads_with_norm_(parameters, clip, norm)
        for part in optimizer.parts:
            self.scaler.step(part)
        self.scaler.update()


class AveragedNetwork:
    """Exponential moving average of weights and norm statistics; the average is evaluated and exported."""

    def __init__(self, network: nn.Module, decay: float) -> None:
        self.decay = decay
        self.network = copy.deepcopy(network).eval().requires_grad_(False)

    @torch.no_grad()
    def update(self, network: nn.Module, step: int) -> None:
        """At first the average is shorter, (1 + step) / (10 + step), so that it forgets the random start."""
        decay = min(self.decay, (1 + step) / (10 + step))
        own, new = self.network.state_dict(), network.state_dict()
        floats = [name for name, tensor in own.items() if tensor.is_floating_point()]
        others = [name for name in own if name not in floats]
        torch._foreach_lerp_([own[n] for n in floats], [new[n] for n in floats], 1 - decay)
        if others:
            torch._foreach_copy_([own[n] for n in others], [new[n] for n in others])


@torch.no_grad()
def evaluate(
    network: nn.Module, batches: Iterable[Batch], config: LossConfig, device: torch.device, is_stopped: Callable[[], bool] = lambda: False
) -> dict[str, float]:
    """Means over the positions that have the target, with the network in evaluation mode, fp32; empty if it was stopped."""
    network.eval()
    sums: dict[str, float] = {}
    counts: dict[str, float] = {}
    for packed in batches:
        if is_stopped():
            return {}
        batch = packed.to(device)
        outputs = network(batch.expand_planes())
        numbers = {**compute_losses(outputs, batch, config), **compute_metrics(outputs, batch)}
        for name, count in count_targets(batch).items():
            if name in numbers:
                sums[name] = sums.get(name, 0.0) + float(numbers[name] * count)
                counts[name] = counts.get(name, 0.0) + float(count)
    means = {name: total / max(1e-6, counts[name]) for name, total in sums.items()}
    return {"total": sum_losses(means, config), **means}
