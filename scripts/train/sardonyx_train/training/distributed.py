"""One process or many (`torchrun`): rank, device, wrapping."""

import os
from dataclasses import dataclass

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

from ..base.errors import TrainError
from ..tasks.process import die_with_parent


@dataclass(frozen=True)
class Place:
    """Where this process runs. `rank` 0 writes files."""

    rank: int
    ranks: int
    device: torch.device

    @property
    def is_main(self) -> bool:
        return self.rank == 0

    def wrap(self, network: nn.Module) -> nn.Module:
        if self.ranks == 1:
            return network
        ids = [self.device.index] if self.device.type == "cuda" else None
        return DistributedDataParallel(network, device_ids=ids)

    def share_number(self, number: float) -> float:
        """Returns rank 0's number on all ranks, because decisions by the clock must not differ between ranks."""
        if self.ranks == 1:
            return number
        tensor = torch.tensor([number], dtype=torch.float64, device=self.device)
        dist.broadcast(tensor, 0)
        return float(tensor.item())

    def wait_for_all(self) -> None:
        """Call it before a process ends normally; otherwise the others would treat its end as a crash."""
        if self.ranks > 1:
            dist.barrier()


def check_device(device: str, processes: int = 1) -> torch.device:
    """Raises TrainError for a device that is none, or that this machine has too few of."""
    try:
        wanted = torch.device(("cuda" if torch.cuda.is_available() else "cpu") if device == "auto" else device)
    except RuntimeError:
        raise TrainError(f"run.device: '{device}' is no device such as auto, cpu, cuda or cuda:1") from None
    if wanted.type == "cuda":  # counted only: a look at one would take some of its memory
        there, needed = torch.cuda.device_count(), max(processes, (wanted.index or 0) + 1)
        if there == 0:
            raise TrainError(f"run.device is {device}, and there is no CUDA device; run.device=auto takes what there is")
        if there < needed:
            raise TrainError(f"run.device is {device} and needs {needed} CUDA devices, but there is {there}")
        return wanted
    try:
        torch.empty(1, device=wanted).cpu()
    except (RuntimeError, AssertionError):
        raise TrainError(f"run.device is {device}, which PyTorch cannot use here; run.device=auto takes what there is") from None
    return wanted


def join(device: str) -> Place:
    """Joins the process group if torchrun started this process."""
    ranks, rank = (int(os.environ.get(name, default)) for name, default in (("WORLD_SIZE", "1"), ("RANK", "0")))
    wanted = check_device(device, int(os.environ.get("LOCAL_WORLD_SIZE", "1")))
    if ranks == 1:
        return Place(0, 1, wanted)
    cuda = wanted.type == "cuda"
    local = torch.device("cuda", int(os.environ.get("LOCAL_RANK", "0"))) if cuda else torch.device("cpu")
    if cuda:
        torch.cuda.set_device(local)
    die_with_parent()  # a killed torchrun would leave this process behind with its GPU
    dist.init_process_group("nccl" if cuda else "gloo")
    return Place(rank, ranks, local)


def leave() -> None:
    if dist.is_available() and dist.is_initialized():
        dist.destroy_process_group()
