"""The training loop: it reads batches and writes checkpoints, history and plots. It resumes at the exact step.

The loop connects other modules; it contains no schedule formula, no loss and no file format.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from .checkpoint import CheckpointError, read_checkpoint, write_checkpoint
from .config import TrainingConfig, format_config
from .continuation import has_moments, require_resumable
from .data.batch import Batch, BatchMaker
from .data.batch import expand_planes
from .data.shards import ShardError, ShardFormat, find_shards, read_common_format, read_wanted_format
from .data.stream import Emphasis, ShardStream, create_loader, read_sequentially
from .distributed import Place
from .ema import AveragedNetwork
from .evaluate import evaluate
from .history import History
from .initialise import create_network
from .lock import FolderLock
from .losses import compute_l2, compute_losses, compute_metrics
from .model.network import count_parameters
from .optimizer import Optimizer, list_decayed
from .plots import plot_history
from .precision import AUTOCAST, choose_precision
from .progress_display import ProgressDisplay, say
from .schedule import PlateauCounter, compute_factor, compute_progress, count_steps, is_falling

LAST, BEST, STABLE = "last.pt", "best.pt", "stable.pt"


class DivergedError(ValueError):
    """The weights are no longer finite. The checkpoints on disk are older and finite."""


@dataclass
class Progress:
    """The progress of a run, stored in every checkpoint."""

    step: int = 0
    batches: int = 0  # minibatches consumed by each rank
    positions: int = 0  # of all ranks
    minutes: float = 0.0  # of training, pauses excluded


@dataclass
class _ProcessTimes:
    """Times of this process: its start, and its last periodic tasks. Minutes are those of the whole run."""

    minutes_before: float
    started: float  # by the system's clock, in seconds
    saved: float
    evaluated: float
    evaluated_step: int = -1


class Trainer:
    def __init__(
        self, config: TrainingConfig, place: Place, resume: Path | None = None, overwrite: bool = False
    ) -> None:
        """`resume`: the checkpoint to continue from. Without it, a folder that holds a run is refused, unless `overwrite` is set:
        then that run is deleted."""
        self.config = config
        self.place = place
        self._resume = resume
        self._overwrite = overwrite
        self.folder = Path(config.run.out)
        run = config.run
        torch.manual_seed(run.seed)
        if run.threads > 0:
            torch.set_num_threads(run.threads)
        self.format = self._check_data()
        with_replies = config.loss.reply_policy > 0
        self.maker = BatchMaker(self.format, config.targets, config.data.mirror, config.data.history_dropout, with_replies)
        self.value_planes = torch.tensor(self.format.value_planes, dtype=torch.int64, device=place.device)
        self.network = create_network(config, resume is not None, self._say).to(place.device)
        self.optimizer = Optimizer(self.network, config.optimizer)
        self.average = AveragedNetwork(self.network, run.ema_decay)
        self.plateau = PlateauCounter()
        self.progress = Progress()
        self.precision = self._choose_precision()
        # Counts up to 256 are exact in bf16, so planes are created in the first convolution's type.
        self._planes_type = torch.bfloat16 if self.precision == "bf16" else torch.float32
        self._scaler = torch.amp.GradScaler(place.device.type, enabled=self.precision == "fp16")
        self._decayed = list_decayed(self.network)
        self._stream = self._create_stream()
        self._epoch_steps = max(1, self._stream.pass_positions // (config.data.batch_size * config.optimizer.accumulation * place.ranks))
        if run.start_moments and resume is None:
            self._take_moments(read_checkpoint(Path(run.start_from), place.device))
        self._running: dict[str, torch.Tensor] = {}
        self._validation: dict[str, float] = {}
        self._stop_requested = False

    def request_stop(self) -> None:
        """Ends `run` after the current step, with a checkpoint. Safe in a signal handler."""
        self._stop_requested = True

    @property
    def is_stopped(self) -> bool:
        return self._stop_requested

    def run(self) -> dict[str, float]:
        """Trains to the planned end (or early stop); returns the last validation numbers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        lock = FolderLock(self.folder) if self.place.is_main else None
        try:
            return self._run()
        finally:
            if lock is not None:
                lock.release()

    def _run(self) -> dict[str, float]:
        if self._resume is not None:
            state = read_checkpoint(self._resume, self.place.device)
            if (self.folder / LAST).exists() and Path(state["config"]["run"]["out"]) != self.folder and not self._overwrite:
                raise CheckpointError(
                    f"{self.folder} holds another run than {self._resume}: name another run.out, or delete that run by --overwrite"
                )
            self._restore(state)
        elif (self.folder / LAST).exists() and not self._overwrite:
            raise CheckpointError(f"{self.folder} holds a run: continue it by --resume, or delete it by --overwrite")
        model = self.place.wrap(self.network)
        if self._resume is None and self.place.is_main:
            for name in (LAST, BEST, STABLE):
                (self.folder / name).unlink(missing_ok=True)
        if self.config.run.compile:
            model = torch.compile(model)
        history = History(self.folder, self.progress.step, self.config.run.tensorboard) if self.place.is_main else None
        if self.place.is_main:
            (self.folder / "config.yaml").write_text(format_config(self.config), encoding="utf-8")
        self._say(f"{count_parameters(self.network):,} parameters, step {self.progress.step}, {self.place.device}")
        try:
            return self._loop(model, history)
        finally:
            if history is not None:
                history.close()

    def _loop(self, model: nn.Module, history: History | None) -> dict[str, float]:
        schedule, run = self.config.schedule, self.config.run
        batches = iter(self._create_loader())
        minutes = self.progress.minutes
        times = _ProcessTimes(minutes, time.monotonic(), minutes, minutes)
        fell = is_falling(schedule, compute_progress(schedule, self.progress.step, minutes, self._epoch_steps))
        with ProgressDisplay("step", count_steps(schedule, self._epoch_steps), done=self.progress.step, is_shown=self.place.is_main) as shown:
            while (share := self._read_clock(times)) < 1.0:
                if is_falling(schedule, share) and not fell:
                    fell = True
                    self._save(STABLE)
                self.optimizer.scale_rates(compute_factor(schedule, self.progress.step, share, self.plateau.drops))
                self._step(model, batches)
                shown.advance(1)
                if self.progress.step % run.log_steps == 0:
                    self._log(history, shown, share)
                if self._is_evaluation_due(times):
                    self._evaluate(history)
                    times.evaluated, times.evaluated_step = self.progress.minutes, self.progress.step
                    if 0 < run.early_stopping <= self.plateau.since_best:
                        self._say(f"no improvement in {self.plateau.since_best} evaluations: stopped early")
                        break
                if self._is_checkpoint_due(times):
                    self._save(LAST)
                    times.saved = self.progress.minutes
            if share < math.inf:
                self._log(history, shown, 1.0)
        if share == math.inf:
            self._say("stopped on request; --resume continues from here")
        elif times.evaluated_step != self.progress.step:
            self._evaluate(history)
        self._save(LAST)
        return self._validation

    def _read_clock(self, times: _ProcessTimes) -> float:
        """The share of the plan that is done, equal on all ranks; infinite after a request to stop."""
        minutes = times.minutes_before + (time.monotonic() - times.started) / 60
        minutes = self.place.share_number(math.inf if self._stop_requested else minutes)
        if minutes == math.inf:
            return math.inf
        self.progress.minutes = minutes
        return compute_progress(self.config.schedule, self.progress.step, minutes, self._epoch_steps)

    def _is_evaluation_due(self, times: _ProcessTimes) -> bool:
        run = self.config.run
        if run.evaluate_steps is not None:
            return self.progress.step % run.evaluate_steps == 0
        if run.evaluate_epochs is not None:
            return self.progress.step % max(1, round(run.evaluate_epochs * self._epoch_steps)) == 0
        return self.progress.minutes - times.evaluated >= run.evaluate_minutes

    def _is_checkpoint_due(self, times: _ProcessTimes) -> bool:
        """At regular intervals, and after each evaluation."""
        minutes = self.progress.minutes
        return minutes - times.saved >= self.config.run.checkpoint_minutes or times.saved < times.evaluated == minutes

    def _step(self, model: nn.Module, batches: Any) -> None:
        optimizer, config = self.optimizer, self.config
        model.train()
        optimizer.zero_grad()
        parts = config.optimizer.accumulation
        for _ in range(parts):
            batch: Batch = next(batches).to(self.place.device)
            planes = expand_planes(batch.masks, batch.values, self.value_planes, self._planes_type)
            if self.place.device.type == "cpu" or self.precision != "fp32":
                planes = planes.contiguous(memory_format=torch.channels_last)
            with torch.autocast(
                self.place.device.type,
                dtype=AUTOCAST.get(self.precision, torch.bfloat16),
                enabled=self.precision != "fp32",
            ):
                outputs = model(planes)
            losses = compute_losses(outputs, batch, config.loss)
            if config.loss.l2 > 0:
                losses["l2"] = compute_l2(self._decayed)
                losses["total"] = losses["total"] + config.loss.l2 * losses["l2"]
            self._scaler.scale(losses["total"] / parts).backward()
            with torch.no_grad():
                self._note({**losses, **compute_metrics(outputs, batch)})
            self.progress.batches += 1
            self.progress.positions += batch.size * self.place.ranks
        optimizer.prepare()
        for part in optimizer.parts:
            self._scaler.unscale_(part)
        if config.optimizer.gradient_clip > 0:
            parameters = [p for part in optimizer.parts for group in part.param_groups for p in group["params"]]
            norm = nn.utils.get_total_norm([p.grad for p in parameters if p.grad is not None])
            # In half precision the scaler skips the step of the parts whose norm is not finite.
            if torch.isfinite(norm):
                nn.utils.clip_grads_with_norm_(parameters, config.optimizer.gradient_clip, norm)
        for part in optimizer.parts:
            self._scaler.step(part)
        self._scaler.update()
        self.progress.step += 1
        self.average.update(self.network, self.progress.step)

    def _note(self, numbers: dict[str, torch.Tensor]) -> None:
        for name, number in numbers.items():
            self._running[name] = self._running.get(name, torch.zeros((), device=number.device)) + number.detach()
        self._running["count"] = self._running.get("count", torch.zeros(())) + 1

    def _log(self, history: History | None, shown: ProgressDisplay, share: float) -> None:
        if history is None or "count" not in self._running:
            return
        self._refuse_divergence()
        count = float(self._running.pop("count"))
        numbers = {name: float(total) / count for name, total in self._running.items()}
        self._running = {}
        progress = self.progress
        numbers |= {"learning_rate": self.optimizer.rate, "positions": progress.positions, "minutes": progress.minutes}
        history.add("train", progress.step, numbers)
        losses = f"policy {numbers['policy']:.3f} value {numbers['value']:.3f} top-1 {numbers['accuracy']:.1%}"
        shown.note(f"{losses} {share:.0%} of the plan")

    def _evaluate(self, history: History | None) -> None:
        """Runs on rank 0. Without validation shards nothing is decided and best.pt is not written."""
        data = self.config.data
        numbers: dict[str, float] = {}
        improved = False
        if history is not None and data.validation:
            batches = read_sequentially(
                find_shards(data.validation), self.maker, data.batch_size, self.config.run.evaluate_positions
            )
            numbers = evaluate(self.average.network, batches, self.value_planes, self.config.loss, self.place.device)
            history.add("validation", self.progress.step, {**numbers, "minutes": self.progress.minutes})
            improved = self.plateau.update(numbers["total"], self.config.schedule.patience)
            self._say(
                f"step {self.progress.step}, {self.progress.minutes:.1f} min, {self.progress.positions:,} positions: "
                + " ".join(f"{name} {number:.4f}" for name, number in numbers.items())
            )
        if history is not None:
            plot_history(self.folder)
        for name in ("best", "since_best", "since_drop", "drops"):
            number = self.place.share_number(getattr(self.plateau, name))
            setattr(self.plateau, name, number if name == "best" else int(number))
        self._validation = numbers
        if improved:
            self._save(BEST)

    def _save(self, name: str) -> None:
        if not self.place.is_main:
            return
        self._refuse_divergence()
        write_checkpoint(
            self.folder / name,
            {
                "config": self.config.model_dump(),
                "network": self.network.state_dict(),
                "average": self.average.network.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "scaler": self._scaler.state_dict(),
                "plateau": vars(self.plateau),
                "progress": vars(self.progress),
                "random": torch.get_rng_state(),
                "validation": self._validation,
            },
        )

    def _refuse_divergence(self) -> None:
        if not all(bool(torch.isfinite(parameter).all()) for parameter in self.network.parameters()):
            raise DivergedError(
                f"the weights are no longer finite at step {self.progress.step}: lower the rates, or set optimizer.gradient_clip; "
                f"the checkpoints in {self.folder} are from before"
            )

    def _restore(self, state: dict[str, Any]) -> None:
        require_resumable(state, self.config)
        self.network.load_state_dict(state["network"])
        self.average.network.load_state_dict(state["average"])
        self.optimizer.load_state_dict(state["optimizer"])
        if state["scaler"]:  # empty unless the run before was in fp16
            self._scaler.load_state_dict(state["scaler"])
        vars(self.plateau).update(state["plateau"])
        if (self.folder / BEST).exists():  # of an earlier process, perhaps newer than this checkpoint
            self.plateau.best = min(self.plateau.best, read_checkpoint(self.folder / BEST)["plateau"]["best"])
        self.progress = Progress(**state["progress"])
        self._stream.skip = self.progress.batches
        torch.set_rng_state(state["random"].cpu())

    def _take_moments(self, state: dict[str, Any]) -> None:
        """Moments and plateau of the run before; nothing if it kept weights only, or was of another shape or optimiser."""
        if not has_moments(state, self.config):
            self._say("start_from holds no moments for this network and optimiser: they start from zero")
            return
        self.optimizer.load_state_dict(state["optimizer"])
        if state["scaler"]:
            self._scaler.load_state_dict(state["scaler"])
        vars(self.plateau).update(state["plateau"])

    def _choose_precision(self) -> str:
        """The configured precision; rank 0 measures `auto` for all ranks."""
        wanted = self.config.run.precision
        if wanted != "auto":
            if wanted == "fp16" and self.place.device.type == "cpu":
                self._say("trains in fp16, which CPUs compute many times more slowly than fp32; run.precision=auto takes the fastest")
            return wanted
        names = ("fp32", "bf16", "fp16")
        chosen, why = "fp32", ""
        if self.place.is_main:
            batch_size = self.config.data.batch_size
            chosen, why = choose_precision(self.network, self.format.planes, batch_size, self.place.device)
        chosen = names[int(self.place.share_number(names.index(chosen)))]
        self._say(f"trains in {chosen}: {why}")
        return chosen

    def _check_data(self) -> ShardFormat:
        data, model = self.config.data, self.config.model
        form = read_wanted_format(find_shards(data.train), model.input, model.policy)
        if data.validation and read_common_format(find_shards(data.validation)) != form:
            raise ShardError("training and validation shards differ in encoding")
        return form

    def _create_stream(self) -> ShardStream:
        data = self.config.data
        return ShardStream(
            find_shards(data.train),
            self.maker,
            data.batch_size,
            data.shuffle_batches,
            self.config.run.seed,
            self.place.rank,
            self.place.ranks,
            self.progress.batches,
            data.skip_decided,
            Emphasis(data.short_mate_copies, data.mistake_copies, data.mistake_policy_kl, data.mistake_value_error),
        )

    def _create_loader(self) -> Any:
        self._say(f"{self._stream.positions:,} training positions, {self._epoch_steps:,} steps an epoch")
        return create_loader(self._stream, self.config.data.workers, pin=self.place.device.type == "cuda")

    def _say(self, text: str) -> None:
        if self.place.is_main:
            say(text)
