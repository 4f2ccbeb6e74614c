"""The training loop: it reads batches and writes checkpoints, history and plots. It resumes at the exact step.

It connects other modules: no schedule formula, no loss, no step and no file format stands here.
"""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import nn

from ..base.errors import Stopped, TrainError
from ..base.lock import lock_folder
from ..base.progress_display import ProgressDisplay, say
from ..config.training_config import ScheduleConfig, TrainingConfig, format_config, read_saved
from ..data.batch import Batch, BatchMaker
from ..data.shards import find_shards, read_common_format, read_wanted_format, require_rows
from ..data.stream import ShardStream, create_loader, read_sequentially
from ..model.network import count_parameters
from .checkpoint import load_weights, read_checkpoint, write_checkpoint
from .distributed import Place
from .initialise import create_network, has_moments, require_resumable
from .metrics_log import MetricsLog
from .optimizer import Optimizer
from .plots import plot_history
from .precision import choose_precision, find_batch_that_fits
from .schedule import PlateauCounter, compute_factor, compute_progress, count_steps, describe_end, is_falling
from .training_step import AveragedNetwork, TrainingStep, evaluate

_RATE_JUMP = 1.2
LAST, BEST, STABLE = "last.pt", "best.pt", "stable.pt"


@dataclass
class Progress:
    """The progress of a run, stored in every checkpoint."""

    step: int = 0
    batches: int = 0  # minibatches consumed by each rank
    positions: int = 0  # of all ranks
    minutes: float = 0.0  # of training, pauses excluded


