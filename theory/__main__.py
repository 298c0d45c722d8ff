"""Start the command line, python -m theory; ^C ends it with one line from the first moment on."""

import os
import signal
import sys

from theory.commands import INTERRUPTED, until_closed


def start() -> int:
    """Load the command line, which takes a second, and run it; return its exit status."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background of a shell it is ignored
        signal.signal(signal.SIGINT, _end)
    from theory.command_line import main

    return until_closed(main)


def _end(*_: object) -> None:
    """End the program at once: nothing is written that could be left half done, and an exception would show a trace."""
    os.write(sys.stderr.fileno(), b"\ninterrupted before there was an answer\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    sys.exit(start())
