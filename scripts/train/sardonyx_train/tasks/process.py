"""Child processes that end with this process. Standard library only: this module is also sent to the nodes of a cluster."""

import ctypes
import math
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from ..base.errors import Stopped, TrainError

# This program as a child; `own_environment` lets it find this package, wherever that lies.
OWN_PROGRAM = [sys.executable, "-m", __name__.partition(".")[0]]

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None) if sys.platform == "linux" else None  # loaded before a fork
_TAIL_LINES = 12
_POLL_SECONDS = 0.05
_GRACE_SECONDS = 10.0


def own_environment() -> dict[str, str]:
    package = str(Path(__file__).resolve().parents[2])
    return {**os.environ, "PYTHONPATH": os.pathsep.join([package, *filter(None, [os.environ.get("PYTHONPATH")])])}


# Called with a child's process id and None at its start, and with the CPU seconds that it took at its end.
Watch = Callable[[int, float | None], None]


def stop_on_signals(stop: Callable[[], None]) -> None:
    """The first Ctrl-C or SIGTERM calls `stop`, which asks for an end in good order; a second one ends this process at once."""

    def handle(number: int, _frame: object) -> None:
        signal.signal(number, signal.SIG_DFL)
        stop()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, handle)


class ProcessFailed(TrainError):
    """A child failed, ran too long or could not be started. `said`: the last lines of its error output, else the whole text."""

    def __init__(self, text: str, said: str = "", *, is_by_signal: bool = False) -> None:
        super().__init__(text)
        self.said, self.is_by_signal = said or text, is_by_signal


def run_process(
    arguments: Sequence[str],
    output: Path,
    errors: Path,
    is_stopped: Callable[[], bool] = lambda: False,
    seconds: float = math.inf,
    pass_handles: Sequence[int] = (),
    niceness: int = 0,
    folder: Path | None = None,
    watch: Watch | None = None,
) -> None:
    """Waits for the child. Overwrites `output`, appends to `errors`. Raises ProcessFailed, and Stopped if `is_stopped`.

    `niceness` is added to ours, `folder` is the child's working directory, `watch` is told what CPU time the child takes.

    On Linux the kernel kills the child with this process, even after SIGKILL; on other systems it may run on for a while. The
    child has its own process group, so that Ctrl-C reaches only this process: a child that ends by Ctrl-C might look finished.
    """
    earlier = errors.stat().st_size if errors.exists() else 0
    with output.open("wb") as out, errors.open("ab") as err:
        try:
            child = subprocess.Popen(
                list(arguments),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                pass_fds=tuple(pass_handles) if os.name == "posix" else (),
                preexec_fn=_prepare_child(niceness) if os.name == "posix" else None,
                cwd=folder,
                process_group=0 if os.name == "posix" else None,
                env=own_environment(),
            )
        except OSError as error:
            raise ProcessFailed(f"{arguments[0]} cannot be started: {error}") from None
    give_up = time.monotonic() + seconds
    if watch is not None:
        watch(child.pid, None)
    try:
        while not _has_ended(child, watch):
            if is_stopped():
                raise Stopped
            if time.monotonic() > give_up:
                raise ProcessFailed(f"{shlex.join(arguments)} was still running after {seconds:.0f} seconds")
            time.sleep(_POLL_SECONDS)
    finally:
        _end(child, watch)
    if is_stopped():  # the child may have got the same signal, for example from a service manager
        raise Stopped
    if child.returncode != 0:
        what = f"exit status {child.returncode}" if child.returncode > 0 else f"signal {-child.returncode}"
        said = _find_reason(errors.read_bytes()[earlier:].decode(errors="replace"))
        text = f"{shlex.join(arguments)} ended with {what}: {said or 'it wrote no error'}"
        raise ProcessFailed(text, said, is_by_signal=child.returncode < 0)


def _find_reason(log: str) -> str:
    """The last sentence of our own program, else the last lines, without torchrun's report on its processes."""
    own = re.findall(r"^(?:train|export): (.+)", log, re.MULTILINE)
    if own:
        return own[-1]
    signalled = re.search(r"Root Cause.*?exitcode +: -(\d+)", log, re.DOTALL)
    if signalled:
        return f"a training process was ended by signal {signalled[1]}"
    lines = re.split(r"^[EW]\d{4} .*torch/distributed/elastic", log, maxsplit=1, flags=re.MULTILINE)[0].splitlines()
    return "\n".join(line for line in lines[-_TAIL_LINES:] if line.strip() != "")


def die_with_parent() -> None:
    """On Linux the kernel kills this process when the one that started it ends."""
    if _LIBC is not None:
        _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


def _prepare_child(niceness: int) -> Callable[[], None]:
    parent = os.getpid()

    def prepare() -> None:
        die_with_parent()
        if _LIBC is not None and os.getppid() != parent:
            os._exit(1)
        if niceness > 0:
            os.nice(niceness)

    return prepare


def _has_ended(child: subprocess.Popen[bytes], watch: Watch | None) -> bool:
    """As `poll`, and tells the watch the CPU seconds of the child and of its own children."""
    if child.returncode is not None:
        return True
    if not hasattr(os, "wait4"):
        return child.poll() is not None
    pid, status, usage = os.wait4(child.pid, os.WNOHANG)
    if pid == 0:
        return False
    child.returncode = os.waitstatus_to_exitcode(status)
    if watch is not None:
        watch(child.pid, usage.ru_utime + usage.ru_stime)
    return True


def _end(child: subprocess.Popen[bytes], watch: Watch | None) -> None:
    if _has_ended(child, watch):
        return
    child.terminate()
    give_up = time.monotonic() + _GRACE_SECONDS
    while not _has_ended(child, watch):
        if time.monotonic() > give_up:
            child.kill()
        time.sleep(_POLL_SECONDS)
