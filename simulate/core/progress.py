"""Shows progress with the time left: a bar on a terminal, one closing line elsewhere, nothing without tqdm."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


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
        start = time.monotonic()
        yield lambda: None
        resumed = f", {done} of them from before" if done else ""
        print(f"{label}: {total} tasks in {time.monotonic() - start:.0f} s{resumed}", file=sys.stderr)
