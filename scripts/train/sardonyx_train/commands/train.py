"""The command `train`. What is wrong is found before PyTorch is imported, and said in one sentence, as is too little memory."""

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

    model, data = config.model, config.data
    too_large = f"the network of {model.filters} filters and {model.blocks} blocks: lower model.filters or model.blocks"
    try:
        trainer = Trainer(config, join(config.run.device), resume, overwrite)
        too_large = f"minibatches of {data.batch_size} positions: lower data.batch_size and raise optimizer.accumulation by as much, "
        too_large += "or set run.checkpoint_activations"
        stop_on_signals(trainer.stop.set)
        trainer.run()
        trainer.place.wait_for_all()
    except (MemoryError, RuntimeError, TrainError) as error:
        if isinstance(error, TrainError):  # of a loader process it comes with that one's traceback
            raise TrainError(str(error).rstrip().rpartition("TrainError: ")[2]) from None
        if "DataLoader worker" in str(error):
            raise TrainError("a loader process was killed: if memory is short, lower data.workers or data.shuffle_batches") from None
        if isinstance(error, (MemoryError, torch.OutOfMemoryError)) or "you tried to allocate" in str(error):  # torch's words on CPUs
            raise TrainError(f"the memory is too small for {too_large}") from None
        raise
    finally:
        leave()
    if trainer.stop.is_set():
        raise Stopped(resumed_by)


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
