"""Starts the command line, python -m figures; ^C ends it with one line from the first moment on."""

import os
import signal
import sys

INTERRUPTED = 130  # the shell's code for ^C


def start() -> int:
    """Loads the command line, which takes a second, and runs it; returns its exit status."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:  # in the background of a shell it is ignored
        signal.signal(signal.SIGINT, end_at_once)
    from figures.command_line import main

    if signal.getsignal(signal.SIGINT) is end_at_once:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    return main()


def end_at_once(*_: object) -> None:
    """Ends the program at once: an exception would show where it was, and libraries may catch it as they load."""
    os.write(sys.stderr.fileno(), b"\ninterrupted before anything was begun\n")
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    # Files are drawn and nothing is shown: settings of the user's screen, which may not work here, must not matter.
    os.environ |= {"MPLBACKEND": "agg", "MATPLOTLIBRC": os.devnull}
    sys.exit(start())
