"""Files that are whole or not there."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def moved_into_place(path: Path) -> Iterator[Path]:
    """A scratch file beside `path`, moved there at the end, or removed after an error: an earlier file stays.

    The name holds the process, so that two writers do not meet, and keeps the suffix, which says the format. An OSError
    names `path`, also where the system does not: a full disk.
    """
    scratch = path.with_name(f".{path.stem}.{os.getpid()}{path.suffix}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield scratch
        scratch.replace(path)
    except OSError as error:
        if error.errno is not None and error.filename is None:
            error.filename = str(path)
        raise
    finally:
        scratch.unlink(missing_ok=True)
