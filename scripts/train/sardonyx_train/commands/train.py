"""The command `train`. What is wrong is found before PyTorch is imported, and said in one sentence, as is too little memory."""

import math
import sys
from argparse import Namespace
from pathlib import Path

from ..base.errors import Stopped, TrainError
from ..base.lock import lock_folder
from ..config.training_config import TrainingConfig, describe_config, load_config
from ..tasks.process import stop_on_signals


def train(options: Namespace) -> int:
    if options.describe:
        print(*describe_config(), sep="\n")
        return 0
    config = load_config(options.config, options.set)
    resume = None
    if options.resume is not None:
        resume = Path(config.run.out) / "last.pt" if options.resume == "auto" else Path(options.resume)
    run_training(config, resume, options.overwrite, "the same command with --resume")
    return 0


def run_training(config: TrainingConfig, resume: Path | None, overwrite: bool = False, resumed_by: str = "the same command") -> None:
    """Trains to the planned end. Raises Stopped after a request to stop, with a checkpoint on disk."""
    _check(config, resume, overwrite)
    print(f"trains {config.run.name} in {config.run.out}", file=sys.stderr, flush=True)
    import torch

    from ..training.distributed import join, leave
    from ..training.trainer import Trainer

    trainer, is_short = None, False
    try:
        trainer = Trainer(config, join(config.run.device), resume, overwrite)
        stop_on_signals(trainer.stop.set)
        trainer.run()
        trainer.place.wait_for_all()
    except (MemoryError, RuntimeError, TrainError) as error:
        if isinstance(error, TrainError):  # of a loader process it comes with that one's traceback
            raise TrainError(str(error).rstrip().rpartition("TrainError: ")[2]) from None
        if "DataLoader worker" in str(error):
            raise TrainError("a loader process was killed: if memory is short, lower data.workers or data.shuffle_batches") from None
        if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "you tried to allocate" in str(error):  # torch's words on CPUs
            is_short = True
        else:
            raise
    finally:
        leave()
    if is_short:  # outside of the handler, whose traceback holds the step's tensors
        raise TrainError(f"the memory is too small for {_describe_need(config, 0 if trainer is None else trainer.find_batch_that_fits())}")
    if trainer.stop.is_set():
        raise Stopped(resumed_by)


def _describe_need(config: TrainingConfig, fitting: int) -> str:
    """What is too large, and what would fit. `fitting`: size of a minibatch; 0 if already the network found no memory."""
    if fitting == 0:
        return f"the network of {config.model.filters} filters and {config.model.blocks} blocks: lower model.filters or model.blocks"
    batch, parts = config.data.batch_size, config.optimizer.accumulation
    instead = f"data.batch_size={fitting} optimizer.accumulation={math.ceil(batch * parts / fitting)} fits"
    return f"minibatches of {batch} positions: {instead}, or set run.checkpoint_activations, which needs less memory"


def _check(config: TrainingConfig, resume: Path | None, overwrite: bool) -> None:
    from ..data.shards import find_shards, read_wanted_format

    for path in (resume, None if resume is not None or config.run.start_from is None else Path(config.run.start_from)):
        if path is not None and not path.is_file():
            raise TrainError(f"there is no checkpoint {path}")
    read_wanted_format(find_shards(config.data.train), config.model.input, config.model.policy)
    out = Path(config.run.out)
    if out.is_dir():
        with lock_folder(out):
            pass
        if (out / "last.pt").exists() and resume is None and not overwrite:
            raise TrainError(f"{out} holds a run: continue it by --resume, or delete it by --overwrite")
