"""Runs a peer in a process of its own, where its warnings, prints, crashes and hangs touch nothing of ours.

The function travels by cloudpickle, with what it refers to. The process answers on the pipe that was its standard
output; what the peer prints goes to a file, whose last line tells why a process died. Environment variables hold every
numerical library to one thread, as ours is.
"""

import contextlib
import os
import pickle
import resource
import select
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any

import cloudpickle

ROOT = Path(__file__).resolve().parents[3]
TIME_LIMIT = 60.0
ONE_THREAD = {
    **dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"),
    "XLA_FLAGS": "--xla_cpu_multi_thread_eigen=false",
}


class PeerError(RuntimeError):
    """Tells why a peer gave no answer: its exception, the signal that ended it, or the time that it was given."""


def cpu_clock() -> float:
    """CPU seconds of this process and of the programs that it ran to their end."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


CLOCKS: dict[str, Callable[[], float]] = {"cpu": cpu_clock, "wall": time.perf_counter}


def seconds_of(function: Callable[[], Any], calls: int, clock: str) -> float:
    """Mean time of one of `calls` calls in a row."""
    read = CLOCKS[clock]
    start = read()
    for _ in range(calls):
        function()
    return (read() - start) / calls


class Apart:
    """A process that holds one function; `limit` is the time that it may take for all its answers together.

    Used as a context, at whose end the process is gone. With `made`, the function is called once and what it returns is
    the function to be measured: preparation is not timed.
    """

    def __init__(self, function: Callable[[], Any], *, made: bool = False, limit: float = TIME_LIMIT) -> None:
        self._left, self._limit, self.took = limit, limit, 0.0
        self._printed = tempfile.TemporaryFile()  # noqa: SIM115 (closed by __exit__)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.benchmarks.machinery.apart", str(int(limit) + 5)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._printed,
            cwd=ROOT, env={**os.environ, **ONE_THREAD}, start_new_session=True,
        )  # fmt: skip
        self._send(cloudpickle.dumps((function, made)))

    def __enter__(self) -> "Apart":
        return self

    def __exit__(self, *_: object) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            with contextlib.suppress(BrokenPipeError):
                pipe.close()
        self._printed.close()

    def value(self, clock: str = "cpu") -> Any:
        """What the function returns; the time of this call, in which it may import and compile, is kept as `took`."""
        value, self.took = self._ask("value", clock)
        return value

    def warm(self, clock: str = "cpu") -> None:
        """One call whose value is not wanted, its time kept as `took`."""
        self.took = float(self._ask("seconds", 1, clock))

    def seconds(self, calls: int, clock: str = "cpu") -> float:
        """Mean time of one of `calls` calls."""
        return float(self._ask("seconds", calls, clock))

    def megabytes(self) -> float:
        """How much the memory of the process, or of a program it runs, rises at its peak during one call."""
        return float(self._ask("megabytes"))

    def _ask(self, *order: Any) -> Any:
        self._send(pickle.dumps(order))
        status, answer = self._receive()
        if status == "failed":
            raise PeerError(answer)
        return answer

    def _send(self, order: bytes) -> None:
        with contextlib.suppress(BrokenPipeError):  # the process is gone; reading its answer tells how
            self._process.stdin.write(pickle.dumps(order))
            self._process.stdin.flush()

    def _receive(self) -> tuple[str, Any]:
        received, pipe, end = b"", self._process.stdout, time.monotonic() + self._left
        while True:
            self._left = max(end - time.monotonic(), 0.0)
            if not select.select([pipe], [], [], self._left)[0]:
                raise PeerError(f"no answer in {self._limit:g} s")
            part = os.read(pipe.fileno(), 2**20)
            if not part:
                raise PeerError(self._death())
            received += part
            if len(received) >= 8 and len(received) >= 8 + int.from_bytes(received[:8], "little"):
                return pickle.loads(received[8:])

    def _death(self) -> str:
        code = self._process.wait()
        self._printed.seek(0)
        lines = self._printed.read().decode(errors="replace").strip().splitlines()
        how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"ended with status {code}"
        return f"{how}: {lines[-1]}" if lines else how


def peak(process: int | None = None) -> float:
    """The largest memory of a process so far in MB, by default of this one, since its last `forget_peak`."""
    try:
        status = Path(f"/proc/{process or 'self'}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) / 1e3
    except (OSError, IndexError):
        if process is not None:
            raise
        unit = 1e6 if sys.platform == "darwin" else 1e3
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def forget_peak() -> None:
    """Set the peak to the memory of now, as the kernel's documentation of /proc/PID/clear_refs says."""
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def megabytes_of(function: Callable[[], Any]) -> float:
    """How much the peak memory of this process rises during one call."""
    forget_peak()
    before = peak()
    function()
    return peak() - before


def program_megabytes(command: list[str], every: float = 0.01) -> float:
    """The peak memory of another program, looked at `every` so many seconds; Linux only.

    What the system tells at the program's end is no smaller than the process that started it, and is not used. Raises
    CalledProcessError where the program fails.
    """
    largest = 0.0
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as program:
        while program.poll() is None:
            with contextlib.suppress(OSError, IndexError):
                largest = max(largest, peak(program.pid))
            time.sleep(every)
    if program.returncode:
        raise subprocess.CalledProcessError(program.returncode, command)
    return largest


def _obeyed(name: str, function: Callable[[], Any], arguments: list[Any]) -> Any:
    if name == "value":
        value = []
        took = seconds_of(lambda: value.append(function()), 1, *arguments)
        return value[0], took
    return megabytes_of(function) if name == "megabytes" else seconds_of(function, *arguments)


def _answered(orders: IO[bytes], answers: IO[bytes]) -> None:
    """Read the function and obeys one order after the other, until there is none."""

    def send(status: str, answer: Any) -> None:
        data = cloudpickle.dumps((status, answer))
        answers.write(len(data).to_bytes(8, "little") + data)
        answers.flush()

    function: Callable[[], Any] | None = None
    sent = pickle.load(orders)
    while True:
        try:
            name, *arguments = pickle.loads(pickle.load(orders))
        except EOFError:
            return
        try:
            if function is None:
                given, made = pickle.loads(sent)
                function = given() if made else given
            answer = _obeyed(name, function, arguments)
        except BaseException as failure:  # SystemExit too: whatever it is, it is the peer's and is told
            first_line = (str(failure).strip().splitlines() or [""])[0]
            send("failed", f"{type(failure).__name__}: {first_line}" if first_line else type(failure).__name__)
            return
        send("done", answer)


def _main() -> None:
    orders, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)  # a peer that asks its user gets no answer
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    signal.alarm(int(sys.argv[1]))  # should the process that reads the answers be killed before it can end this one
    _answered(orders, answers)


if __name__ == "__main__":
    _main()