class Trainer:
    def __init__(self, config: TrainingConfig, place: Place, resume: Path | None = None, overwrite: bool = False) -> None:
        """`resume`: the checkpoint to continue from. Without it, a folder that holds a run is refused, unless `overwrite` is set:
        then that run is deleted."""
        self.config, self.place = config, place
        self.stop = threading.Event()  # set, also in a signal handler, it ends `run` with a checkpoint
        self._resume, self._overwrite = resume, overwrite
        self.folder = Path(config.run.out)
        run = config.run
        torch.manual_seed(run.seed)
        if run.threads > 0:
            torch.set_num_threads(run.threads)
        # Decay takes weights that no position needs below 1.2e-38, where a CPU computes many times slower. Threads of torch that begin
        # later compute as this one does.
        torch.set_flush_denormal(True)
        self.format = read_wanted_format(find_shards(config.data.train), config.model.input, config.model.policy)
        if config.data.validation:
            held_out = find_shards(config.data.validation)
            if read_common_format(held_out) != self.format:
                raise TrainError("training and validation shards differ in encoding")
            require_rows(held_out)
        with_replies = config.loss.reply_policy > 0
        self.maker = BatchMaker(self.format, config.targets, config.data.mirror, config.data.history_dropout, with_replies)
        self._stream = ShardStream(find_shards(config.data.train), self.maker, config.data, run.seed, place.rank, place.ranks)
        self.network = create_network(config, resume is not None, self._say).to(place.device)
        self.optimizer = Optimizer(self.network, config.optimizer)
        self.average = AveragedNetwork(self.network, run.ema_decay)
        self.plateau = PlateauCounter()
        self.progress = Progress()
        self._earlier = None if resume is None else read_checkpoint(resume, place.device)
        self.precision = self._choose_precision((self._earlier or {}).get("resolved", {}))
        self._step = TrainingStep(self.network, self.optimizer, config, place, self.precision)
        if place.ranks == 1 and not run.compile:  # with several, the others would wait for the one that stops
            self._step.watch(self.stop.is_set)
        self._epoch_steps = max(1, self._stream.pass_positions // (config.data.batch_size * config.optimizer.accumulation * place.ranks))
        if run.start_moments and resume is None:
            self._take_moments(read_checkpoint(Path(run.start_from), place.device))
        self._running: dict[str, torch.Tensor] = {}
        self._losses = ""  # as shown last
        self._validation: dict[str, float] = {}

    def run(self) -> dict[str, float]:
        """Trains to the planned end (or early stop); returns the last validation numbers."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with lock_folder(self.folder) if self.place.is_main else nullcontext():
            return self._run()

    def _run(self) -> dict[str, float]:
        if self._earlier is not None:
            state, self._earlier = self._earlier, None
            if (self.folder / LAST).exists() and Path(state["config"]["run"]["out"]) != self.folder and not self._overwrite:
                raise TrainError(f"{self.folder} holds another run than {self._resume}: name another run.out, or replace it by --overwrite")
            self._restore(state)
        elif (self.folder / LAST).exists() and not self._overwrite:
            raise TrainError(f"{self.folder} holds a run: continue it by --resume, or delete it by --overwrite")
        model = self.place.wrap(self.network)
        if self._resume is None and self.place.is_main:
            for name in (LAST, BEST, STABLE):
                (self.folder / name).unlink(missing_ok=True)
        if self.config.run.compile:
            model = torch.compile(model)
        log: Any = nullcontext()
        if self.place.is_main:
            log = closing(MetricsLog(self.folder, self.progress.step, self.config.run.tensorboard))
            (self.folder / "config.yaml").write_text(format_config(self.config), encoding="utf-8")
        self._say(f"{count_parameters(self.network):,} parameters, step {self.progress.step}, {self.place.device}")
        with log as history:
            return self._loop(model, history)

    def _loop(self, model: nn.Module, history: MetricsLog | None) -> dict[str, float]:
        schedule, run = self.config.schedule, self.config.run
        self._say(f"{self._stream.positions:,} training positions, {self._epoch_steps:,} steps an epoch")
        self._logged_step = self.progress.step
        batches = iter(create_loader(self._stream, self.config.data.workers, pin=self.place.device.type == "cuda"))
        minutes = self.progress.minutes
        self._started = time.monotonic() - 60 * minutes  # by the system's clock, as if there had been no pause
        self._saved = self._evaluated = minutes  # of the run, at the last checkpoint and evaluation of this process
        evaluated_step = -1
        begun = compute_progress(schedule, self.progress.step, minutes, self._epoch_steps)
        if begun >= 1.0:
            place = ", and resume from stable.pt, before the rate fell" if (self.folder / STABLE).exists() else ""
            self._say(f"the plan is done already: to train on, raise schedule.max_steps, max_minutes or max_epochs{place}")
        ended = 0 < run.early_stopping <= self.plateau.since_best
        if ended:
            self._say(f"the run has stopped early already, at step {self.progress.step}: to train on, raise run.early_stopping")
        fell = is_falling(schedule, begun)
        planned = count_steps(schedule, self._epoch_steps)
        if begun < 1.0 and not ended:
            self._say(f"plan: {describe_end(schedule)}")
        with ProgressDisplay("step", planned, done=self.progress.step, is_shown=self.place.is_main) as shown:
            while (share := self._read_clock()) < 1.0 and not ended:
                if is_falling(schedule, share) and not fell:
                    fell = True
                    self._save(STABLE)
                self.optimizer.scale_rates(compute_factor(schedule, self.progress.step, share, self.plateau.drops))
                try:
                    self._take_step(model, batches)
                except Stopped:
                    share = math.inf
                    break
                shown.advance(1)
                if self.progress.step % run.log_steps == 0:
                    is_first = not self._losses
                    done = compute_progress(schedule, self.progress.step, self.progress.minutes, self._epoch_steps)
                    self._log(history, shown, done)
                    if is_first:
                        self._say_end(done - begun, 1 - done, minutes)
                if self._is_evaluation_due():
                    self._evaluate(history)
                    self._evaluated, evaluated_step = self.progress.minutes, self.progress.step
                    if 0 < run.early_stopping <= self.plateau.since_best:
                        self._say(f"no improvement in {self.plateau.since_best} evaluations: stopped early")
                        break
                if self._is_checkpoint_due():
                    self._save(LAST)
                    self._saved = self.progress.minutes
            if share < math.inf:
                self._log(history, shown, share)
        if share == math.inf:
            self._say("stopped on request")
        elif evaluated_step != self.progress.step:
            self._evaluate(history)
        self._save(LAST)
        return self._validation

    def _say_end(self, done: float, left: float, minutes_before: float) -> None:
        """`done`, `left`: shares of the plan, of this process."""
        minutes = left * (self.progress.minutes - minutes_before) / max(done, 1e-9)
        self._say(f"about {minutes:.0f} minutes to go, until {time.strftime('%H:%M', time.localtime(time.time() + 60 * minutes))}")

    def _read_clock(self) -> float:
        """The share of the plan that is done, equal on all ranks; infinite after a request to stop."""
        minutes = (time.monotonic() - self._started) / 60
        minutes = self.place.share_number(math.inf if self.stop.is_set() else minutes)
        if minutes == math.inf:
            return math.inf
        self.progress.minutes = minutes
        return compute_progress(self.config.schedule, self.progress.step, minutes, self._epoch_steps)

    def _is_evaluation_due(self) -> bool:
        run = self.config.run
        if run.evaluate_steps is not None:
            return self.progress.step % run.evaluate_steps == 0
        if run.evaluate_epochs is not None:
            return self.progress.step % max(1, round(run.evaluate_epochs * self._epoch_steps)) == 0
        return self.progress.minutes - self._evaluated >= run.evaluate_minutes

    def _is_checkpoint_due(self) -> bool:
        """At regular intervals, and after each evaluation."""
        minutes = self.progress.minutes
        return minutes - self._saved >= self.config.run.checkpoint_minutes or self._saved < self._evaluated == minutes

    def _take_step(self, model: nn.Module, batches: Iterator[Batch]) -> None:
        positions, numbers = self._step.run(model, batches)
        for name, number in numbers.items():
            self._running[name] = self._running.get(name, 0) + number
        self.progress.batches += self.config.optimizer.accumulation
        self.progress.positions += positions * self.place.ranks
        self.progress.step += 1
        self.average.update(self.network, self.progress.step)

    def _log(self, history: MetricsLog | None, shown: ProgressDisplay, share: float) -> None:
        if history is None:
            return
        if self._running:
            self._refuse_divergence()
            progress = self.progress
            count = (progress.step - self._logged_step) * self.config.optimizer.accumulation
            numbers = {name: float(total) / count for name, total in self._running.items()}
            self._running, self._logged_step = {}, progress.step
            numbers |= {"learning_rate": self.optimizer.rate, "positions": progress.positions, "minutes": progress.minutes}
            history.add("train", progress.step, numbers)
            self._losses = f"policy {numbers['policy']:.3f} value {numbers['value']:.3f} top-1 {numbers['accuracy']:.1%}"
        shown.note(f"{self._losses} {share:.0%} of the plan".strip())

    def _evaluate(self, history: MetricsLog | None) -> None:
        """Runs on rank 0. Without validation shards nothing is decided and best.pt is not written."""
        data = self.config.data
        numbers: dict[str, float] = {}
        if history is not None and data.validation:
            batches = read_sequentially(find_shards(data.validation), self.maker, data.batch_size, self.config.run.evaluate_positions)
            numbers = evaluate(self.average.network, batches, self.config.loss, self.place.device, self.stop.is_set)
        self._validation = numbers
        if numbers:
            history.add("validation", self.progress.step, {**numbers, "minutes": self.progress.minutes})
            self._say(
                f"step {self.progress.step}, {self.progress.minutes:.1f} min, {self.progress.positions:,} positions: "
                + " ".join(f"{name} {number:.4f}" for name, number in numbers.items())
            )
            if self.plateau.update(numbers["total"], self.config.schedule.patience):
                self._save(BEST)
        if history is not None:
            plot_history(self.folder)
        for name, number in vars(self.plateau).items():
            setattr(self.plateau, name, type(number)(self.place.share_number(number)))

    def _save(self, name: str) -> None:
        if not self.place.is_main:
            return
        self._refuse_divergence()
        write_checkpoint(
            self.folder / name,
            {
                "config": self.config.model_dump(),
                "resolved": self.resolved,
                "network": self.network.state_dict(),
                "average": self.average.network.state_dict(),
                "optimizer": self.optimizer.state_dict(),
                "scaler": self._step.scaler.state_dict(),
                "plateau": vars(self.plateau),
                "progress": vars(self.progress),
                "random": torch.get_rng_state(),
                "validation": self._validation,
            },
        )

    def _refuse_divergence(self) -> None:
        if not all(bool(torch.isfinite(parameter).all()) for parameter in self.network.parameters()):
            advice = f"lower the rates, or set optimizer.gradient_clip; the checkpoints in {self.folder} are from before"
            raise TrainError(f"the weights are no longer finite at step {self.progress.step}: {advice}")

    def _restore(self, state: dict[str, Any]) -> None:
        require_resumable(state, self.config)
        load_weights(self.network, state["network"])
        self.average.network.load_state_dict(state["average"])
        self._load_moments(state)
        self._compare_rates(state)
        if (self.folder / BEST).exists():  # of an earlier process, perhaps newer than this checkpoint
            self.plateau.best = min(self.plateau.best, read_checkpoint(self.folder / BEST)["plateau"]["best"])
        self.progress = Progress(**state["progress"])
        self._stream.skip = self.progress.batches
        torch.set_rng_state(state["random"].cpu())

    def _compare_rates(self, state: dict[str, Any]) -> None:
        """A longer plan puts a cosine back to where its rate was higher; that must not come as a surprise."""
        schedules = read_saved(ScheduleConfig, state["config"]["schedule"]), self.config.schedule
        step, minutes = state["progress"]["step"], state["progress"]["minutes"]
        before, now = (
            compute_factor(own, step, compute_progress(own, step, minutes, self._epoch_steps), self.plateau.drops) for own in schedules
        )
        if before > 0 and abs(math.log(max(now, 1e-9) / before)) > math.log(_RATE_JUMP):
            advice = "begin another run by run.start_from for a schedule of its own"
            self._say(f"the plan has changed: at step {step} the rate goes from {before:.1%} of the first one to {now:.1%}; {advice}")

    def _take_moments(self, state: dict[str, Any]) -> None:
        """Moments and plateau of the run before; nothing if it kept weights only, or was of another shape or optimiser."""
        if has_moments(state, self.config):
            self._load_moments(state)
        else:
            self._say("start_from holds no moments for this network and optimiser: they start from zero")

    def _load_moments(self, state: dict[str, Any]) -> None:
        self.optimizer.load_state_dict(state["optimizer"])
        if state["scaler"]:  # empty unless the run before was in fp16
            self._step.scaler.load_state_dict(state["scaler"])
        vars(self.plateau).update(state["plateau"])

    @property
    def resolved(self) -> dict[str, Any]:
        """What this machine made of `auto` and 0; with it the run can be repeated to the last bit."""
        own = {"precision": self.precision, "device": str(self.place.device)}
        return {**own, "threads": torch.get_num_threads(), "torch": str(torch.__version__)}

    def find_batch_that_fits(self) -> int:
        """After a step that found no memory."""
        self.optimizer.zero_grad()
        if self.place.device.type == "cuda":
            torch.cuda.empty_cache()
        return find_batch_that_fits(self.network, self.format.planes, self.config.data.batch_size, self.place.device, self.precision)

    def _choose_precision(self, earlier: dict[str, Any]) -> str:
        """The configured precision; of `auto` the one that the run began with, else rank 0 measures it for all ranks."""
        wanted = self.config.run.precision
        if wanted != "auto":
            if wanted == "fp16" and self.place.device.type == "cpu":
                self._say("trains in fp16, which CPUs compute many times more slowly than fp32; run.precision=auto takes the fastest")
            return wanted
        if "precision" in earlier:
            self._say(f"trains in {earlier['precision']}, as the run began")
            return earlier["precision"]
        names, chosen, why = ("fp32", "bf16", "fp16"), "fp32", ""
        if self.place.is_main:
            chosen, why = choose_precision(self.network, self.format.planes, self.config.data.batch_size, self.place.device)
        chosen = names[int(self.place.share_number(names.index(chosen)))]
        self._say(f"trains in {chosen}: {why}")
        return chosen

    def _say(self, text: str) -> None:
        if self.place.is_main:
            say(text)
