"""Shows the progress of a run, by a bar on a terminal or a line a minute; silent where tqdm is missing."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from simulate.core.progress import MinuteLines


class Bar(Protocol):
    """Receives the progress of a run."""

    def stage(self, name: str, total: int, done: int = 0) -> None:
        """Note that a stage of `total` sweeps begins, of which `done` were made before."""

    def advance(self, sweeps: int) -> None:
        """Note that so many sweeps were made."""


@contextmanager
def sweep_bar(shown: bool) -> Iterator[Bar]:
    """Yield the bar of one run, a silent one if `shown` is False or tqdm is missing."""
    try:
        from tqdm import tqdm
    except ImportError:
        shown = False
    if not shown:
        yield _Silent()
    elif sys.stderr.isatty():
        with tqdm(unit=" sweeps", dynamic_ncols=True, smoothing=0.1) as bar:
            yield _OnTerminal(bar)
    else:
        closing = _ClosingLine()
        yield closing
        print(closing, file=sys.stderr)


class _Silent:
    def stage(self, name: str, total: int, done: int = 0) -> None:
        pass

    def advance(self, sweeps: int) -> None:
        pass


class _OnTerminal:
    def __init__(self, bar: Any) -> None:
        self._bar = bar

    def stage(self, name: str, total: int, done: int = 0) -> None:
        self._bar.set_description(name, refresh=False)
        self._bar.reset(total)
        self._bar.update(done)

    def advance(self, sweeps: int) -> None:
        self._bar.update(sweeps)


class _ClosingLine:
    def __init__(self) -> None:
        self._start, self._sweeps = time.monotonic(), 0
        self._lines: MinuteLines | None = None

    def stage(self, name: str, total: int, done: int = 0) -> None:
        self._lines = MinuteLines(name, total, done)

    def advance(self, sweeps: int) -> None:
        self._sweeps += sweeps
        if self._lines is not None:
            self._lines(sweeps)

    def __str__(self) -> str:
        seconds = time.monotonic() - self._start
        return f"{self._sweeps} sweeps in {seconds:.1f} s, {self._sweeps / max(seconds, 1e-9):.3g} sweeps/s"
