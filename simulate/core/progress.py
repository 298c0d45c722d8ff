"""Shows progress with the time left: a bar on a terminal, a line a minute elsewhere, nothing without tqdm."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

SECONDS_BETWEEN_LINES = 60.0


class MinuteLines:
    """Lines for a log: at most one a minute, with the share that is done and the time left, and none before that."""

    def __init__(self, label: str | None, total: float, done: float = 0.0) -> None:
        self.label, self.total, self.before, self.done = label, total, done, done
        self.start = self.last = time.monotonic()

    def __call__(self, more: float = 1.0) -> None:
        """Note that so much more of the total is done, and print a line where the last one is a minute old."""
        self.done += more
        now = time.monotonic()
        if now - self.last < SECONDS_BETWEEN_LINES:
            return
        self.last = now
        share, made = self.done / self.total, self.done - self.before
        left = (self.total - self.done) * (now - self.start) / made if made > 0 else float("nan")
        label = "" if self.label is None else f"{self.label}: "
        print(
            f"{label}{share:.0%} after {now - self.start:.0f} s, about {left:.0f} s left", file=sys.stderr, flush=True
        )


@contextmanager
def progress_bar(label: str | None, total: int, done: int) -> Iterator[Callable[[], object]]:
    """Show the progress of `total` tasks, `done` of which are finished already.

    Yields the function to call after each further one; with `label` None nothing is shown.
    """
    try:
        from tqdm import tqdm
    except ImportError:
        label = None
    if label is None:
        yield lambda: None
    elif sys.stderr.isatty():
        with tqdm(desc=label, total=total, initial=done, unit="", dynamic_ncols=True, smoothing=0.1) as bar:
            yield bar.update
    else:
        lines = MinuteLines(label, total, done)
        yield lines
        resumed = f", {done} of them from before" if done else ""
        print(f"{label}: {total} tasks in {time.monotonic() - lines.start:.0f} s{resumed}", file=sys.stderr)
