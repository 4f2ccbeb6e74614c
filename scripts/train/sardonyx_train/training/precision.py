"""Finds the fastest training precision for this machine by a measurement, because no CPU flag tells it.

A CPU without bf16 arithmetic (AVX2 only) is several times slower in bf16 than in fp32; one with AVX-512 BF16 or AMX is twice as
fast. GPUs need no measurement: they use bf16 if it is native, else fp16.
"""

import copy
import time

import torch
from torch import nn

AUTOCAST = {"bf16": torch.bfloat16, "fp16": torch.float16}
_TRIAL_POSITIONS = 64
_TRIALS = 3
_CLEAR_GAIN = 0.9


def choose_precision(network: nn.Module, planes: int, batch_size: int, device: torch.device) -> tuple[str, str]:
    """Returns (precision, reason). On a CPU it takes about a second. Weights and random state do not change."""
    if device.type == "cuda":
        is_native = torch.cuda.get_device_capability(device) >= (8, 0)
        return ("bf16", "native on this GPU") if is_native else ("fp16", "this GPU has no native bf16")
    shape = (min(batch_size, _TRIAL_POSITIONS), planes, 8, 8)
    with torch.random.fork_rng(devices=[]):
        trial = copy.deepcopy(network).train()
        batch = torch.randint(0, 2, shape).float().contiguous(memory_format=torch.channels_last)
        seconds = {precision: [] for precision in ("fp32", "bf16")}
        for _ in range(_TRIALS + 1):
            for precision, times in seconds.items():
                times.append(_time_step(trial, batch, precision))
    # The first step of each precision allocates buffers and chooses kernels.
    fp32, bf16 = min(seconds["fp32"][1:]), min(seconds["bf16"][1:])
    why = f"{len(batch)} positions take {bf16 * 1000:.0f} ms in bf16, {fp32 * 1000:.0f} ms in fp32"
    # A smaller gain is noise, and runs of one loop would differ.
    return ("bf16" if bf16 < _CLEAR_GAIN * fp32 else "fp32"), why


def find_batch_that_fits(network: nn.Module, planes: int, below: int, device: torch.device, precision: str) -> int:
    """The largest half, quarter … of a minibatch with which a step finds memory beside what the run holds; 0 if none does."""
    size = below // 2
    while size > 0:
        try:
            _time_step(network, torch.zeros(size, planes, 8, 8, device=device), precision)
            return size
        except (MemoryError, RuntimeError):  # torch.OutOfMemoryError is one
            size //= 2
    return 0


def _time_step(network: nn.Module, batch: torch.Tensor, precision: str) -> float:
    started = time.perf_counter()
    with torch.autocast(batch.device.type, dtype=AUTOCAST.get(precision), enabled=precision != "fp32"):
        outputs = network(batch)
    sum(output.float().square().mean() for output in outputs if output is not None).backward()
    for parameter in network.parameters():
        parameter.grad = None
    return time.perf_counter() - started
