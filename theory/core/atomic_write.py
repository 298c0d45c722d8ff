"""Writes files that are whole or not there."""

import contextlib
import os
import re
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HOST = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname()) or "here"
TEMPORARY = re.compile(rf"\..+\.{re.escape(HOST)}-(\d+)(\.[^.]*)?")


@contextmanager
def atomic_write(path: Path) -> Iterator[Path]:
    """Yield a temporary file beside `path` that takes its place at the end; after an error an earlier file stays.

    Its name holds the process, so that two writers do not meet, and keeps the suffix, which says the format. An OSError
    names `path`, not the temporary file, also where the system does not say which file it was: a full disk. A process
    that is killed outright leaves its temporary file, which `remove_abandoned` finds.
    """
    temporary = path.with_name(f".{path.stem}.{HOST}-{os.getpid()}{path.suffix}")
    path.parent.mkdir(parents=True, exist_ok=True)
    try:
        yield temporary
        temporary.replace(path)
    except OSError as error:
        if error.errno is not None and error.filename in (None, str(temporary)):
            error.filename = str(path)
        raise
    finally:
        temporary.unlink(missing_ok=True)


def remove_abandoned(folder: Path) -> None:
    """Remove the temporary files that processes of this machine left in a folder when they were killed.

    Those of processes that still run, and of other machines that share the folder, stay.
    """
    for file in folder.glob(f".*.{HOST}-*"):
        found = TEMPORARY.fullmatch(file.name)
        if found and not _runs(int(found[1])):
            with contextlib.suppress(OSError):  # another one was faster, or may and we may not
                file.unlink()


def _runs(process: int) -> bool:
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:  # it runs, as another user's
        return True
    return True
