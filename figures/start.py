"""Starts a command line; ^C ends it with one line from the first moment on."""

import os
import signal
import sys
from collections.abc import Callable

from theory.commands import INTERRUPTED, until_closed

TERMINATED = 143  # the shell's code for the signal of kill


def start(load: Callable[[], Callable[[], int]]) -> int:
    """Load a command line, which takes a second, and run it; return its exit status."""
    # Files are drawn and nothing is shown: settings of the user's screen, which may not work here, must not matter.
    os.environ |= {"MPLBACKEND": "agg", "MATPLOTLIBRC": os.devnull}
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background of a shell it is ignored
        signal.signal(signal.SIGINT, _end)
    if signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminate)
    main = load()
    if signal.getsignal(signal.SIGINT) is _end:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return until_closed(main)


def _end(*_: object) -> None:
    """End the program at once: an exception would show where it was, and libraries may catch it as they load."""
    os.write(sys.stderr.fileno(), b"\ninterrupted before anything was begun\n")
    os._exit(INTERRUPTED)


def _terminate(*_: object) -> None:
    """End the program by an exception, so that what is half written is removed and the workers are stopped."""
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # a second one ends it at once
    sys.exit(TERMINATED)
